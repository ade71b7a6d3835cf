"""Damage: of bytes as disks and networks do it, and of structures as a mistaken or a malicious writer does it."""

from __future__ import annotations

import random
import re
from typing import Any

NUMBERS = [
    b"0",
    b"-1",
    b"1e400",
    b"nan",
    b"-inf",
    b"99999999999999999999",
    b"2147483648",
    b"0x10",
    b"",
    b"1e-320",
    b"1_0",
]
TEXTS = [
    b"\x00",
    b"\xff\xfe",
    b'"',
    b"'",
    b"\n",
    b"\r\n",
    b",",
    b";;",
    b"<",
    b"&x;",
    b"\xe2\x80\xae",
    b"\x1b[2J",
    b"{",
    b"\\u",
]
VALUES: list[Any] = [None, True, -1, 0, 1e308, 2**70, "", "x", [], {}, [[]], [1, "a"], {"a": None}, float("nan")]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """The bytes after one to four accidents."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randrange(len(data) + 1), rng.choice([1, 1, 2, 4, 16, 200])
        match rng.randrange(9):
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                data[at : at + length] = rng.randbytes(length)
            case 2:
                del data[at : at + length]
            case 3:
                data[at:at] = data[at : at + length] * rng.randint(1, 3)
            case 4:
                del data[at:]
            case 5:
                data[at:at] = rng.choice(TEXTS)
            case 6:
                data[at : at + length] = bytes([rng.choice([0, 0x7F, 0x80, 0xFF])]) * length
            case 7:
                other = rng.randrange(len(data) + 1)
                data[at : at + length], data[other : other + length] = (
                    data[other : other + length],
                    data[at : at + length],
                )
            case _:
                found = list(re.finditer(rb"-?\d+(\.\d+)?", bytes(data)))
                if found:
                    number = rng.choice(found)
                    data[number.start() : number.end()] = rng.choice(NUMBERS)
    return bytes(data)


def replaced(tree: Any, rng: random.Random) -> Any:
    """A tree of dicts and lists with one node replaced, removed or repeated."""
    if isinstance(tree, dict) and tree and rng.random() < 0.9:
        key = rng.choice(list(tree))
        if rng.random() < 0.1:
            return {name: value for name, value in tree.items() if name != key}
        return {**tree, key: replaced(tree[key], rng)}
    if isinstance(tree, list) and tree and rng.random() < 0.7:
        at = rng.randrange(len(tree))
        if rng.random() < 0.2:
            return tree[:at] + tree[at + 1 :]
        if rng.random() < 0.1:
            return tree * rng.choice([2, 2000])
        return [*tree[:at], replaced(tree[at], rng), *tree[at + 1 :]]
    if isinstance(tree, int | float) and not isinstance(tree, bool) and rng.random() < 0.6:
        return rng.choice([-tree, tree + 1, tree * 1e6, 0, -1, 2**31, 1e-300, 0.5])
    return rng.choice(VALUES)

"""Checksums and fingerprints: all SHA-256, all made here.

A checksum tells a file that was cut off or changed from a whole one. A fingerprint says that two graphs, splits or
settings are the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def of_bytes(*parts: bytes | memoryview) -> str:
    """SHA-256 of bytes, one part after the other, in hexadecimal digits.

    >>> of_bytes(b"a", b"b") == of_bytes(b"ab")
    True
    """
    return of_parts(parts)


def of_parts(parts: Iterable[bytes | memoryview]) -> str:
    """The same of parts that are made one at a time; put sizes among them where they could run together."""
    state = hashlib.sha256()
    for part in parts:
        state.update(part)
    return state.hexdigest()


def of_json(content: Mapping[str, Any]) -> str:
    """SHA-256 of what JSON can hold, whatever the order of the keys.

    >>> of_json({"a": 1, "b": 2}) == of_json({"b": 2, "a": 1})
    True
    """
    return of_bytes(json.dumps(content, sort_keys=True).encode())


def of_file(path: Path) -> str:
    """SHA-256 of the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""Checksums are those that other programs give, so that a person can check a file by hand."""

from __future__ import annotations

import hashlib
from pathlib import Path

from dfnets import checksums


def test_a_file_has_the_sum_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc" * 100_000)
    assert checksums.of_file(path) == hashlib.sha256(b"abc" * 100_000).hexdigest()


def test_json_is_summed_in_the_order_of_its_keys() -> None:
    text = b'{"a": [1, 2.5, null], "b": {"x": "y"}}'
    assert checksums.of_json({"b": {"x": "y"}, "a": [1, 2.5, None]}) == hashlib.sha256(text).hexdigest()


def test_any_change_shows() -> None:
    assert checksums.of_json({"a": 1}) != checksums.of_json({"a": 2})

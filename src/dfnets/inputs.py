"""Files that a person names as input: regular ones, of a size that can be meant."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

LARGEST_TEXT = 64 * 2**20
"""Bytes of the largest JSON file that is read: a model's or a filter's is a thousand times smaller."""


def regular_file(path: str | os.PathLike[str]) -> Path:
    """The path, if it is a regular file; a pipe, a device or a folder would block or never end.

    Raises:
        OSError: names the path, and what it is.
    """
    path = Path(path)
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path} is a folder: give the name of a file")
    if not stat.S_ISREG(mode):
        raise OSError(f"{path} is a pipe, a socket or a device, not a regular file: copy its content into a file first")
    return path


def read_json(path: str | os.PathLike[str], what: str) -> dict[str, Any]:
    """The object in a JSON file; ``what`` it should be is for messages.

    Raises:
        ValueError: it is cut off, of another kind, or too large.
    """
    path = regular_file(path)
    if path.stat().st_size > LARGEST_TEXT:
        raise ValueError(f"{path} is not {what}: it has more than {LARGEST_TEXT} bytes")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not {what}, or it is cut off: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} is not {what}: it holds no object")
    return content

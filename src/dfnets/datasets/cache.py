"""The folder where fetched datasets are kept: every file beside its checksum, and trusted only if they agree."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from dfnets.datasets.layout import Arrays


def folder() -> Path:
    """``$XDG_CACHE_HOME/dfnets``, or ``dfnets`` in the folder that the system has for such files."""
    home = Path.home()
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "dfnets"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "dfnets"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "dfnets"
    return home / ".cache" / "dfnets"


def read(path: Path) -> bytes | None:
    """The content of a file that :func:`store` completed; None for anything else."""
    try:
        content, checksum = path.read_bytes(), _checksum_of(path).read_text()
    except FileNotFoundError:
        return None
    # The bytes that were verified are the ones returned: the file is not opened a second time.
    return content if checksum == _checksum(content, path) else None


def store(path: Path, arrays: Arrays) -> bytes:
    """Write an .npz file, and return its content, so that a reader sees all or none whenever this process dies.

    The checksum comes last: a file without one, or with that of an earlier file, is not trusted. Call under
    :func:`lock`, which is what makes the one temporary name enough.
    """
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    content = part.read_bytes()
    _publish(part, path)
    part.write_text(_checksum(content, path))
    _publish(part, _checksum_of(path))
    return content


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Holds ``path`` for this process; the system lets go of it when the process ends, however it ends."""
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(path.name + ".lock")):
        yield


def _publish(part: Path, path: Path) -> None:
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    part.replace(path)


def _checksum_of(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _checksum(content: bytes, path: Path) -> str:
    """A line that ``sha256sum --check`` reads."""
    return f"{hashlib.sha256(content).hexdigest()}  {path.name}\n"

"""The folder where fetched datasets are kept: every file beside its checksum, and trusted only if they agree."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from dfnets import checksums
from dfnets.atomic import replacing
from dfnets.datasets.layout import Arrays


def folder() -> Path:
    """``$XDG_CACHE_HOME/dfnets``, or ``dfnets`` in the folder that the system has for such files."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "dfnets"
    home = _home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "dfnets"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "dfnets"
    return home / ".cache" / "dfnets"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # no HOME, and a user that the system does not know, as in some containers
        raise OSError(
            "this user has no home folder to keep datasets in: set XDG_CACHE_HOME to a folder that can be written"
        ) from None


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
    :func:`lock`, so that no other process writes the one between this one's two files.
    """
    for left in path.parent.glob(f".{path.stem}*.part*"):
        left.unlink(missing_ok=True)  # by a process that was killed; this one holds the lock
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    content = buffer.getvalue()
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    with replacing(_checksum_of(path)) as temporary:
        temporary.write_text(_checksum(content, path))
    return content


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Holds ``path`` for this process; the system lets go of it when the process ends, however it ends."""
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(path.name + ".lock")):
        yield


def _checksum_of(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _checksum(content: bytes, path: Path) -> str:
    """A line that ``sha256sum --check`` reads."""
    return f"{checksums.of_bytes(content)}  {path.name}\n"

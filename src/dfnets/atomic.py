"""Files and folders that are there whole or not at all, and the checks that belong before the work.

Everything that the package writes for a person goes through :func:`replacing` or :func:`replacing_folder`. A process
that is killed, a disk that is full, or two writers at the same time leave the old content or the new, never a mixture.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
}
# What a file system answers that cannot exchange two names: then two renames must do.
_NO_EXCHANGE = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside ``path``; when the block ends well, what was written there takes the place of ``path``.

    The data is on the disk before the name changes: a process killed at any moment leaves the old file or the new one.
    The file keeps its permissions, and a symbolic link stays one: the file that it points to is replaced. The
    temporary name has the ending of ``path``, for writers that go by it.

    Raises:
        OSError: when the file cannot be written; it names ``path`` and the reason, and the old file is untouched.
    """
    path = Path(path)
    with _speaking(path):
        place, mode = _target(path)
        temporary = _beside(place)
        try:
            _make(temporary, mode)
            yield temporary
            _sync(temporary)
            if mode is not None:
                os.chmod(temporary, mode)
            temporary.replace(place)
            _sync(place.parent)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise


@contextmanager
def replacing_folder(path: str | os.PathLike[str], names: Collection[str]) -> Iterator[Path]:
    """An empty folder beside ``path``; when the block ends well, it takes the place of ``path``, all its files at once.

    An existing folder is exchanged with the new one by a single rename (Linux and macOS) and then removed, so that a
    reader finds the files of one writer only. Where the file system cannot exchange, the old folder is renamed to
    ``.NAME.XXXXXXXX.old`` and the new one to ``NAME``: a process killed between the two leaves the old folder whole
    under that name.

    Args:
        path: the folder; its parents are made.
        names: the files that such a folder may hold. A folder with anything else in it is refused, because
            replacing it would remove that too.
    """
    path = Path(path)
    with _speaking(path):
        check_folder(path, names, force=True)
        place = Path(os.path.realpath(path))
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary = _beside(place)
        try:
            temporary.mkdir()
            yield temporary
            for file in temporary.iterdir():
                _sync(file)
            _sync(temporary)
            with suppress(FileNotFoundError):
                os.chmod(temporary, stat.S_IMODE(place.stat().st_mode))
            _put(temporary, place)
            _sync(place.parent)
        finally:
            # Now the old folder, or what was written of a new one.
            shutil.rmtree(temporary, ignore_errors=True)


def check_file(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Raises unless a file can be written at ``path``: call it before the work whose result goes there.

    Args:
        force: an existing file may be replaced.

    Raises:
        OSError: it names the path, and what to do.
    """
    path = Path(path)
    with _speaking(path):
        place, mode = _target(path)
    if mode is not None and not force:
        raise FileExistsError(f"{path} exists already: give another name, or --force (force=True) to replace it")
    if mode is not None and not os.access(place, os.W_OK):
        raise PermissionError(f"{path} is read-only: give another name, or change its permissions")
    _check_parent(path, place.parent)


def check_folder(path: str | os.PathLike[str], names: Collection[str], *, force: bool = False) -> None:
    """Raises unless :func:`replacing_folder` can write ``path``; an empty folder is as good as none.

    Args:
        names: the files that such a folder may hold.
        force: a folder that holds some of them may be replaced.
    """
    path = Path(path)
    with _speaking(path):
        place = Path(os.path.realpath(path))
        held = []
        with suppress(FileNotFoundError):  # also when another writer moves it away between these lines
            mode = os.stat(place).st_mode
            if not stat.S_ISDIR(mode):
                raise NotADirectoryError(f"{path} is {_kind(mode)}, not a folder: give another name")
            held = sorted(os.listdir(place))
        others = [name for name in held if name not in names]
        if others:
            raise FileExistsError(
                f"{path} holds other files too ({', '.join(others[:3])}{', ...' if len(others) > 3 else ''}), which "
                "would be lost: give a new or an empty folder"
            )
        if held and not force:
            raise FileExistsError(f"{path} exists already: give another name, or --force (force=True) to replace it")
        above = place.parent
        while not above.exists():
            above = above.parent
        _check_parent(path, above)


def _check_parent(path: Path, parent: Path) -> None:
    if not parent.is_dir():
        reason = "is not a folder" if parent.exists() else "does not exist: make it first"
        raise FileNotFoundError(f"{path} cannot be written: {parent} {reason}")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise PermissionError(f"{path} cannot be written: no permission to write into {parent}")


def _target(path: Path) -> tuple[Path, int | None]:
    """The file that a path means, links followed, and its permissions; None where there is no file yet."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return Path(os.path.realpath(path)), None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{path} is {_kind(found.st_mode)}, not a regular file: give the name of a file")
    return Path(os.path.realpath(path)), stat.S_IMODE(found.st_mode)


def _kind(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "a file")


def _beside(path: Path) -> Path:
    """A name that no other writer has; short, so that a long name does not become too long."""
    ending = path.suffix if len(path.suffix) <= 16 else ""
    return path.with_name(f".{path.stem[:40]}.{secrets.token_hex(4)}.part{ending}")


def _make(path: Path, mode: int | None) -> None:
    """An empty file that nobody may read who may not read the one whose place it takes."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600))


def _put(new: Path, place: Path) -> None:
    """``new`` becomes ``place``, and what was there becomes ``new`` or is removed; loops while others do the same."""
    moved: list[Path] = []
    try:
        while not (_renamed(new, place) or _exchanged(new, place)):
            old = _beside(place).with_suffix(".old")  # a new name each time: the last one may still hold a folder
            with suppress(FileNotFoundError):  # another writer has just moved it away
                os.rename(place, old)
                moved.append(old)
    except BaseException:
        if not place.exists():
            moved.clear()  # the only whole copy: the next person finds it under its name
        raise
    finally:
        for old in moved:
            shutil.rmtree(old, ignore_errors=True)


def _renamed(new: Path, place: Path) -> bool:
    """Whether ``new`` could become ``place`` because there was nothing, or an empty folder."""
    try:
        os.rename(new, place)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.EACCES):
            raise
        return False
    return True


def _exchanged(new: Path, place: Path) -> bool:
    """Whether the two could change places; not where the file system cannot, or another writer moved ``place`` away."""
    try:
        _exchange(new, place)
    except OSError as error:
        if error.errno not in (errno.ENOENT, *_NO_EXCHANGE):
            raise
        return False
    return True


def _exchange(one: Path, other: Path) -> None:
    """Two names change places in one step of the file system."""
    libc: Any = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
    if hasattr(libc, "renameat2"):
        here = -100  # AT_FDCWD: the paths are relative to the current folder
        failed = libc.renameat2(here, os.fsencode(one), here, os.fsencode(other), 2)
    elif sys.platform == "darwin" and hasattr(libc, "renamex_np"):
        failed = libc.renamex_np(os.fsencode(one), os.fsencode(other), 2)
    else:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if failed:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(other))


@contextmanager
def _speaking(path: Path) -> Iterator[None]:
    """An error of the system names the file that was asked for, not a temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        reason = error.strerror or str(error)
        raise type(error)(f"{path} could not be written ({reason}); what was there before is unchanged") from error


def _sync(path: Path) -> None:
    if path.is_dir() and os.name == "nt":
        return  # a folder cannot be opened there, and its entries need no flush
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

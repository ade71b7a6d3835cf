"""A file or a folder is replaced whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dfnets import atomic
from dfnets.atomic import check_file, check_folder, replacing, replacing_folder


def test_it_takes_the_place_of_the_old_file(tmp_path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_it_has_the_permissions_of_an_ordinary_file(tmp_path) -> None:
    (tmp_path / "plain").write_text("")
    with replacing(tmp_path / "a") as temporary:
        temporary.write_text("")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, error: type[BaseException]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    def write() -> None:
        with replacing(path) as temporary:
            temporary.write_text("new")

    with pytest.raises(OSError, match="No space"):
        write()
    assert path.read_text() == "old"


def write(path: Path, text: str = "new") -> None:
    with replacing(path) as temporary:
        temporary.write_text(text)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_a_file_keeps_its_permissions(tmp_path, mode: int) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(mode)
    with replacing(path) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) & 0o077 == 0  # nobody else may read it half-written either
        temporary.write_text("new")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_text() == "new"


def test_a_symbolic_link_stays_one(tmp_path) -> None:
    (tmp_path / "real.txt").write_text("old")
    for name in ("link", "dangling"):
        (tmp_path / name).symlink_to(tmp_path / ("real.txt" if name == "link" else "made.txt"))
        write(tmp_path / name)
        assert (tmp_path / name).is_symlink()
    assert (tmp_path / "real.txt").read_text() == (tmp_path / "made.txt").read_text() == "new"


def test_what_is_no_regular_file_is_refused(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to-null").symlink_to("/dev/null")
    before = sorted(tmp_path.iterdir())
    for path, kind in (
        (tmp_path, "folder"),
        (tmp_path / "pipe", "named pipe"),
        (Path("/dev/null"), "device"),
        (tmp_path / "to-null", "device"),
    ):
        for act in (write, check_file):
            with pytest.raises(OSError, match=f"is a {kind}, not a regular file"):
                act(path)
    assert sorted(tmp_path.iterdir()) == before
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_name_as_long_as_the_system_takes(tmp_path) -> None:
    path = tmp_path / ("n" * 250 + ".txt")
    write(path)
    assert path.read_text() == "new"


def test_checks_before_the_work(tmp_path) -> None:
    old = tmp_path / "a.txt"
    old.write_text("old")
    with pytest.raises(FileExistsError, match=r"a\.txt exists already: give another name, or --force"):
        check_file(old)
    check_file(old, force=True)
    check_file(tmp_path / "new.txt")
    with pytest.raises(FileNotFoundError, match="nowhere does not exist: make it first"):
        check_file(tmp_path / "nowhere" / "a.txt")
    with pytest.raises(OSError, match=r"b\.txt could not be written"):
        check_file(old / "b.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def write_folder(path: Path, text: str, names: tuple[str, ...] = ("one", "two")) -> None:
    with replacing_folder(path, names) as temporary:
        for name in names:
            (temporary / name).write_text(text)


def test_a_folder_is_replaced_as_a_whole(tmp_path) -> None:
    path = tmp_path / "deep" / "model"
    write_folder(path, "old", ("one", "two", "three"))
    write_folder(path, "new", ("one", "two", "three"))
    assert {file.name: file.read_text() for file in path.iterdir()} == dict.fromkeys(("one", "two", "three"), "new")
    path.chmod(0o700)
    (tmp_path / "link").symlink_to(path)
    write_folder(tmp_path / "link", "newer", ("one", "two", "three"))
    assert (path / "one").read_text() == "newer"
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert [file.name for file in path.parent.iterdir()] == ["model"]


def test_a_failure_leaves_the_old_folder(tmp_path) -> None:
    path = tmp_path / "model"
    write_folder(path, "old")

    def fail() -> None:
        with replacing_folder(path, ("one", "two")) as temporary:
            (temporary / "one").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert {file.read_text() for file in path.iterdir()} == {"old"}
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_with_other_files_is_not_replaced(tmp_path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match=r"holds other files too \(thesis\.tex\), which would be lost"):
        write_folder(tmp_path, "new")
    with pytest.raises(NotADirectoryError, match="is a file, not a folder"):
        write_folder(tmp_path / "thesis.tex", "new")
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
    write_folder(tmp_path / "model", "old")
    with pytest.raises(FileExistsError, match="exists already"):
        check_folder(tmp_path / "model", ("one", "two"))
    check_folder(tmp_path / "model", ("one", "two"), force=True)


@pytest.mark.parametrize("exchange", [True, False], ids=["one rename", "two renames"])
def test_writers_at_the_same_time_do_not_mix(tmp_path, monkeypatch, exchange: bool) -> None:
    if not exchange:

        def cannot(*_: object) -> None:
            raise OSError(errno.EINVAL, "this file system cannot exchange")

        monkeypatch.setattr(atomic, "_exchange", cannot)
    path = tmp_path / "model"
    write_folder(path, "start")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: write_folder(path, str(k)), range(40)))
    assert len({file.read_text() for file in path.iterdir()}) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_the_old_folder_goes_although_another_writer_is_between_its_two_renames(tmp_path, monkeypatch) -> None:
    """The order of steps that once left ``.model.XXXXXXXX.old`` behind, played without a race."""
    path = tmp_path / "model"
    write_folder(path, "start")
    rename, steps = os.rename, []

    def cannot(*_: object) -> None:
        raise OSError(errno.EINVAL, "this file system cannot exchange")

    def interrupted(source: Path, target: Path) -> None:
        steps.append(Path(target).name)
        if len(steps) == 3:  # the place is free for us now: another writer is faster
            path.mkdir()
            (path / "one").write_text("other")
        rename(source, target)

    monkeypatch.setattr(atomic, "_exchange", cannot)
    monkeypatch.setattr(atomic.os, "rename", interrupted)
    write_folder(path, "new")
    assert len(steps) == 5  # the place is full, move it away, full again, move that away, there
    assert {file.read_text() for file in path.iterdir()} == {"new"}
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_may_go_while_it_is_looked_at(tmp_path, monkeypatch) -> None:
    """Another writer that cannot exchange moves it away for a moment."""
    path, look = tmp_path / "model", os.stat
    write_folder(path, "start")

    def looked_at_once(place, *arguments, **options):
        found = look(place, *arguments, **options)
        if Path(place).name == "model" and not os.access(tmp_path / "away", os.F_OK):
            os.rename(path, tmp_path / "away")
        return found

    with monkeypatch.context() as patched:
        patched.setattr(atomic.os, "stat", looked_at_once)
        check_folder(path, ("one", "two"))
    assert not path.exists()


KILLED = """
import sys, itertools
from dfnets.atomic import replacing_folder
print("ready", flush=True)
for k in itertools.count():
    with replacing_folder(sys.argv[1], ("one", "two")) as temporary:
        for name in ("one", "two"):
            (temporary / name).write_text(str(k) * 10_000)
"""


@pytest.mark.usefixtures("exchange")
def test_a_killed_writer_leaves_a_whole_folder(tmp_path) -> None:
    path = tmp_path / "model"
    write_folder(path, "start")
    for k in range(8):
        child = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.003 * k)
        child.kill()
        child.wait()
        assert len({file.read_text() for file in path.iterdir()}) == 1
        assert {file.name for file in path.iterdir()} == {"one", "two"}

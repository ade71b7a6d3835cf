import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dfnets.datasets import cache, layout

ARRAYS = {"x": np.arange(5), "y": np.eye(2)}


def test_what_is_stored_is_read(tmp_path):
    path = tmp_path / "data.npz"
    assert cache.read(path) is None
    with cache.lock(path):
        cache.store(path, ARRAYS)
    content = cache.read(path)
    assert content == path.read_bytes()
    for key, array in layout.read(content).items():
        np.testing.assert_array_equal(array, ARRAYS[key])
    assert {file.name for file in tmp_path.iterdir()} >= {"data.npz", "data.npz.sha256"}
    subprocess.run(["sha256sum", "--check", "--quiet", "data.npz.sha256"], cwd=tmp_path, check=True)


@pytest.mark.parametrize("damage", ["cut", "flipped", "no checksum", "no data", "empty checksum", "other checksum"])
def test_what_was_not_completed_is_not_trusted(tmp_path, damage):
    path, checksum = tmp_path / "data.npz", tmp_path / "data.npz.sha256"
    cache.store(path, ARRAYS)
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[:-1])
    elif damage == "flipped":
        path.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    elif damage == "no checksum":
        checksum.unlink()
    elif damage == "no data":
        path.unlink()
    elif damage == "empty checksum":
        checksum.write_text("")
    else:
        cache.store(tmp_path / "other.npz", {"x": np.zeros(3)})
        checksum.write_text((tmp_path / "other.npz.sha256").read_text())
    assert cache.read(path) is None


# Forks once for each step; each copy dies, as by a power cut, at that one of the calls that put anything on disk.
DYING = """
import os, signal, sys
from pathlib import Path
import numpy as np
from dfnets.datasets import cache
def counted(call):
    def wrapper(*arguments, **options):
        global left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return call(*arguments, **options)
    return wrapper
np.savez_compressed, os.fsync = counted(np.savez_compressed), counted(os.fsync)
Path.replace, Path.write_text = counted(Path.replace), counted(Path.write_text)
for step in range(int(sys.argv[2]) + 1):
    left = step
    if os.fork() == 0:
        path = Path(sys.argv[1]) / str(step) / "data.npz"
        with cache.lock(path):
            cache.store(path, {"x": np.arange(7)})
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_writer_killed_at_any_step_leaves_nothing_trusted(tmp_path):
    steps, seen = 8, 7  # after the seventh both files have their names; the eighth flushes the folder
    printed = subprocess.check_output([sys.executable, "-c", DYING, tmp_path, str(steps)], text=True)
    assert [int(code) for code in printed.split()] == [-signal.SIGKILL] * steps + [0]
    for step in range(steps + 1):
        path = tmp_path / str(step) / "data.npz"
        assert (cache.read(path) is not None) == (step >= seen)
        # The dead process holds no lock, and what it left is no obstacle.
        with cache.lock(path):
            cache.store(path, ARRAYS)
        assert cache.read(path) is not None
        assert not list(path.parent.glob("*.part*"))
        assert not list(path.parent.glob(".*.part*"))


def test_folder_follows_the_system(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", os.sep + "elsewhere")
    assert cache.folder() == Path(os.sep + "elsewhere", "dfnets")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    for platform, folder in (("linux", "home/.cache/dfnets"), ("darwin", "home/Library/Caches/dfnets")):
        monkeypatch.setattr(sys, "platform", platform)
        assert cache.folder() == Path(folder)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "local")
    assert cache.folder() == Path("local/dfnets")

"""No worker is left behind, whatever happens to its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dfnets.workers import started

PARENT = """
import time
from dfnets.workers import started
import test_workers
if __name__ == "__main__":
    with started(2, test_workers.write_and_wait, {folder!r}) as processes:
        time.sleep(600)
"""


def write_and_wait(folder: str) -> None:
    Path(folder, str(os.getpid())).write_text("")
    time.sleep(600)


def fail() -> None:
    raise ValueError("no such thing")


def alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_end_with_their_parent(tmp_path: Path, stop: signal.Signals) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT.format(folder=str(tmp_path / "pids")))
    (tmp_path / "pids").mkdir()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    parent = subprocess.Popen([sys.executable, script], env=env, stderr=subprocess.PIPE, text=True, process_group=0)
    deadline = time.monotonic() + 600  # for the busiest machine; a failure alone waits for it
    while len(list((tmp_path / "pids").iterdir())) < 2:
        assert parent.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    # Ctrl-C reaches the whole group.
    (os.killpg if stop == signal.SIGINT else os.kill)(parent.pid, stop)
    assert parent.stderr is not None
    said = parent.stderr.read()
    parent.wait(600)
    pids = [int(path.name) for path in (tmp_path / "pids").iterdir()]
    while any(map(alive, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert said.count("Traceback") == (stop == signal.SIGINT)  # the parent's own; the command line makes a line of it


def test_a_worker_that_fails_says_so_in_a_line(capfd: pytest.CaptureFixture[str]) -> None:
    with started(1, fail) as processes:
        processes[0].join()
    assert processes[0].exitcode == 1
    assert capfd.readouterr().err == "worker: ValueError: no such thing\n"

"""Trials in processes of their own: what crashes, hangs or raises is seen, and the next trial goes on."""

from __future__ import annotations

import fcntl
import importlib
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

LONGEST = 60.0
"""Seconds of computing that a trial may take; a busy machine makes a trial wait, which is not its fault."""
SILENT = 900.0
"""Seconds that a trial may take by the clock: one that waits for what never comes does not compute."""
MEMORY = 8 * 2**30
"""Bytes of address space of a process that reads small files."""


HUNG = f"it did not end within {LONGEST:g} s of computing"


@dataclass
class Report:
    """What the trials of one part came to.

    Attributes:
        name: of the part, or of a kind of trial in it.
        trials: how many were made.
        refused: how many ended in an error in words.
        failures: what broke a promise, one line each.
    """

    name: str
    trials: int = 0
    refused: int = 0
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def line(self) -> str:
        """The report in one line of a table."""
        refused = f"{self.refused:7d} refused" if self.refused else " " * 15
        return (
            f"{self.name:32s} {self.trials:7d} trials {refused} {len(self.failures):4d} failures {self.seconds:7.1f} s"
        )


@dataclass(frozen=True)
class Outcome:
    """How a process ended: its exit status (negative: the signal that ended it), what it printed, how long it took."""

    status: int
    out: str
    err: str
    seconds: float
    hung: bool = False

    def broken(self) -> str | None:
        """Which promise of a command line it broke; None when none."""
        if self.hung:
            return HUNG
        if self.status < 0:
            return f"it crashed with signal {-self.status}"
        if "Traceback (most recent call last)" in self.err + self.out:
            return f"it printed a traceback: {self.err.strip().splitlines()[-1][:200]}"
        if self.status not in (0, 1, 2, 130):
            return f"it ended with status {self.status}: {self.err.strip()[-200:]}"
        if self.status == 1 and not self.err.strip():
            return "it failed without a word"
        return None


def forked(
    act: Callable[[], object], *, limits: dict[int, int] | None = None, kill_after: float | None = None
) -> Outcome:
    """Runs a function in a child of this process, its output in files, under limits; or kills it after a while.

    A fork and not a new interpreter: torch takes seconds to import, and a thousand trials would take hours.
    """
    start = time.monotonic()
    # Pipes and not files: a limit on the size of files must not be one on what can be said.
    pipes = [os.pipe() for _ in range(2)]
    for _, end in pipes:
        fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 2**20)
    child = os.fork()
    if child == 0:
        _become(act, pipes[0][1], pipes[1][1], limits or {})
    for _, end in pipes:
        os.close(end)
    status, hung = _await(child, kill_after)
    texts = []
    for end, _ in pipes:
        os.set_blocking(end, False)
        with os.fdopen(end, "rb") as file:
            texts.append((file.read() or b"").decode("utf-8", "replace"))
    return Outcome(status, *texts, time.monotonic() - start, hung and kill_after is None)


def preload() -> None:
    """Imports what commands import late, once for all children; importing computes nothing, so it starts no threads."""
    for name in ("dfnets.cli", "dfnets.training", "dfnets.search", "dfnets.studies.running", "dfnets.report.study"):
        importlib.import_module(name)
    for name in ("matplotlib.figure", "matplotlib.backends.backend_agg", "pandas", "pyarrow.csv", "optuna"):
        importlib.import_module(name)
    for name in ("dfnets.engine.cpu", "dfnets.models.dfnet", "sklearn.preprocessing"):
        importlib.import_module(name)


def _become(act: Callable[[], object], out: int, err: int, limits: dict[int, int]) -> None:
    status = 71
    try:
        os.setsid()
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        for which, value in limits.items():
            resource.setrlimit(which, (value, value))
        act()
        status = 0
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else (1 if stop.code else 0)
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)


def _await(child: int, kill_after: float | None) -> tuple[int, bool]:
    """The exit status of a child, and whether it was killed: after that time, or because it hangs."""
    began = time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), False
        passed = time.monotonic() - began
        if passed > kill_after if kill_after is not None else _too_long(passed, computed(child)):
            os.killpg(child, signal.SIGKILL) if os.getpgid(child) == child else os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            return os.waitstatus_to_exitcode(status), True
        time.sleep(0.002)


def computed(process: int) -> float:
    """Seconds of CPU that a process has used, its ended children among them; 0 when there is no such process."""
    try:
        parts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, parts[11:15])) / os.sysconf("SC_CLK_TCK")


def _too_long(passed: float, used: float) -> bool:
    return used > LONGEST or passed > SILENT


def batch(trials: Sequence[Callable[[], str | None]], report: Report, folder: Path) -> None:
    """Runs trials one after the other in one child; a trial that ends the child is noted, and a new child goes on.

    A trial returns None when all is well, ``"refused"`` for an error in words, or what is wrong.
    """
    start = time.monotonic()
    journal = folder / "journal"
    first = 0
    while first < len(trials):
        journal.write_text("")
        child = os.fork()
        if child == 0:
            _run_trials(trials, first, journal)
        lines, fate = _follow(child, journal)
        for line in lines:
            kind, _, text = line.partition(" ")
            report.trials += kind == "end"
            report.refused += text == "refused"
            if kind == "end" and text not in ("", "refused"):
                report.failures.append(text)
        begun = sum(line == "begin" for line in lines)
        ended = sum(line.startswith("end") for line in lines)
        first += begun
        if begun > ended:
            report.trials += 1
            report.failures.append(f"trial {first - 1}: {fate}")
        elif not begun:
            raise RuntimeError(f"the child did nothing: {fate}")
    report.seconds += time.monotonic() - start


def _run_trials(trials: Sequence[Callable[[], str | None]], first: int, journal: Path) -> None:
    import warnings

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    with journal.open("w") as file:
        for trial in trials[first:]:
            file.write("begin\n")
            file.flush()
            try:
                text = trial() or ""
            except BaseException as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                text = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
            file.write(f"end {' '.join(text.split())[:300]}\n")
            file.flush()
    os._exit(0)


def _follow(child: int, journal: Path) -> tuple[list[str], str]:
    """The lines that a child wrote, and how it ended; a child that writes nothing for too long is ended."""
    size, changed, used = 0, time.monotonic(), 0.0
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return journal.read_text().splitlines(), f"it crashed with signal {-code}" if code < 0 else f"status {code}"
        now = journal.stat().st_size
        if now != size:
            size, changed, used = now, time.monotonic(), computed(child)
        elif _too_long(time.monotonic() - changed, computed(child) - used):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return journal.read_text().splitlines(), HUNG
        time.sleep(0.005)

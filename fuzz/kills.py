"""Kills and full disks: a command is ended at any moment, or may write so much and no more; nothing is lost.

What a file or a model folder held before is still there, or the new content is there, whole; the same command then
runs to its end.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fuzz.commands import dfnets, prepare
from fuzz.harness import Report, forked

KILLS, FULL = 120, 80


@dataclass(frozen=True)
class Task:
    """A command that writes, and what tells whether its output is whole.

    Attributes:
        seconds: about how long it takes, for the moments of the kills.
        check: raises when the output is there and not whole.
    """

    name: str
    words: list[str]
    output: str
    check: Callable[[Path], object]
    seconds: float = 2.0


def tasks() -> list[Task]:
    """What is killed: everything that writes a file, a folder or a database."""
    from dfnets import filters, training
    from dfnets.store import Store

    train = ["train", "--edges", "e.csv", "--features", "x.csv", "--labels", "y.csv", "--per-class", "3"]
    train += ["--protocol", "random"]
    train += ["--validation-per-class", "2", "--device", "cpu", "--replicas", "1"]

    def table(path: Path) -> None:
        lines = path.read_text().splitlines()
        if len(lines) != 31:
            raise ValueError(f"{len(lines)} lines of 31")

    def figure(path: Path) -> None:
        content = path.read_bytes()
        if not (content.startswith(b"\x89PNG") and content.rstrip().endswith(b"IEND\xaeB`\x82")):
            raise ValueError("it is no whole PNG")

    def store(path: Path) -> None:
        with Store(path) as opened:
            opened.runs()

    return [
        Task("model folder", [*train, "--epochs", "5", "--out", "out", "--force"], "out", training.load, 3.0),
        Task("checkpoint", [*train, "--epochs", "60", "--checkpoint", "out"], "out", lambda _: None, 4.0),
        Task("filter", ["design", "--save", "out.json", "--force"], "out.json", filters.load, 0.6),
        Task("figure", ["design", "--plot", "out.png", "--force"], "out.png", figure, 1.5),
        Task(
            "signal",
            ["filter", "e.csv", "s.csv", "--filter", "f.json", "--out", "out.csv", "--force"],
            "out.csv",
            table,
        ),
        Task(
            "array",
            ["filter", "e.csv", "s.csv", "--filter", "f.json", "--out", "out.npz", "--force"],
            "out.npz",
            np.load,
        ),
        Task("predictions", _predict(), "out.csv", table, 1.5),
        Task("store", ["reproduce", "filters", "--quick", "--minutes", "0", "--store", "out.db"], "out.db", store, 1.5),
    ]


def _predict() -> list[str]:
    return [
        "predict",
        "model",
        "--edges",
        "e.csv",
        "--features",
        "x.csv",
        "--out",
        "out.csv",
        "--force",
        "--device",
        "cpu",
    ]


def run(seed: int, scale: float) -> Iterator[Report]:
    """Two reports: kills, and disks that are full."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="dfnets-fuzz-") as place:
        try:
            prepare(Path(place))
            rng, jobs = random.Random(seed), tasks()
            for task in jobs:
                _finish_once(task)
            yield _trials("kills", jobs, rng, max(1, round(KILLS * scale)), _killed)
            yield _trials("full disks", jobs, rng, max(1, round(FULL * scale)), _without_room)
        finally:
            os.chdir(here)


def _finish_once(task: Task) -> None:
    """The output of an undisturbed command, put aside: what is there before a trial."""
    wrong = _finish(task)
    if wrong:
        raise RuntimeError(f"{task.name}: {wrong[0]}")
    aside = Path("aside")
    aside.mkdir(exist_ok=True)
    Path(task.output).rename(aside / task.name)
    _clear()


def _put_back(task: Task) -> dict[str, bytes]:
    old, output = Path("aside") / task.name, Path(task.output)
    (shutil.copytree if old.is_dir() else shutil.copy)(old, output)
    return _content(output)


def _trials(
    name: str, jobs: list[Task], rng: random.Random, count: int, trial: Callable[[Task, random.Random], list[str]]
) -> Report:
    report, start = Report(name), time.monotonic()
    for k in range(count):
        task = jobs[k % len(jobs)]
        _clear()
        report.failures += [f"{task.name}: {failure}" for failure in trial(task, rng)]
        report.trials += 1
    report.seconds = time.monotonic() - start
    return report


def _killed(task: Task, rng: random.Random) -> list[str]:
    """Killed at some moment, with an earlier output there in half of the trials; some are then run to their end."""
    wrong = []
    before = _put_back(task) if rng.random() < 0.5 else None
    done = forked(dfnets(task.words), kill_after=rng.uniform(0.02, 1) * task.seconds)
    if done.status > 0:
        wrong.append(f"before the kill it ended with {done.status}: {done.err[-200:]}")
    wrong += _whole(task, before)
    return wrong + (_finish(task) if rng.random() < 0.25 else [])


def _without_room(task: Task, rng: random.Random) -> list[str]:
    """No file may grow beyond a size; an earlier output stays as it was, and the command says what happened."""
    before = _put_back(task)
    room = rng.choice([0, 10, 200, 1000, 3000, 8000, 20_000])
    done = forked(dfnets(task.words), limits={resource.RLIMIT_FSIZE: room})
    wrong = [f"with room for {room} bytes: {reason}"] if (reason := done.broken()) else []
    return wrong + _whole(task, before) + (_finish(task) if rng.random() < 0.25 else [])


def _finish(task: Task) -> list[str]:
    done = forked(dfnets(task.words))
    if done.status:
        return [f"it does not run to its end: {done.broken() or done.err.strip()[-300:]}"]
    return _whole(task, None) if Path(task.output).exists() else ["it ended well and wrote nothing"]


def _whole(task: Task, before: dict[str, bytes] | None) -> list[str]:
    """What is wrong with an output: it was there and is gone, or it is not whole."""
    output = Path(task.output)
    if not output.exists():
        return ["what was there before is gone"] if before else []
    if before and _content(output) == before:
        return []
    try:
        task.check(output)
    except Exception as error:
        return [f"the output is not whole: {type(error).__name__}: {error}"]
    return []


def _content(path: Path) -> dict[str, bytes]:
    if path.is_dir():
        return {file.name: file.read_bytes() for file in path.iterdir()}
    return {path.name: path.read_bytes()} if path.exists() else {}


def _clear() -> None:
    for path in (*Path().glob("out*"), *Path().glob(".out*")):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()

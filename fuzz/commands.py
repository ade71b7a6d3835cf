"""Random command lines, right and wrong: each ends within a minute, in a result or in one line that says why."""

from __future__ import annotations

import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from fuzz.harness import Report, forked, preload

COUNT = 300
NUMBERS = ["0", "-1", "1", "2", "0.5", "nan", "inf", "1e400", "-1e-9", "99999999999", "x", "", "1,5", "0x10", "½"]
PATHS = [
    *("nowhere/f.csv", "folder", "pipe", "/dev/zero", "/dev/null", "/dev/full", "empty.csv", "garbage.npz", "link"),
    *("", ".", "..", "\x1b[2J.csv", "[/red].csv", "a b.csv", "=1+1.csv", "ü.csv", "e.csv", "x.csv", "model"),
]
WORDS = [
    "",
    "cora.csv",
    "dfnet",
    "gcn",
    "perceptron",
    "[bold]",
    "\x1b]0;t\x07",
    "-",
    "--",
    "final",
    "random",
    "paper",
    "💥",
]
MEMORY = 24 * 2**30
"""Bytes of address space: a command that asks for more is refused by the system, as on a small machine."""

# The options of each command with values that are right for the files of `prepare`; a trial keeps some and spoils some.
RIGHT: dict[str, dict[str, list[str]]] = {
    "design": {
        "--response": ["low-pass", "high-pass", "heat", "pagerank", "band-pass"],
        "--cut": ["0.5", "1"],
        "-p": ["3"],
        "-q": ["2"],
        "--gamma": ["0.9"],
        "--method": ["refit", "iterative", "least-squares"],
        "--samples": ["50"],
        "--centre": ["middle", "1"],
        "--save": ["new.json"],
        "--plot": ["new.png", "new.svg"],
        "--graph": ["e.csv"],
        "--tol": ["1e-3"],
    },
    "filter": {"e.csv": [], "s.csv": [], "--filter": ["f.json"], "--tol": ["1e-3"], "--out": ["new.csv", "new.npy"]},
    "train": {
        "--edges": ["e.csv"],
        "--features": ["x.csv"],
        "--labels": ["y.csv"],
        "--model": ["dfnet", "gcn", "mlp"],
        "--epochs": ["3"],
        "--protocol": ["random"],
        "--replicas": ["1"],
        "--per-class": ["3"],
        "--validation-per-class": ["2"],
        "--device": ["cpu"],
        "--set": ["dropout=0.5", "units=[3]"],
        "--out": ["new-model"],
        "--checkpoint": ["new.ckpt"],
        "--seed": ["0"],
    },
    "predict": {
        "model": [],
        "--edges": ["e.csv"],
        "--features": ["x.csv"],
        "--out": ["new.csv"],
        "--device": ["cpu"],
        "--escape-formulas": [],
    },
    "search": {
        "new.db": [],
        "--edges": ["e.csv"],
        "--features": ["x.csv"],
        "--labels": ["y.csv"],
        "--trials": ["1"],
        "--epochs": ["2"],
        "--replicas": ["1"],
        "--device": ["cpu"],
        "--model": ["gcn"],
    },
    "data": {"describe": [], "--edges": ["e.csv"], "--labels": ["y.csv"], "--figure": ["new.png"]},
    "reproduce": {"filters": [], "--quick": [], "--minutes": ["0"], "--store": ["new.db"], "--workers": ["1"]},
    "report": {"--store": ["store.db"], "--out": ["new-report"]},
}
# A trial without these would do the whole work of the command.
KEPT = {"--epochs", "--replicas", "--minutes", "--quick", "--trials"}


def prepare(folder: Path) -> None:
    """Right files of every kind, and some that nobody should read, in a folder that becomes the current one."""
    from dfnets import design, responses
    from fuzz.stored import in_a_child, small_graph, small_split, trained

    preload()
    os.chdir(folder)
    graph = small_graph()
    rows = zip(*np.nonzero(np.triu(graph.adjacency.toarray())), strict=True)
    Path("e.csv").write_text("a,b\n" + "".join(f"n{a},n{b}\n" for a, b in rows))
    words = np.asarray(graph.features.toarray())
    Path("x.csv").write_text(
        "id,"
        + ",".join(f"w{k}" for k in range(6))
        + "\n"
        + "".join(f"n{k}," + ",".join(f"{v:g}" for v in row) + "\n" for k, row in enumerate(words))
    )
    Path("y.csv").write_text("id,town\n" + "".join(f"n{k},town{town}\n" for k, town in enumerate(graph.labels)))
    Path("s.csv").write_text("id,s\n" + "".join(f"n{k},{k / 7:.3f}\n" for k in range(30)))
    np.save("s.npy", np.ones(30))
    design(responses.low_pass(0.5), 3, 2, 0.8, method="refit").save("f.json")
    in_a_child(lambda: trained(graph, small_split(graph)).save("model"))
    Path("folder").mkdir()
    os.mkfifo("pipe")
    Path("empty.csv").touch()
    Path("garbage.npz").write_bytes(bytes(range(256)) * 4)
    Path("link").symlink_to("e.csv")


def run(seed: int, scale: float) -> Iterator[Report]:
    """One report."""
    here = Path.cwd()
    report = Report("command lines")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dfnets-fuzz-") as place:
        try:
            prepare(Path(place))
            rng = random.Random(seed)
            for _ in range(max(1, round(COUNT * scale))):
                words = command_line(rng)
                done = forked(dfnets(words), limits={resource.RLIMIT_AS: MEMORY})
                report.trials += 1
                report.refused += done.status != 0
                if reason := done.broken():
                    report.failures.append(f"dfnets {' '.join(map(repr, words))}: {reason}")
                for file in Path().glob("new*"):
                    _remove(file)
        finally:
            os.chdir(here)
    report.seconds = time.monotonic() - start
    yield report


def command_line(rng: random.Random) -> list[str]:
    """A command with right options, of which some are left out, spoilt, repeated or unknown."""
    command = rng.choice(list(RIGHT))
    words = [command]
    for name, values in RIGHT[command].items():
        if rng.random() < 0.25 and name not in KEPT:
            continue
        words.append(name if name.startswith("-") or rng.random() < 0.85 else rng.choice(PATHS))
        if values:
            spoilt = rng.random() < 0.2
            words.append(rng.choice([*NUMBERS, *PATHS, *WORDS]) if spoilt else rng.choice(values))
    if rng.random() < 0.1:
        words.append(rng.choice(["--unknown", "--help", "-x", "extra", "--force"]))
    return words


def dfnets(words: list[str]) -> Callable[[], None]:
    """The command line with these words, to be run in a process of its own."""

    def act() -> None:
        from dfnets.cli import main

        sys.argv = ["dfnets", *words]
        main()

    return act


def _remove(path: Path) -> None:
    import shutil

    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()

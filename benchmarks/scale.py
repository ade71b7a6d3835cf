"""Learning on graphs that do not fit a training step: how long a step takes, and one graph from its edges to a model.

    python -m benchmarks.scale steps [--nodes 100000 1000000 10000000]
    python -m benchmarks.scale large [--nodes 5000000] [--edges 100000000] [--pushed]
    python -m benchmarks.scale full  [--nodes 50000] [--edges 1000000]

``steps`` times one step of mini-batch training on graphs of several sizes, the sizes taking turns. ``large`` draws a
graph (:mod:`benchmarks.planted`), filters its features out of core, trains DFNetPlus in mini-batches on the filtered
rows, and predicts for nodes that had no part in it; ``--pushed`` also trains on rows by local push. ``full`` trains on
the whole graph at every step, on a smaller copy, for comparison. Each stage is printed with its time and the most
memory that it had: its own, and with the pages of mapped files that the system may drop. Splits: 20 labelled nodes per
class, 500 nodes to choose the epoch by, 10,000 to test.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import planted
from dfnets import Graph, fit, models
from dfnets.datasets.splits import Split
from dfnets.filtered_features import FilteredFeatures
from dfnets.models.row_inputs import PushedFeatures
from dfnets.nn.filter_bank import restart_filter
from dfnets.training import MiniBatch, Result
from dfnets.training.mini_batch import make_mini_batch_trainer
from dfnets.training.objective import Nodes

console = Console(width=110)
LOW = (0.1, 0.4)
SETTINGS = {"band": "low", "low": LOW, "epochs": 300, "every": 10, "patience": 100}
MEGA = 2**20


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Prints what it took: time, also that of a core, as the machine may do other work; and the most memory, own and
    resident, at looks ten times a second.
    """
    peaks, over = [0, 0], threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
            for place, field in enumerate(("RssAnon", "VmRSS")):
                peaks[place] = max(peaks[place], _status(field))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    began, worked = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        seconds, worked = time.perf_counter() - began, time.process_time() - worked
        over.set()
        watcher.join()
    own, resident = (f"{kilobytes / MEGA:.2f} GiB" for kilobytes in peaks)
    console.print(
        f"{name}: {seconds:.1f} s ({worked:.1f} s of a core), own memory up to {own}, with mapped files {resident}"
    )


def _status(field: str) -> int:
    """A line of /proc/self/status, in KiB; 0 where there is no such file."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(field + ":")), 0)


def split_of(graph: Graph, seed: int = 0) -> Split:
    assert graph.labels is not None
    order = np.random.default_rng(seed).permutation(graph.num_nodes)[: 40_000 + 1000 * graph.num_classes]
    train = np.concatenate([order[graph.labels[order] == c][:20] for c in range(graph.num_classes)])
    others = order[~np.isin(order, train)]
    return Split(train, others[:500], others[500:10_500], "planted", labels=graph.labels)


def large(nodes: int, edges: int, place: Path, pushed: bool) -> None:
    with stage(f"draw {nodes:,} nodes, {edges:,} edges, and write them"):
        planted.write(place / "graph", nodes, edges)
    with stage("open and check"):
        graph = Graph.open(place / "graph")
        degrees = graph.degrees
        console.print(f"{graph}, largest degree {degrees.max():,.0f}, median {np.median(degrees):.0f}")
    split = split_of(graph)
    with stage(f"filter {graph.features.shape[1]} features by {len(LOW)} loops, out of core"):
        filtered = FilteredFeatures.make(graph, [restart_filter(a) for a in LOW], place / "filtered")
    with stage("train on filtered rows"):
        result = fit(
            "dfnet-plus", graph, protocol=split, replicas=1, mini_batch=MiniBatch(filtered=filtered), **SETTINGS
        )
    console.print(f"filtered rows: {result.accuracy()}")
    if pushed:
        with stage("train on pushed rows"):
            result = fit("dfnet-plus", graph, protocol=split, replicas=1, mini_batch=True, **SETTINGS)
        console.print(f"pushed rows: {result.accuracy()}; {_of_rows(result)}")
        with stage("predict for the test nodes, with all of the filter"):
            _say_predicted(result, split)
    console.print(f"most resident memory of the whole run: {_peak() / MEGA:.2f} GiB")


def full(nodes: int, edges: int, place: Path) -> None:
    planted.write(place / "graph", nodes, edges)
    graph = Graph.open(place / "graph")
    graph = graph.with_(features=np.array(graph.features))
    split = split_of(graph)
    with stage(f"train on the whole graph, {graph}"):
        result = fit("dfnet-plus", graph, protocol=split, replicas=1, **SETTINGS)
    console.print(f"whole graph: {result.accuracy()}")
    with stage("train on pushed rows"):
        result = fit("dfnet-plus", graph, protocol=split, replicas=1, mini_batch=True, **SETTINGS)
    console.print(f"pushed rows: {result.accuracy()}; {_of_rows(result)}")
    _say_predicted(result, split)
    filtered = FilteredFeatures.make(graph, [restart_filter(a) for a in LOW], place / "filtered")
    with stage("train on filtered rows"):
        result = fit(
            "dfnet-plus", graph, protocol=split, replicas=1, mini_batch=MiniBatch(filtered=filtered), **SETTINGS
        )
    console.print(f"filtered rows: {result.accuracy()}")


def _of_rows(result: Result) -> str:
    rows = result._trainer.inputs.rows
    parts = [f"{name} {values.mean(axis=1).round(4).tolist()}" for name, values in (
        ("mean bound on the error of a row", rows.error), ("mean share dropped", rows.shares_dropped))]  # fmt: skip
    return ", ".join(parts)


def _say_predicted(result: Result, split: Split) -> None:
    assert result.graph.labels is not None
    guessed = result.predict().probabilities[split.test].argmax(axis=1)
    console.print(f"predicted on the whole graph: {100 * np.mean(guessed == result.graph.labels[split.test]):.2f} %")


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def steps(sizes: list[int], place: Path, rounds: int = 60) -> None:
    """Ten edges per node and 32 features, so that ten million nodes fit on a small machine."""
    trainers, pushing = {}, {}
    for nodes in sizes:
        planted.write(place / str(nodes), nodes, 5 * nodes, features=32)
        graph = Graph.open(place / str(nodes))
        split = split_of(graph)
        config = models.config("dfnet-plus", **SETTINGS)
        known = Nodes(split.train, split.validation[:100], split.test[:100])
        options = MiniBatch(unlabelled=2000)
        trainers[nodes] = make_mini_batch_trainer("dfnet-plus", config, graph, [known], [0], options, "cpu")
        source, some = PushedFeatures(graph), split.test[:1000]
        began = time.perf_counter()
        source.push.rows(restart_filter(LOW[0]), some)
        pushing[nodes] = 1e3 * (time.perf_counter() - began) / len(some)
    times: dict[int, list[float]] = {nodes: [] for nodes in sizes}
    for _ in range(rounds):
        for nodes, trainer in trainers.items():
            began = time.perf_counter()
            trainer.step()
            times[nodes].append(1e3 * (time.perf_counter() - began))
    table = Table(title="one step of mini-batch training, 50 labelled and 100 unlabelled nodes", title_justify="left")
    for column in ("nodes", "step, median (ms)", "of the first", "one row by push (ms)"):
        table.add_column(column, justify="right")
    first = np.median(times[sizes[0]][5:])
    for nodes in sizes:
        median = np.median(times[nodes][5:])
        table.add_row(f"{nodes:,}", f"{median:.1f}", f"{median / first:.2f}", f"{pushing[nodes]:.2f}")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["steps", "large", "full"])
    parser.add_argument("--nodes", type=int, nargs="+")
    parser.add_argument("--edges", type=int)
    parser.add_argument("--pushed", action="store_true")
    parser.add_argument("--folder", type=Path, help="where to work; a temporary one if left out")
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(dir=given.folder))
    try:
        if given.what == "steps":
            steps(given.nodes or [10**5, 10**6, 10**7], place)
        elif given.what == "large":
            large((given.nodes or [5_000_000])[0], given.edges or 10**8, place, given.pushed)
        else:
            full((given.nodes or [50_000])[0], given.edges or 10**6, place)
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()

"""Many processes on this machine, against one and against the cost model: ``python -m benchmarks.distributed``.

``--docs docs/scale.md`` also writes what was measured into that page.

Processes of one thread each. Columns: in one job of two processes, one of them filters all columns while the other
waits, then both filter half, in turn; the best of several rounds counts. Row blocks: 1, 2 and 4 processes, seconds per
product with and without overlap, and the values that were sent beside the halo of the partition. The model of
:mod:`benchmarks.cluster_model` gets the speed of one process and of messages between two, measured in the same run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

from benchmarks.cluster_model import NUMBER, Job, Machine
from dfnets import Graph, Shift, engine
from dfnets.distributed import RowBlockShift, partition, processes, write_partition
from dfnets.distributed.group import gather_tensors

NODES, DEGREE, COLUMNS, PRODUCTS = 100_000, 16, 32, 10
# Signals that are shared out: each process reads all entries of the graph, so that few columns gain less than many.
SHARED = (32, 128)
ROUNDS = 7
START, END = "<!-- python -m benchmarks.distributed -->", "<!-- end -->"


def make_graph() -> Graph:
    """Most edges lead to nodes with near numbers, a few anywhere: a graph that can be divided, though not for free."""
    rng = np.random.default_rng(0)
    source = rng.integers(0, NODES, NODES * DEGREE // 2)
    near = (source + np.round(rng.laplace(0, 300, len(source))).astype(np.int64)) % NODES
    target = np.where(rng.random(len(source)) < 0.98, near, rng.integers(0, NODES, len(source)))
    keep = source != target
    return Graph.from_edges(source[keep], target[keep], num_nodes=NODES, duplicates="max")


def best(task: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Seconds of the fastest round; all processes start each of them together."""
    spent = []
    for _ in range(rounds):
        dist.barrier()
        began = time.perf_counter()
        task()
        spent.append(time.perf_counter() - began)
    return min(spent)


def columns(folder: Path, count: int) -> dict[str, float]:
    """The same filter of some columns by one process of two, and by both."""
    shift = Shift(Graph.open(folder / "graph"))
    coefficients = np.linspace(1, 0.1, PRODUCTS + 1)
    x = np.random.default_rng(0).standard_normal((NODES, count)).astype(np.float32)
    half = np.ascontiguousarray(x[:, : count // 2])
    rank, spent = dist.get_rank(), {"one": [], "two": [], "one, processor": [], "two, processor": []}
    engine.clenshaw(shift, x, coefficients), engine.clenshaw(shift, half, coefficients)
    for _ in range(ROUNDS):
        for signal, name in ((x if rank == 0 else None, "one"), (half, "two")):
            dist.barrier()
            began, worked = time.perf_counter(), time.process_time()
            if signal is not None:
                engine.clenshaw(shift, signal, coefficients)
            spent[f"{name}, processor"].append(time.process_time() - worked)
            dist.barrier()
            spent[name].append(time.perf_counter() - began)
    return {name: min(times) for name, times in spent.items()}


def messages() -> dict[str, float]:
    """Seconds for a small message, and bytes per second of large ones, from each of two processes to the other."""
    peer = 1 - dist.get_rank()

    def swap(numbers: int) -> Callable[[], None]:
        out, back = torch.zeros(numbers), torch.zeros(numbers)

        def task() -> None:
            calls = [dist.irecv(back, peer), dist.isend(out, peer)]
            for call in calls:
                call.wait()

        return task

    latency, large = best(swap(1), 200), 1 << 22
    return {"latency": latency, "network": large * NUMBER / (best(swap(large)) - latency)}


def rows(folder: Path) -> dict[str, float]:
    """Seconds per product on row blocks, and what was sent."""
    world = dist.get_world_size()
    shift = Shift(Graph.open(folder / "graph")) if world == 1 else RowBlockShift(folder / f"parts-{world}")
    x = np.ones((shift.num_nodes, COLUMNS), dtype=np.float32)
    coefficients = np.linspace(1, 0.1, PRODUCTS + 1)
    task = lambda: engine.clenshaw(shift, x, coefficients)  # noqa: E731
    task()
    found = {"overlap": best(task) / PRODUCTS}
    if isinstance(shift, RowBlockShift):
        shift.exchange.values_sent = 0
        task()
        found["sent"] = shift.exchange.values_sent / PRODUCTS / COLUMNS
        shift.exchange.overlap = False
        found["waiting"] = best(task) / PRODUCTS
    return found


def worker(folder: Path) -> None:
    """What each process of a job does; process 0 writes the numbers of all."""
    with processes() as (rank, world):
        found = {"rows": rows(folder)}
        if world == 2:
            found |= {"messages": messages()} | {f"{count} columns": columns(folder, count) for count in SHARED}
        flat = {f"{group} {name}": torch.tensor(v) for group, entries in found.items() for name, v in entries.items()}
        pieces = gather_tensors(flat)
        if rank == 0:
            everything = {name: [float(piece[name]) for piece in pieces] for name in flat}
            (folder / f"found-{world}.json").write_text(json.dumps(everything))


def main(page: Path | None = None) -> None:
    """Makes the graph, starts the jobs, and prints measurements beside the model; into a page, too, if one is given."""
    load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as name:
        folder, graph = Path(name), make_graph()
        graph.save(folder / "graph")
        halos, cuts, found = {1: 0.0}, {1: 0.0}, {}
        sources, targets = graph.adjacency.nonzero()
        for count in (1, 2, 4):
            parts = partition(graph, count)
            between = parts[sources] != parts[targets]
            cuts[count] = float(between.mean())
            halos[count] = len(np.unique(sources[between] * count + parts[targets[between]]))
            if count > 1:
                write_partition(graph, parts, folder / f"parts-{count}")
            command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
            environment = os.environ | {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
            subprocess.run(
                [sys.executable, *command, "-m", "benchmarks.distributed", str(folder)], env=environment, check=True
            )
            found[count] = json.loads((folder / f"found-{count}.json").read_text())
    text = report(graph, found, cuts, halos, cores, load)
    print(text)
    if page is not None:
        before, start, rest = page.read_text().partition(START)
        _, end, after = rest.partition(END)
        page.write_text(f"{before}{start}\n{text}\n{end}{after}")


def report(graph: Graph, found: dict, cuts: dict, halos: dict, cores: int, load: float) -> str:
    """The measurements in words and tables, as they stand in docs/scale.md."""
    lines: list[str] = []
    say, entries = lines.append, graph.adjacency.nnz
    say(
        f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges; {cores} cores, one thread per process; the load "
        f"average was {load:.1f} at the start; the best of {ROUNDS} rounds.\n"
    )
    say("| columns shared out | one process | two | times as fast | in processor time |")
    say("|---|---|---|---|---|")
    for count in SHARED:
        one, two = found[2][f"{count} columns one"][0], max(found[2][f"{count} columns two"])
        worked = found[2][f"{count} columns one, processor"][0] / max(found[2][f"{count} columns two, processor"])
        say(f"| {count} | {one:.3f} s | {two:.3f} s | {one / two:.2f} | {worked:.2f} |")
    say("")
    job = Job(graph.num_nodes, entries, COLUMNS, 1, 0.0)
    latency, network = max(found[2]["messages latency"]), min(found[2]["messages network"])
    here = Machine("here", job.moved() / found[1]["rows overlap"][0], network, latency)
    say(f"One process moves {here.memory / 1e9:.1f} GB/s; a message takes {latency * 1e6:.0f} us, and then")
    say(f"{network / 1e9:.2f} GB/s. Row blocks, {COLUMNS} columns of float32:\n")
    say("| processes | edges cut | halo | values sent | halo, model | product | model | without overlap | model |")
    say("|---|---|---|---|---|---|---|---|---|")
    for count in (1, 2, 4):
        job = Job(graph.num_nodes, entries, COLUMNS, count, cuts[count])
        # More processes than cores take turns, and every process shares the same wire.
        turns = max(1.0, count / cores)
        mine = Machine("here", here.memory / turns, here.network / turns, here.latency)
        times = found[count]
        sent = sum(times.get("rows sent", [0.0]))
        waited = f"{1e3 * max(times['rows waiting']):.1f} ms" if count > 1 else "-"
        say(
            f"| {count} | {100 * cuts[count]:.1f} % | {halos[count]:,.0f} | {sent:,.0f} | {count * job.halo:,.0f} | "
            f"{1e3 * max(times['rows overlap']):.1f} ms | {1e3 * job.seconds(mine):.1f} ms | {waited} | "
            f"{1e3 * job.seconds(mine, overlap=False):.1f} ms |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    if "RANK" in os.environ:
        worker(Path(sys.argv[1]))
    else:
        main(Path(sys.argv[2]) if sys.argv[1:2] == ["--docs"] else None)

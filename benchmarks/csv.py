"""A CSV of ten million edges, with string ids and weights, becomes a graph: ``python -m benchmarks.csv``.

Each way runs in a child process of its own on two cores. Seconds are those of the whole child, imports included;
those of the processor tell what a busy machine adds. Memory is its peak resident set as the system counts it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

TWO_CORES = "import os, sys; os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2]);"

WAYS = {
    "dfnets: read_graph": "from dfnets.datasets.files import read_graph; print(read_graph(sys.argv[1]))",
    "pandas, then SciPy": """
import numpy as np, pandas, scipy.sparse as sp
edges = pandas.read_csv(sys.argv[1])
codes, ids = pandas.factorize(np.concatenate([edges["source"], edges["target"]]))
m, n = len(edges), len(ids)
upper = sp.csr_array((edges["weight"], (codes[:m], codes[m:])), shape=(n, n))
print((upper + upper.T).shape)
""",
}


def write_edges(path: Path, edges: int, nodes: int) -> None:
    """Distinct pairs in random order: node k and the nodes at some fixed offsets from it, under shuffled names."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    rng = np.random.default_rng(0)
    count = edges // nodes
    names = pa.array(rng.permutation(nodes)).cast(pa.string())
    names = pc.binary_join_element_wise("node", names, "-")
    offsets = 1 + rng.choice(nodes // 2 - 1, count, replace=False)
    order = rng.permutation(count * nodes)
    sources, offsets = order % nodes, offsets[order // nodes]
    columns = {
        "source": names.take(pa.array(sources)),
        "target": names.take(pa.array((sources + offsets) % nodes)),
        "weight": rng.uniform(0.1, 3, len(order)).round(6),
    }
    csv.write_csv(pa.table(columns), path)


def measure(code: str, path: Path) -> tuple[float, float, float]:
    """(seconds, processor seconds, peak GiB) of a child process that runs the code on the file."""
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-c", TWO_CORES + code, path])
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"the child ended with status {child.returncode}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dfnets-") as folder:
        path = Path(folder) / "edges.csv"
        write_edges(path, arguments.edges, arguments.nodes)
        title = f"{arguments.edges} edges, {arguments.nodes} nodes, {path.stat().st_size / 2**20:.0f} MiB"
        table = Table("CSV to graph", "seconds", "processor seconds", "peak GiB", title=title)
        for way, code in WAYS.items():
            seconds, processor, peak = measure(code, path)
            table.add_row(way, f"{seconds:.1f}", f"{processor:.1f}", f"{peak:.2f}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()

"""Milliseconds of one training step: ``python -m benchmarks.training_step [model,...] [replicas] [device]``.

On Cora and on a graph of the size of a network of words. Of the package that is on the path: an earlier version is
measured by naming its ``src`` in ``PYTHONPATH``, and ``dfnet-plus`` has one hidden layer of 64 units in all of them.
Processor time on the CPU, so that a busy machine does not count.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import scipy.sparse as sp
import torch

from dfnets import Graph, datasets, models
from dfnets.training.objective import Nodes

try:
    from dfnets.training.fitting import make_trainer
except ImportError:  # an earlier version, where the module had another name
    from dfnets.training.fit import make_trainer  # type: ignore[import-not-found, no-redef]

STEPS = 12
# What a step computes, whatever the default of a version is.
SETTINGS = {"dfnet-plus": {"hidden": 64}}


def words() -> tuple[Graph, Nodes]:
    """117,659 nodes, hubs of some hundred neighbours, sparse features and random labels."""
    rng = np.random.default_rng(0)
    n, entries = 117_659, 367_578
    share = np.arange(1, n + 1) ** -0.5
    ends = rng.permutation(n)[rng.choice(n, (2, entries // 2 + 400), p=share / share.sum())]
    ends = ends[:, ends[0] != ends[1]]
    features = sp.random_array((n, 300), density=0.05, rng=rng, format="csr", dtype=np.float32)
    plain = Graph.from_edges(*ends, num_nodes=n, duplicates="max")
    order = rng.permutation(n)
    graph = Graph(plain.adjacency, features=features, labels=rng.integers(0, 7, n), name="words")
    return graph, Nodes(order[:140], order[140:640], order[640:1640])


def cora() -> tuple[Graph, Nodes]:
    graph = datasets.load("cora")
    (split,) = graph.splits["planetoid"]
    return graph, Nodes(split.train, split.validation, split.test)


def main(names: str = "dfnet-plus,dfnet,gcn", replicas: int = 1, device: str = "cpu") -> None:
    clock = time.process_time if device == "cpu" else time.perf_counter
    for make in (cora, words):
        graph, nodes = make()
        for name in names.split(","):
            settings = models.config(name, **SETTINGS.get(name, {}))
            made = make_trainer(name, settings, graph, [nodes] * replicas, range(replicas), device)
            spent = []
            for _ in range(STEPS + 3):
                began = clock()
                made[0].step()
                if device != "cpu":
                    torch.cuda.synchronize()
                spent.append(1e3 * (clock() - began))
            low, middle = min(spent[3:]), float(np.median(spent[3:]))
            print(f"{graph.name} {name}, {replicas} replicas: {low:.1f} ms at least, median {middle:.1f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:2], *(int(count) for count in sys.argv[2:3]), *sys.argv[3:4])

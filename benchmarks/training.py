"""Training DFNet, against the dense formulation of the authors' code and the same widths built from PyG's ChebConv.

    python -m benchmarks.training [dataset] [replicas]

All three train the same layers on the same graph, and evaluate once an epoch; times are for one network and one epoch.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import ChebConv

from dfnets import Graph, Shift, datasets, models
from dfnets.datasets.features import normalise
from dfnets.models import DFNetConfig
from dfnets.nn.constraints import unit_norm_
from dfnets.training.fitting import make_trainer
from dfnets.training.objective import Nodes

ROUNDS = 5
Epoch = Callable[[], object]


class Dense(nn.Module):
    """One layer as the authors wrote it: P and Q are n x n matrices, and filter their input before the weights do."""

    def __init__(self, P: Tensor, Q: Tensor, reads: int, initial: int, width: int) -> None:
        super().__init__()
        self.P, self.Q = P, Q
        self.theta1 = nn.Parameter(nn.init.xavier_normal_(torch.empty(reads, width)))
        self.theta2 = nn.Parameter(nn.init.xavier_normal_(torch.empty(initial, width)))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, h: Tensor, x: Tensor) -> Tensor:
        return (self.P @ h) @ self.theta1 + (self.Q @ x) @ self.theta2 + self.bias


class Chebyshev(nn.Module):
    """One layer of PyG: a polynomial of the same degree in its input."""

    def __init__(self, edges: Tensor, reads: int, width: int, degree: int) -> None:
        super().__init__()
        self.edges = edges
        self.conv = ChebConv(reads, width, K=degree + 1)

    def forward(self, h: Tensor, x: Tensor) -> Tensor:  # noqa: ARG002
        return self.conv(h, self.edges)


class Network(nn.Module):
    """Batch normalisation, layer, ReLU, dropout, concatenation; a linear head over everything."""

    def __init__(self, layers: list[nn.Module], reads: list[int], classes: int, config: DFNetConfig) -> None:
        super().__init__()
        self.config = config
        self.layers = nn.ModuleList(layers)
        self.norms = nn.ModuleList(nn.BatchNorm1d(read, eps=config.eps, momentum=0.1) for read in reads)
        self.head = nn.Linear(reads[-1] + config.units[-1], classes)

    def forward(self, x: Tensor) -> Tensor:
        h = x
        for norm, layer in zip(self.norms, self.layers, strict=True):
            new = functional.dropout(torch.relu(layer(norm(h), x)), 0.9, self.training)
            h = torch.cat([h, new], dim=1)
        return self.head(h)


def epoch_of(network: Network, x: Tensor, labels: Tensor, train: np.ndarray) -> Epoch:
    """One step and one evaluation of a single network."""
    kernels = [p for layer in network.layers for p in layer.parameters() if p.ndim == 2]
    optimiser = torch.optim.Adam(network.parameters(), lr=network.config.learning_rate)

    def run() -> None:
        network.train()
        optimiser.zero_grad()
        loss = network.config.loss_factor * functional.cross_entropy(network(x)[train], labels[train])
        loss = loss + network.config.l2 * sum(kernel.square().sum() for kernel in kernels)
        loss.backward()
        optimiser.step()
        for kernel in kernels:
            unit_norm_(kernel.data[None])
        network.eval()
        with torch.no_grad():
            network(x).argmax(dim=1)

    return run


def ways(graph: Graph, replicas: int) -> dict[str, tuple[Epoch, int]]:
    """An epoch of each formulation, and how many networks it trains."""
    config = models.config("dfnet", "published")
    assert isinstance(config, DFNetConfig)
    assert graph.features is not None
    (split,) = graph.splits["planetoid"]
    nodes = Nodes(split.train, split.validation, split.test)
    trainer, filter = make_trainer("dfnet", config, graph, [nodes] * replicas, range(replicas))
    single, _ = make_trainer("dfnet", config, graph, [nodes], [0])
    assert filter is not None

    features = normalise(graph.features, config.features)
    x = torch.as_tensor(features if isinstance(features, np.ndarray) else features.toarray(), dtype=torch.float32)
    labels = torch.as_tensor(graph.labels)
    reads = [x.shape[1] + sum(config.units[:t]) for t in range(len(config.units))]
    shift = torch.as_tensor(Shift(graph, centre=filter.centre).tocsr().toarray(), dtype=torch.float32)
    power, P, Q = torch.eye(len(x)), torch.zeros_like(shift), torch.zeros_like(shift)
    for j in range(max(filter.p, filter.q) + 1):
        Q += filter.phi[j] * power if j <= filter.q else 0
        P -= filter.psi[j - 1] * power if 1 <= j <= filter.p else 0
        power = power @ shift
    edges = torch.as_tensor(np.stack(graph.adjacency.nonzero())).long()
    dense = [Dense(P, Q, read, x.shape[1], width) for read, width in zip(reads, config.units, strict=True)]
    chebyshev = [Chebyshev(edges, read, width, filter.p) for read, width in zip(reads, config.units, strict=True)]
    train = split.train.copy()
    return {
        f"dfnets, {replicas} replicas": (lambda: (trainer.step(), trainer.evaluate()), replicas),
        "dfnets, 1 replica": (lambda: (single.step(), single.evaluate()), 1),
        "PyG ChebConv, K = p + 1": (
            epoch_of(Network(list(chebyshev), reads, graph.num_classes, config), x, labels, train),
            1,
        ),
        "dense P and Q (the authors' code)": (
            epoch_of(Network(list(dense), reads, graph.num_classes, config), x, labels, train),
            1,
        ),
    }


def main(name: str = "cora", replicas: int = 10) -> None:
    graph = datasets.load(name)
    epochs = ways(graph, replicas)
    times: dict[str, list[float]] = {way: [] for way in epochs}
    for round_ in range(ROUNDS + 1):  # interleaved, so that a busy moment falls on all of them; the first warms up
        for way, (run, count) in epochs.items():
            start = time.perf_counter()
            run()
            if round_:
                times[way].append((time.perf_counter() - start) / count)
    best = float(np.median(times[f"dfnets, {replicas} replicas"]))
    title = f"DFNet on {graph.name}, {torch.get_num_threads()} threads"
    table = Table(title, "ms an epoch and network, median", "quartiles", "times ours")
    for way, values in times.items():
        low, middle, high = (1e3 * value for value in np.percentile(values, [25, 50, 75]))
        table.add_row(way, f"{middle:.1f}", f"{low:.1f} - {high:.1f}", f"{middle / 1e3 / best:.1f}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main(*sys.argv[1:2], *(int(count) for count in sys.argv[2:3]))

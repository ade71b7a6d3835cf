"""What a person gets for a graph of their own: public graphs with most labels hidden, by plain ``dfnets train``.

    python -m benchmarks.own_graph [graph ...] [--labels 20 5 2] [--draws 5] [--first 0] [--out rows.csv] [--commands]
    python -m benchmarks.own_graph --times 3000 20000

For every graph, number of labels per class and draw, some labelled nodes are given and all others hidden; a class keeps
at least half of its nodes hidden. Compared on the hidden nodes: the default of ``dfnets.train``; DFNetPlus on every
label, at the epoch that is best on the hidden nodes (an oracle, which nobody has); PyG's GCN after 200 epochs; label
propagation. The default never sees a hidden label. ``--commands`` goes through CSV files and the two commands ``dfnets
train`` and ``dfnets predict`` instead of the functions that they call. ``--times`` prints how long ``dfnets.train``
takes on made-up graphs of so many nodes.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch.nn import functional

import dfnets
from dfnets import models
from dfnets.datasets.features import normalise
from dfnets.graph import Graph
from dfnets.training.calibration import calibration_error
from dfnets.training.fitting import make_trainer
from dfnets.training.objective import Nodes

GRAPHS = ["texas", "chameleon_filtered", "cora", "citeseer", "pubmed", "amazon_computers", "debian_packages"]
NONE = np.zeros(0, dtype=np.int64)
COLUMNS = [
    "graph",
    "labels",
    "draw",
    "model",
    "default",
    "oracle",
    "gcn",
    "lp",
    "low",
    "high",
    "covered",
    "ece",
    "seconds",
]


def drawn(graph: Graph, per_class: int, draw: int) -> tuple[Graph, np.ndarray]:
    """The graph with some labels of each class, at most half of them, and the nodes whose labels are hidden."""
    assert graph.labels is not None
    rng = np.random.default_rng((per_class, draw))
    labels = np.full(graph.num_nodes, -1)
    for c in range(graph.num_classes):
        nodes = np.flatnonzero(graph.labels == c)
        labels[rng.permutation(nodes)[: min(per_class, len(nodes) // 2)]] = c
    present = np.isin(graph.labels, labels[labels >= 0])
    return graph.with_(labels=labels, splits={}), np.flatnonzero((labels < 0) & present)


def by_functions(graph: Graph, device: str, model: str) -> dict[str, Any]:
    result = dfnets.train(graph, model=model, device=device, progress=False)
    low, high = result.assessment.interval
    names = " + ".join(row["model"] for row in result.card()["members"])
    return {"model": names, "low": low, "high": high, "probabilities": result.predictions.probabilities}


def by_commands(graph: Graph, device: str, model: str) -> dict[str, Any]:
    """The same through files and the command line."""
    import pandas

    assert graph.labels is not None
    assert graph.features is not None
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        ids = np.array([f"node {k}" for k in range(graph.num_nodes)])
        upper = sp.triu(graph.adjacency).tocoo()
        pandas.DataFrame({"source": ids[upper.row], "target": ids[upper.col]}).to_csv(place / "e.csv", index=False)
        dense = graph.features.toarray() if sp.issparse(graph.features) else graph.features
        table = pandas.DataFrame(dense, index=pandas.Index(ids, name="id"))
        table.add_prefix("f").to_csv(place / "x.csv")
        known = graph.labels >= 0
        names = [f"class {c:03d}" for c in graph.labels[known]]
        pandas.DataFrame({"id": ids[known], "label": names}).to_csv(place / "y.csv", index=False)
        files = ["--edges", place / "e.csv", "--features", place / "x.csv"]
        labels = ["--labels", place / "y.csv"]
        _run("train", *files, *labels, "--out", place / "model", "--device", device, "--model", model)
        _run("predict", place / "model", *files, "--out", place / "p.csv", "--device", device)
        card = json.loads((place / "model" / "card.json").read_text())
        frame = pandas.read_csv(place / "p.csv").set_index("id").loc[ids]
    probabilities = np.zeros((graph.num_nodes, graph.num_classes))
    for c in range(graph.num_classes):
        if f"p(class {c:03d})" in frame:
            probabilities[:, c] = frame[f"p(class {c:03d})"]
    low, high = card["interval"]
    names = " + ".join(row["model"] for row in card["members"])
    return {"model": names, "low": low, "high": high, "probabilities": probabilities}


def _run(*words: object) -> None:
    code = "from dfnets.cli import main; main()"
    subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], check=True, stdout=subprocess.DEVNULL, env=os.environ
    )


def oracle(graph: Graph, truth: np.ndarray, hidden: np.ndarray, device: str, replicas: int) -> float:
    """DFNetPlus on every label, each network at the epoch that is best on the hidden nodes; their mean."""
    # Without validation nodes patience would end training early: the oracle sees every epoch.
    config = models.config("dfnet-plus", patience=None)
    known = np.flatnonzero(graph.labels >= 0)  # type: ignore[operator]
    nodes = [Nodes(known, NONE, hidden)] * replicas
    trainer, _ = make_trainer("dfnet-plus", config, graph.with_(labels=truth), nodes, range(replicas), device)
    trainer.run(lambda _: None)
    return float(np.nanmax(trainer.history.test, axis=0).mean())


def propagation(graph: Graph, truth: np.ndarray, hidden: np.ndarray, device: str) -> float:
    known = np.flatnonzero(graph.labels >= 0)  # type: ignore[operator]
    nodes = [Nodes(known, NONE, hidden)]
    trainer, _ = make_trainer("lp", models.config("lp"), graph.with_(labels=truth), nodes, [0], device)
    return float(trainer.evaluate().test[0])


def pyg_gcn(graph: Graph, truth: np.ndarray, hidden: np.ndarray, device: str, runs: int = 3) -> float:
    """PyG's GCN as its example has it: 16 hidden units, dropout 1/2, Adam at .01, weight decay 5e-4, 200 epochs."""
    from torch_geometric.nn import GCNConv

    rows = normalise(graph.features, "row")  # type: ignore[type-var]
    x = torch.as_tensor(rows.toarray() if sp.issparse(rows) else rows, dtype=torch.float32, device=device)
    edges = graph.adjacency.tocoo()
    index = torch.as_tensor(np.stack([edges.row, edges.col]), dtype=torch.int64, device=device)
    known = torch.as_tensor(np.flatnonzero(graph.labels >= 0), device=device)  # type: ignore[operator]
    targets = torch.as_tensor(truth, device=device)
    scores = []
    for seed in range(runs):
        torch.manual_seed(seed)
        first, second = (
            GCNConv(x.shape[1], 16, cached=True).to(device),
            GCNConv(16, graph.num_classes, cached=True).to(device),
        )
        groups = [{"params": first.parameters(), "weight_decay": 5e-4}, {"params": second.parameters()}]
        optimiser = torch.optim.Adam(groups, lr=0.01)

        def logits(training: bool, first: Any = first, second: Any = second) -> torch.Tensor:
            h = first(functional.dropout(x, training=training), index).relu()
            return second(functional.dropout(h, training=training), index)

        for _ in range(200):
            optimiser.zero_grad()
            functional.cross_entropy(logits(True)[known], targets[known]).backward()
            optimiser.step()
        with torch.no_grad():
            scores.append(100 * np.mean(logits(False).argmax(1).cpu().numpy()[hidden] == truth[hidden]))
    return float(np.mean(scores))


def measure(graph: Graph, per_class: int, draw: int, options: argparse.Namespace) -> dict[str, Any]:
    """One row of the table."""
    own, hidden = drawn(graph, per_class, draw)
    truth, device = graph.labels, options.device
    assert truth is not None
    began = time.monotonic()
    made = (by_commands if options.commands else by_functions)(own, device, options.model)
    seconds = time.monotonic() - began
    p = made["probabilities"][hidden]
    accuracy = float(100 * np.mean(p.argmax(axis=1) == truth[hidden]))
    unknown = float("nan")
    return {
        "graph": graph.name,
        "labels": per_class,
        "draw": draw,
        "model": made["model"],
        "default": accuracy,
        "oracle": oracle(own, truth, hidden, device, options.oracle) if options.oracle else unknown,
        "gcn": unknown if options.alone else pyg_gcn(own, truth, hidden, device),
        "lp": unknown if options.alone else propagation(own, truth, hidden, device),
        "low": made["low"],
        "high": made["high"],
        "covered": made["low"] <= accuracy <= made["high"],
        "ece": calibration_error(p, truth[hidden]),
        "seconds": seconds,
    }


def made_up(nodes: int, classes: int = 7, features: int = 1500, per_class: int = 20) -> Graph:
    """Communities: two edges in three join nodes of one class, and a class has words of its own, 15 in a row."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, classes, nodes)
    ranks, order = np.empty(nodes, dtype=np.int64), np.argsort(truth, kind="stable")
    ranks[order] = np.arange(nodes)
    starts, sizes = np.searchsorted(truth[order], np.arange(classes)), np.bincount(truth, minlength=classes)
    ends = rng.integers(0, nodes, (2, 3 * nodes))
    alike = rng.random(3 * nodes) < 2 / 3
    own = truth[ends[0]]
    ends[1, alike] = order[(starts[own] + rng.integers(0, nodes, 3 * nodes) % sizes[own])[alike]]
    edges = sp.coo_array((np.ones(3 * nodes), ends), shape=(nodes, nodes)).tocsr()
    edges.setdiag(0)
    topics = rng.random((classes, features)) ** 4
    topics /= topics.sum(axis=1, keepdims=True)
    columns = np.concatenate([rng.choice(features, (size, 15), p=topics[c]) for c, size in enumerate(sizes)])[ranks]
    words = sp.coo_array((np.ones(15 * nodes), (np.repeat(np.arange(nodes), 15), columns.ravel()))).tocsr()
    words.resize((nodes, features))
    labels = np.full(nodes, -1)
    for c in range(classes):
        labels[order[starts[c] : starts[c] + per_class]] = c
    return Graph(((edges + edges.T) > 0).astype(float), features=words, labels=labels, name=f"made-up, {nodes} nodes")


def show_times(nodes: list[int], device: str) -> None:
    """Seconds of ``dfnets.train`` by effort, on an idle machine."""
    for count in nodes:
        graph = made_up(count)
        for effort in ("quick", "default"):
            began = time.monotonic()
            result = dfnets.train(graph, effort=effort, device=device, progress=False)
            seconds, small = time.monotonic() - began, len(result.plan.small_epochs)
            kinds = f"{result.plan.networks} networks of each of {1 + small} kinds"
            print(f"{graph.name}, {effort}: {seconds:.1f} s, {kinds}")


def show(rows: list[dict[str, Any]]) -> None:
    """Means over draws, and what holds over all rows."""
    for key in sorted({(row["labels"], row["graph"]) for row in rows}, key=str):
        some = [row for row in rows if (row["labels"], row["graph"]) == key]
        means = {
            name: np.mean([row[name] for row in some]) for name in ("default", "oracle", "gcn", "lp", "ece", "seconds")
        }
        models_taken = ", ".join(sorted({row["model"] for row in some}))
        line = "  ".join(
            f"{name} {value:.3f}" if name == "ece" else f"{name} {value:.1f}" for name, value in means.items()
        )
        covered = sum(row["covered"] for row in some)
        print(f"{key[1]:20} {key[0]:3} labels per class  {line}  covered {covered} of {len(some)}  ({models_taken})")
    print(f"90 % intervals that cover: {100 * np.mean([row['covered'] for row in rows]):.1f} % of {len(rows)}")
    print(f"expected calibration error, mean: {np.mean([row['ece'] for row in rows]):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("graphs", nargs="*", default=GRAPHS)
    parser.add_argument("--labels", nargs="+", type=int, default=[20, 5, 2])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--oracle", type=int, default=3, help="networks of the oracle; 0 leaves it out")
    parser.add_argument("--alone", action="store_true", help="leave GCN and label propagation out")
    parser.add_argument("--model", default="auto", help="instead of the default, e.g. logistic, which takes seconds")
    parser.add_argument("--out", type=Path, default=Path("own_graph.csv"))
    parser.add_argument("--commands", action="store_true")
    parser.add_argument("--times", type=int, nargs="+", help="nodes of made-up graphs; nothing else is measured")
    options = parser.parse_args()
    if options.times:
        return show_times(options.times, options.device)
    rows: list[dict[str, Any]] = []
    with options.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for name in options.graphs:
            graph = dfnets.datasets.load(name)
            for per_class in options.labels:
                for draw in range(options.first, options.first + options.draws):
                    rows.append(measure(graph, per_class, draw, options))
                    writer.writerow(rows[-1])
                    file.flush()
                show([row for row in rows if row["graph"] == name and row["labels"] == per_class][-options.draws :])
    return show(rows)


if __name__ == "__main__":
    main()

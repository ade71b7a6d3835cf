"""What offsets of classes are worth to any model: ``python -m benchmarks.class_offsets GRAPH [MODEL ...] [--draws 3]``.

Where as many nodes of each class are labelled, and classes are of different size, predictions lean towards the small
classes. DFNetPlus corrects that by :func:`dfnets.training.class_offsets.class_offsets`; its rivals in the tables are as
their authors describe them, and do not. Here the same correction is applied to all of them, after training: test
accuracy of the networks that validation nodes choose, without it and with it, on the first draws of the protocol.
Baselines have the settings that their search found for the graph, DFNetPlus its default.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import dfnets
from dfnets.datasets import splits
from dfnets.graph import Graph
from dfnets.studies.planning.accuracy import MODEL, OTHER_GRAPHS
from dfnets.studies.planning.group import DEFAULT, TUNED
from dfnets.studies.planning.plan import preset_for
from dfnets.training.class_offsets import class_offsets
from dfnets.training.objective import Nodes

MODELS = ("mlp", "sgc", "gcn", "appnp", "chebyshev", MODEL)


def measure(graph: Graph, name: str, model: str, split: splits.Split, seed: int) -> tuple[float, float]:
    """Test accuracy in percent without offsets and with them."""
    assert graph.labels is not None
    options = {"class_offsets": False} if model == MODEL else {}
    preset = preset_for(model, name, DEFAULT if model == MODEL else TUNED)
    result = dfnets.fit(model, graph, protocol=split, seed=seed, preset=preset, progress=False, **options)
    p = np.maximum(result.predict(rule="validation").per_replica, np.finfo(np.float32).tiny)
    log_p = np.log(p).transpose(1, 0, 2)
    nodes = [Nodes(split.train, split.validation, split.test)]
    shifted = log_p + class_offsets(torch.as_tensor(log_p), graph.labels, nodes)
    right = [(own[split.test, 0].argmax(axis=1) == graph.labels[split.test]).mean() for own in (log_p, shifted)]
    return 100 * right[0], 100 * right[1]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints one row per model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", help="a graph of the contest")
    parser.add_argument("models", nargs="*", default=list(MODELS))
    parser.add_argument("--draws", type=int, default=3)
    given = parser.parse_args(arguments)
    graph = dfnets.datasets.load(given.graph)
    protocol = OTHER_GRAPHS.get(given.graph, "planetoid")
    drawn = given.draws if protocol == "random" else None
    made = splits.make(graph, protocol, seed=0, **({} if drawn is None else {"draws": drawn}))
    table = Table("model", "without", "with offsets", "gain", title=f"{given.graph}, {protocol}, {given.draws} draws")
    for model in given.models:
        pairs = [measure(graph, given.graph, model, made[d % len(made)], d) for d in range(given.draws)]
        without, with_offsets = np.mean(pairs, axis=0)
        gains = np.diff(pairs, axis=1)
        gain = f"{gains.mean():+.2f} ± {gains.std(ddof=1) if len(gains) > 1 else 0:.2f}"
        table.add_row(model, f"{without:.2f}", f"{with_offsets:.2f}", gain)
    Console().print(table)


if __name__ == "__main__":
    main()

"""What the means of DFNetPlus are worth to its rivals: ``python -m benchmarks.ensembles GRAPH [MODEL ...]``.

DFNetPlus is several networks that validation nodes weigh, and it shifts its predictions so that classes are as frequent
as where they are used. Its rivals in the tables are single networks as their authors describe them, and do neither. So
part of its lead could be had by anybody. Here tuned baselines get the same: their predictions are mixed by
:func:`dfnets.training.weighing.member_weights`, and shifted by :func:`dfnets.training.class_offsets.class_offsets`.

Printed is the test accuracy of the networks that validation nodes choose, on the first draws of the protocol, without
offsets and with them: of each baseline, with the settings that its search found, and of the mixture of all of them.
``dfnet-plus`` may be named too, with its default settings; it stays outside the mixture.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

import dfnets
from dfnets.datasets import splits
from dfnets.graph import Graph
from dfnets.report.tables import as_csv
from dfnets.studies.planning.accuracy import MODEL, OTHER_GRAPHS
from dfnets.studies.planning.group import DEFAULT, TUNED
from dfnets.studies.planning.plan import preset_for
from dfnets.studies.showing.document import Table as CsvTable
from dfnets.training.class_offsets import class_offsets
from dfnets.training.objective import Nodes
from dfnets.training.weighing import member_weights

MODELS = ("mlp", "sgc", "gcn", "appnp", "chebyshev", "gprgnn", "arma")
MIXTURE = "mixture of the baselines"
COLUMNS = ("graph", "model", "draws", "without offsets", "std", "with offsets", "gain", "std of the gain")


def predictions(graph: Graph, name: str, model: str, drawn: Sequence[splits.Split]) -> Tensor:
    """(n, R, classes) logarithms of probabilities before any offset, of one network for each split."""
    options = {"class_offsets": False} if model == MODEL else {}
    preset = preset_for(model, name, DEFAULT if model == MODEL else TUNED)
    # Published splits go by their name: they may leave a class out of training, which is refused in one's own.
    published = drawn[0].protocol in graph.splits
    if published:
        graph = graph.with_(splits={drawn[0].protocol: tuple(drawn)})
    protocol = drawn[0].protocol if published else list(drawn)
    result = dfnets.fit(
        model, graph, protocol=protocol, replicas=len(drawn), seed=0, preset=preset, progress=False, **options
    )
    p = np.maximum(result.predict(rule="validation").per_replica, np.finfo(np.float32).tiny)
    return torch.as_tensor(np.log(p).transpose(1, 0, 2))


def mixed(said: Sequence[Tensor], labels: np.ndarray, nodes: Nodes) -> Tensor:
    """(n, 1, classes) of the mixture under which the classes of validation nodes are likely.

    Args:
        said: (n, 1, classes) of each model; the one that is right most often counts for most beforehand.
    """
    wanted = torch.as_tensor(labels[nodes.validation])
    members = sorted(said, key=lambda own: -int((own[nodes.validation, 0].argmax(dim=1) == wanted).sum()))
    weights, temperatures = member_weights(members, labels, [nodes])
    parts = zip(weights[0], temperatures[0], members, strict=True)
    total = sum(w * torch.softmax(log_p.double() / t, dim=-1) for w, t, log_p in parts)
    return torch.log(torch.as_tensor(total).clamp_min(np.finfo(np.float64).tiny))


def accuracies(log_p: Tensor, labels: np.ndarray, nodes: Nodes) -> tuple[float, float]:
    """Test accuracy in percent without offsets and with them."""
    shifted = log_p + torch.as_tensor(class_offsets(log_p, labels, [nodes]))
    test = torch.tensor(nodes.test)
    right = [own[test, 0].argmax(dim=1).numpy() == labels[nodes.test] for own in (log_p, shifted)]
    return 100 * float(right[0].mean()), 100 * float(right[1].mean())


def measure(graph: Graph, name: str, models: Sequence[str], draws: int) -> dict[str, np.ndarray]:
    """(draws, 2) accuracies of each model, and of the mixture of all but DFNetPlus."""
    assert graph.labels is not None
    protocol = OTHER_GRAPHS.get(name, "planetoid")
    options = {"draws": draws} if protocol == "random" else {}
    made = splits.make(graph, protocol, seed=0, **options)
    drawn = [made[d % len(made)] for d in range(draws)]
    found = {model: predictions(graph, name, model, drawn) for model in models}
    rows: dict[str, list[tuple[float, float]]] = {}
    for d, split in enumerate(drawn):
        nodes = Nodes(split.train, split.validation, split.test)
        said = {model: log_p[:, d : d + 1] for model, log_p in found.items()}
        others = [log_p for model, log_p in said.items() if model != MODEL]
        if len(others) > 1:
            said[MIXTURE] = mixed(others, graph.labels, nodes)
        for model, log_p in said.items():
            rows.setdefault(model, []).append(accuracies(log_p, graph.labels, nodes))
    return {model: np.array(own) for model, own in rows.items()}


def table_of(name: str, rows: Mapping[str, np.ndarray]) -> CsvTable:
    """One row per model: means over the draws, and standard deviations."""

    def spread(values: np.ndarray) -> float:
        return float(values.std(ddof=1)) if len(values) > 1 else 0.0

    cells = []
    for model, own in rows.items():
        gains = own[:, 1] - own[:, 0]
        without, shifted = own.mean(axis=0)
        cells.append([name, model, len(own), without, spread(own[:, 0]), shifted, gains.mean(), spread(gains)])
    return CsvTable("ensembles", "The means of DFNetPlus, given to its rivals", list(COLUMNS), cells, "")


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints one row per model, and writes them where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", help="a graph of the contest")
    parser.add_argument("models", nargs="*", default=list(MODELS))
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--csv", type=Path, help="add the rows to this file")
    given = parser.parse_args(arguments)
    made = table_of(given.graph, measure(dfnets.datasets.load(given.graph), given.graph, given.models, given.draws))
    shown = Table(*COLUMNS, title=made.title)
    for row in made.rows:
        shown.add_row(*(f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row))
    Console().print(shown)
    if given.csv is not None:
        before = given.csv.read_text(encoding="utf-8") if given.csv.exists() else ""
        text = as_csv(made)
        given.csv.write_text(before + (text.split("\n", 1)[1] if before else text), encoding="utf-8", newline="")


if __name__ == "__main__":
    main()

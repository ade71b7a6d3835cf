"""Figures 4 and 5 of the paper: t-SNE of the embeddings of GCN, GAT and DFNet, with numbers for "better separated"."""

from __future__ import annotations

from typing import Any

from dfnets.studies import statistics
from dfnets.studies.plan import Group, Study
from dfnets.studies.results import Results
from dfnets.studies.shown import Figure, Panel, Part, Series, Table, Text

MODELS = ("gcn", "gat", "dfnet")
DATASETS = ("pubmed", "cora")
MEASURES = ("silhouette", "purity", "silhouette_plane", "purity_plane", "accuracy")
SEEDS = 3


def group(model: str, dataset: str, *, quick: bool = False) -> Group:
    """A network whose embedding is measured."""
    few: dict[str, Any] = {"seeds": 1, "most_epochs": 100} if quick else {"seeds": SEEDS}
    return Group(model, dataset, measure="embedding", **few)


def plan(quick: bool) -> list[Group]:
    return [group(m, d, quick=quick) for d in (("cora",) if quick else DATASETS) for m in MODELS]


def show(results: Results) -> list[Part]:
    rows, figures = [], []
    for dataset in ("cora",) if results.quick else DATASETS:
        panels = []
        for model in MODELS:
            sample = results.of(group(model, dataset, quick=results.quick))
            row: list[object] = [model, dataset, len(sample.done)]
            for name in MEASURES:
                values = sample.measures(name)
                found = statistics.mean(values) if values else None
                row += [None, None] if found is None else [found.mean, found.std]
            rows.append([*row, sample.note])
            if sample.done:
                first = sample.done[0].measures
                points, classes = first["points"], first["labels"]
                series = Series(model, [x for x, _ in points], [y for _, y in points], kind="points", classes=classes)
                panels.append(Panel(model, [series], ticks=False))
        if panels:
            figures.append(Figure(f"embeddings-{dataset}", f"t-SNE of the embeddings of {dataset}", panels))
    columns = ["model", "dataset", "runs"]
    for name in MEASURES:
        columns += [name.replace("_plane", " of t-SNE"), "std"]
    return [
        Text(
            "The embedding of a node is what the softmax head makes of it, on a log scale, so that all models have as "
            "many dimensions. 3000 nodes that were not trained on, the same for every model, protocol planetoid, rule "
            "validation. Silhouette is between -1 and 1; purity is the share of the 10 nearest neighbours that are of "
            "a node's class. Colours are classes; the points are those of seed 0."
        ),
        Table("embeddings", "How well the classes are apart", [*columns, "note"], rows),
        *figures,
    ]


STUDY = Study(
    "embeddings", "Node embeddings (figures 4 and 5 of the paper)", plan, show, "1 seed, at most 100 epochs, Cora only"
)

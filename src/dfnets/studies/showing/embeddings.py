"""Figures 4 and 5 of the paper: t-SNE of the embeddings of GCN, GAT and DFNet, with numbers for "better separated"."""

from __future__ import annotations

from dfnets.studies.analysing import statistics
from dfnets.studies.analysing.results import Results
from dfnets.studies.planning.embeddings import MODELS
from dfnets.studies.showing.document import Figure, Panel, Part, Series, Table, Text

MEASURES = ("silhouette", "purity", "silhouette_plane", "purity_plane", "accuracy")


def show(results: Results) -> list[Part]:
    """How well the classes are apart, as numbers and as points in the plane."""
    rows, figures, plan = [], [], results.plan.embeddings
    for dataset in plan.datasets():
        panels = []
        for model in MODELS:
            sample = results.of(plan.group(model, dataset))
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
        shown = name.replace("_plane", " of t-SNE")
        columns += [shown, f"{shown}: std"]
    return [
        Text(
            "The embedding of a node is what the softmax head makes of it, on a log scale, so that all models have as "
            "many dimensions. 3000 nodes that were not trained on, the same for every model, protocol planetoid, rule "
            "validation. Silhouette is between -1 and 1; purity is the share of the 10 nearest neighbours that have a "
            "node's class. Colours are classes; the points are those of seed 0."
        ),
        Table("embeddings", "How well the classes are apart", [*columns, "note"], rows),
        *figures,
    ]

"""The paper's tables, as data."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources

# The names of the paper's rows here.
MODELS = {
    "SemiEmb": "semiemb",
    "LP": "lp",
    "DeepWalk": "deepwalk",
    "ICA": "ica",
    "Planetoid*": "planetoid",
    "Chebyshev": "chebyshev",
    "GCN": "gcn",
    "LNet": "lnet",
    "AdaLNet": "adalnet",
    "CayleyNet": "cayleynet",
    "ARMA1": "arma",
    "GAT": "gat",
    "GCN+DenseBlock": "gcn-dense",
    "GAT+DenseBlock": "gat-dense",
    "DFNet": "dfnet",
    "DFNet-ATT": "dfnet-att",
    "DF-ATT": "df-att",
}
FILTERS = {"Chebyshev": "chebyshev", "Cayley": "cayleynet", "Feedback-looped": "feedback-looped"}


@cache
def table(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a table: baselines, complexity, datasets, filters, hyperparameters or low_labels."""
    text = resources.files("dfnets.studies.planning").joinpath("paper", f"table_{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def baseline(model: str, dataset: str) -> float | None:
    """The accuracy that the paper prints for a model of this project.

    >>> baseline("dfnet", "cora"), baseline("gat", "nell")
    (85.2, None)
    """
    return _figure("baselines", MODELS, "model", model, dataset)


def filter_accuracy(model: str, dataset: str) -> float | None:
    """The same of the appendix's comparison of filters, without dense connections."""
    return _figure("filters", FILTERS, "filter", model, dataset)


def low_label(model: str, dataset: str, percent: float) -> float | None:
    """The same of the appendix's tables with few labels.

    >>> low_label("dfnet", "cora", 0.5)
    61.3
    """
    for row in table("low_labels"):
        if row["dataset"] == dataset and abs(float(row["split_percent"]) - percent) < 1e-9 and row.get(model):
            return float(row[model].partition("±")[0])
    return None


def standard_percent(dataset: str) -> float:
    """The label rate that the appendix calls standard: that of the ``planetoid`` split."""
    return float(next(row["split_percent"] for row in table("low_labels") if row["dataset"] == dataset))


def _figure(name: str, names: dict[str, str], column: str, model: str, dataset: str) -> float | None:
    for row in table(name):
        if names[row[column]] == model:
            return float(row[dataset]) if row.get(dataset) else None
    return None

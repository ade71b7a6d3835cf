"""Showing: tables and figures beside the paper's, and the tables of the README and of docs/findings.md."""

from __future__ import annotations

from collections.abc import Callable

from dfnets.studies.analysing.results import Results
from dfnets.studies.showing import (
    ablation,
    accuracy,
    baselines,
    claims,
    complexity,
    embeddings,
    filters,
    low_labels,
    orders,
    stability,
    summary,
)
from dfnets.studies.showing.document import Part

# In the order of the report. Summary and claims run nothing themselves: the others decide them.
SHOW: dict[str, Callable[[Results], list[Part]]] = {
    "summary": summary.show,
    "claims": claims.show,
    "baselines": baselines.show,
    "accuracy": accuracy.show,
    "orders": orders.show,
    "ablation": ablation.show,
    "embeddings": embeddings.show,
    "filters": filters.show,
    "low-labels": low_labels.show,
    "complexity": complexity.show,
    "stability": stability.show,
}

__all__ = ["SHOW"]

"""The paper's theory: filters whose contraction and convergence are measured on the four graphs."""

from __future__ import annotations

from typing import Any, ClassVar

from dfnets.studies.planning.group import PAPER_DATASETS, Group
from dfnets.studies.planning.plan import StudyPlan

GAMMAS = (0.5, 0.7, 0.9, 0.95, 0.99)
AUTHORS_CODE = "high-pass, the authors' code"
# The paper's high-pass, as its text and as its code have it, and the low-pass that its graphs ask for.
FILTERS: dict[str, dict[str, Any]] = {
    "high-pass": {"response": "high-pass", "cut": 0.5},
    "low-pass": {"response": "low-pass", "cut": 0.5},
    AUTHORS_CODE: {"response": "high-pass", "cut": 0.5, "convention": "published"},
}
# (filter, dataset, gamma)
Case = tuple[str, str, float]


class StabilityPlan(StudyPlan):
    """Filters that were designed once for [0, 2], measured on every graph of the paper."""

    name: ClassVar = "stability"
    title: ClassVar = "Convergence and stability (section 3.4 of the paper)"
    left_out: ClassVar = "Cora and Citeseer only"

    def group(self, filter: str, dataset: str, gamma: float) -> Group:
        """A filter on a graph, measured."""
        settings = {**FILTERS[filter], "gamma": gamma}
        return Group(f"{filter} filter", dataset, "one signal", overrides=settings, seeds=1, measure="stability")

    def cases(self) -> list[Case]:
        """(filter, dataset, gamma) of everything that is measured."""
        return cases(PAPER_DATASETS[:2] if self.quick else PAPER_DATASETS)

    def groups(self) -> list[Group]:
        """Everything that the study measures."""
        return [self.group(*case) for case in self.cases()]


def cases(datasets: tuple[str, ...] = PAPER_DATASETS) -> list[Case]:
    """Every filter and gamma on these datasets; the authors' code has one gamma only."""
    return [(f, d, g) for d in datasets for f in FILTERS for g in (GAMMAS if f != AUTHORS_CODE else (0.9,))]

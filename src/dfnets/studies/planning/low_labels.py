"""The appendix's three tables: few labels."""

from __future__ import annotations

from typing import ClassVar

from dfnets.datasets.splits import LOW_LABEL_RATES
from dfnets.studies.planning import paper_tables
from dfnets.studies.planning.group import CITATION, DEFAULT, Group
from dfnets.studies.planning.plan import StudyPlan, tunings

MODELS = ("chebyshev", "gcn", "gat", "lnet", "adalnet", "appnp", "grand", "dfnet", "dfnet-plus")
QUICK_MODELS = ("chebyshev", "gcn", "dfnet", "dfnet-plus")
Case = tuple[str, float | None, str]


class LowLabelsPlan(StudyPlan):
    """Models at the label rates of the appendix; settings that were tuned were so on the standard split."""

    name: ClassVar = "low-labels"
    title: ClassVar = "Few labels (three tables of the appendix)"
    left_out: ClassVar = "2 seeds and at most 100 epochs, four models on Cora at 1 % only"

    def group(self, model: str, dataset: str, rate: float | None, tuning: str = DEFAULT) -> Group:
        """A model at a label rate; None is the standard split, whose runs are shared with the baselines."""
        if rate is None:
            return self.trained(model, dataset, tuning=tuning)
        return self.trained(model, dataset, "low-label", {"rate": rate}, tuning=tuning)

    def cases(self) -> list[tuple[str, float | None]]:
        """(dataset, rate) of everything that is run."""
        if self.quick:
            return [("cora", 0.01)]
        return [(d, rate) for d in CITATION for rate in (None, *LOW_LABEL_RATES[d])]

    def models(self) -> tuple[str, ...]:
        """The models that are compared."""
        return QUICK_MODELS if self.quick else MODELS

    def groups(self) -> list[Group]:
        """Everything that the study runs."""
        return [
            self.group(m, d, rate, tuning)
            for d, rate in self.cases()
            for m in self.models()
            for tuning in tunings(m, d)
        ]


def percent(dataset: str, rate: float | None) -> float:
    """The share of labelled nodes in percent; None is the standard split.

    >>> percent("cora", 0.01), percent("cora", None)
    (1.0, 5.2)
    """
    return paper_tables.standard_percent(dataset) if rate is None else 100 * rate

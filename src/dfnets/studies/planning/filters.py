"""The appendix's comparison of filters: Chebyshev, Cayley and feedback-looped, without dense connections."""

from __future__ import annotations

from typing import ClassVar

from dfnets.studies.planning import paper_tables
from dfnets.studies.planning.group import CITATION, DEFAULT, Group
from dfnets.studies.planning.plan import StudyPlan, tunings

MODELS = tuple(paper_tables.FILTERS.values())
FEEDBACK_LOOPED = "feedback-looped"


class FiltersPlan(StudyPlan):
    """Networks that differ in their filter only."""

    name: ClassVar = "filters"
    title: ClassVar = "Comparison of spectral filters (appendix)"
    left_out: ClassVar = "2 seeds and at most 100 epochs, Cora only"

    def group(self, model: str, dataset: str, tuning: str = DEFAULT) -> Group:
        """A network with one of the filters; those of Chebyshev and Cayley are shared with the baselines."""
        return self.trained(model, dataset, tuning=tuning)

    def cases(self) -> list[tuple[str, str, str]]:
        """(filter, dataset, tuning) of everything that is run."""
        return [(m, d, tuning) for d in self.datasets() for m in MODELS for tuning in tunings(m, d)]

    def datasets(self) -> tuple[str, ...]:
        """The datasets of the comparison."""
        return ("cora",) if self.quick else CITATION

    def groups(self) -> list[Group]:
        """Everything that the study runs."""
        return [self.group(*case) for case in self.cases()]

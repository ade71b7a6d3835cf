"""Planning: which groups of runs every table and figure of the paper needs, at full scale or as a first look."""

from __future__ import annotations

from functools import cached_property

from dfnets.studies.planning.ablation import AblationPlan
from dfnets.studies.planning.accuracy import AccuracyPlan
from dfnets.studies.planning.baselines import BaselinesPlan
from dfnets.studies.planning.complexity import ComplexityPlan
from dfnets.studies.planning.embeddings import EmbeddingsPlan
from dfnets.studies.planning.filters import FiltersPlan
from dfnets.studies.planning.group import Group
from dfnets.studies.planning.low_labels import LowLabelsPlan
from dfnets.studies.planning.orders import OrdersPlan
from dfnets.studies.planning.plan import StudyPlan
from dfnets.studies.planning.stability import StabilityPlan


class Plan:
    """All studies at one scale; what one study plans, another may compare with.

    Args:
        quick: plan the first look of every study instead of the full one.
    """

    def __init__(self, *, quick: bool = False) -> None:
        self.quick = quick
        self.baselines = BaselinesPlan(quick)
        self.accuracy = AccuracyPlan(quick)
        self.orders = OrdersPlan(quick)
        self.ablation = AblationPlan(quick)
        self.embeddings = EmbeddingsPlan(quick)
        self.filters = FiltersPlan(quick)
        self.low_labels = LowLabelsPlan(quick)
        self.complexity = ComplexityPlan(quick)
        self.stability = StabilityPlan(quick)

    @cached_property
    def studies(self) -> dict[str, StudyPlan]:
        """The plans by the name of their study, in the order of the report."""
        plans = (value for value in vars(self).values() if isinstance(value, StudyPlan))
        return {plan.name: plan for plan in plans}

    def groups(self) -> list[Group]:
        """Everything that is to be run; a group may appear in several studies."""
        return [group for plan in self.studies.values() for group in plan.groups()]

    def __repr__(self) -> str:
        return f"Plan(quick={self.quick})"


__all__ = ["Group", "Plan", "StudyPlan"]

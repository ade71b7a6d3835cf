"""Figure 3 of the paper: scaled-normalization and cut-off frequency, both, one, or neither."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from dfnets.studies.planning.group import CITATION, PUBLISHED, Group
from dfnets.studies.planning.plan import StudyPlan

MODELS = ("dfnet", "dfnet-att", "df-att")
BOTH = "both"
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    BOTH: {},
    "cut-off frequency only": {"scaled": False},
    "scaled-normalization only": {"cut": None},
    "neither": {"scaled": False, "cut": None},
}


class AblationPlan(StudyPlan):
    """The paper's three models with and without each of the two techniques."""

    name: ClassVar = "ablation"
    title: ClassVar = "Scaled-normalization and cut-off frequency (figure 3 of the paper)"
    left_out: ClassVar = "2 seeds and at most 100 epochs, DFNet on Cora only"

    def group(self, model: str, dataset: str, variant: str) -> Group:
        """A model with one of the variants; ``both`` is as published, so those runs are shared with the baselines."""
        return self.trained(model, dataset, tuning=PUBLISHED, overrides=VARIANTS[variant])

    def cases(self) -> list[tuple[str, str]]:
        """(model, dataset) of everything that is run."""
        return [("dfnet", "cora")] if self.quick else [(m, d) for d in CITATION for m in MODELS]

    def groups(self) -> list[Group]:
        """Everything that the study runs."""
        return [self.group(m, d, v) for m, d in self.cases() for v in VARIANTS]

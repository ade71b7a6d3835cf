"""What a study runs, at one of two scales: in full, or as a first look that takes minutes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from dfnets import models
from dfnets.studies.planning.budget import searched_trials
from dfnets.studies.planning.group import DEFAULT, LONGER, PAPER_MODELS, PUBLISHED, SEEDS, TUNED, Group

QUICK_SEEDS = 2
QUICK_EPOCHS = 100


@dataclass(frozen=True)
class StudyPlan(ABC):
    """The groups of one table or figure of the paper.

    The scale is bound here, once: everything that a plan makes follows it.

    Attributes:
        quick: plan a first look, with few seeds, points and epochs, instead of the full study.
        name, title: of the study.
        left_out: what the first look leaves out, in words.
    """

    quick: bool = False
    name: ClassVar[str]
    title: ClassVar[str]
    left_out: ClassVar[str] = f"{QUICK_SEEDS} seeds instead of {SEEDS}, at most {QUICK_EPOCHS} epochs"

    @abstractmethod
    def groups(self) -> list[Group]:
        """Everything that the study runs."""

    def trained(
        self,
        model: str,
        dataset: str,
        protocol: str = "planetoid",
        options: Mapping[str, Any] | None = None,
        *,
        tuning: str = DEFAULT,
        seeds: int = SEEDS,
        overrides: Mapping[str, Any] | None = None,
        measure: str | None = None,
    ) -> Group:
        """The runs of a model at this plan's scale.

        Args:
            tuning: where the settings come from, see :class:`Group`.
        """
        return Group(
            model,
            dataset,
            protocol,
            options or {},
            preset=preset_for(model, dataset, tuning),
            overrides=overrides or {},
            tuning=tuning,
            seeds=min(seeds, QUICK_SEEDS) if self.quick else seeds,
            max_epochs=QUICK_EPOCHS if self.quick else None,
            measure=measure,
        )


def preset_for(model: str, dataset: str, tuning: str) -> str:
    """The name of the preset that has the settings of a kind, for a model on a dataset.

    A model without published settings has its default ones instead, and one that was not searched on the dataset its
    published ones; :func:`tunings` says which kinds there are.

    >>> preset_for("gcn", "cora", "tuned"), preset_for("dfnet-att", "nell", "published")
    ('tuned-cora', 'published-nell')
    """
    wanted = {
        DEFAULT: [],
        PUBLISHED: [f"published-{dataset}", "published"],
        TUNED: [f"tuned-{dataset}", f"published-{dataset}", "published"],
        LONGER: [f"longer-{dataset}"],
    }[tuning]
    known = models.presets(model) if model in models.names() else []
    return next((name for name in wanted if name in known), models.DEFAULT)


def tunings(model: str, dataset: str) -> list[str]:
    """The rows of a table that a model has on a dataset: default settings, published ones, and tuned ones if searched.

    A search whose best trial was the default itself leaves no preset, but its trials count.

    >>> tunings("dfnet", "no such dataset"), tunings("gcn", "cora")
    (['default', 'published'], ['default', 'tuned'])
    """
    found = [DEFAULT]
    if model in PAPER_MODELS:
        found.append(PUBLISHED)
    if preset_for(model, dataset, TUNED).startswith("tuned-") or searched_trials(model, dataset) > 0:
        found.append(TUNED)
    return found

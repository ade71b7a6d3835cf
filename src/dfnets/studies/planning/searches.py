"""The searches that stand behind the tuned rows of the tables: one per model and dataset, all with the same budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dfnets import models
from dfnets.studies.planning.accuracy import BASELINES, MODEL, OTHER_GRAPHS
from dfnets.studies.planning.baselines import MODELS, ON_NELL
from dfnets.studies.planning.budget import Budget
from dfnets.studies.planning.group import CITATION, DATASETS, PAPER_MODELS, PUBLISHED
from dfnets.studies.planning.plan import preset_for

# Every model may choose these, so that none is ahead because its features or its loss happened to be scaled well.
COMMON_SPACE: dict[str, Any] = {"features": ["row", "unit", "none"], "class_weights": [None, "balanced"]}
# These are the budget's, and no model may choose them.
TRAINING_LIMITS = ("epochs", "patience")


@dataclass(frozen=True)
class SearchCell:
    """The search of one model on one dataset: one cell of a table.

    Attributes:
        protocol: on whose validation nodes a trial is judged.
    """

    model: str
    dataset: str
    protocol: str

    @property
    def trained(self) -> bool:
        """Whether the model is trained by gradients, and so has epochs."""
        return models.config(self.model).epochs > 0

    @property
    def preset(self) -> str:
        """What is not searched: the published settings of the paper's models, the default of the others."""
        return preset_for(self.model, self.dataset, PUBLISHED)

    @property
    def space(self) -> dict[str, Any]:
        """What is searched: the model's own space, and for a model that is trained the scaling that all may choose."""
        own = {name: values for name, values in models.get(self.model).space.items() if name not in TRAINING_LIMITS}
        common = dict(COMMON_SPACE) if self.trained else {}
        if not models.get(self.model).reads_features:
            common.pop("features", None)
        return own | common

    @property
    def start(self) -> list[dict[str, Any]]:
        """Settings that are tried first: the base preset, the default, and a paper's, best for this dataset."""
        others = models.get(self.model).presets
        paper = f"paper-{self.dataset}" if f"paper-{self.dataset}" in others else "paper"
        wanted = [name for name in (models.DEFAULT, paper) if name in others and name != self.preset]
        explicit = [models.config(self.model, name).model_dump(exclude=set(TRAINING_LIMITS)) for name in wanted]
        return [{}, *explicit]

    def limits(self, budget: Budget) -> dict[str, Any]:
        """The training limit: the same for every model that is trained."""
        return {"epochs": budget.epochs, "patience": budget.patience} if self.trained else {}

    def settings(self, found: dict[str, Any], budget: Budget) -> dict[str, Any]:
        """All settings of the best trial that differ from the defaults of the model's ``Config``.

        A search stops every network after the budget's patience. The runs of a table may take the model's own where it
        is longer, so that nobody is under-trained: a consistency loss, say, grows over hundreds of steps.
        """
        limits = self.limits(budget)
        if limits:
            limits["patience"] = max(budget.patience, models.config(self.model, self.preset).patience or 0)
        made = models.config(self.model, self.preset, **{**found, **limits})
        return made.model_dump(mode="json", exclude_defaults=True)

    def __str__(self) -> str:
        return f"{self.model} on {self.dataset}"


def search_cells(names: Sequence[str] | None = None, datasets: Sequence[str] | None = None) -> list[SearchCell]:
    """Every model with settings on every dataset of a table, cheap ones first; restricted to names where given."""
    tables = [
        *((m, d, "planetoid") for d in CITATION for m in (*MODELS, "feedback-looped")),
        *((m, "nell", "planetoid") for m in ON_NELL),
        *((m, d, protocol) for d, protocol in OTHER_GRAPHS.items() for m in (*BASELINES, MODEL)),
    ]
    for name in names or []:
        models.get(name)
    unknown = [name for name in datasets or [] if name not in {d for _, d, _ in tables}]
    if unknown:
        raise ValueError(
            f"dataset={unknown[0]!r} is in no table; those are {', '.join(sorted({d for _, d, _ in tables}))}"
        )
    cells = [
        SearchCell(m, d, p)
        for m, d, p in tables
        if m in models.names() and models.get(m).space and (not names or m in names) and (not datasets or d in datasets)
    ]
    return sorted(cells, key=lambda cell: (DATASETS[cell.dataset], cell.model not in PAPER_MODELS))

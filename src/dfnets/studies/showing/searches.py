"""The trials of the searches, as a table: what stands behind the tuned settings."""

from __future__ import annotations

import json
from collections.abc import Mapping

from dfnets import models
from dfnets.search import Found
from dfnets.studies.planning.budget import Budget
from dfnets.studies.planning.searches import SearchCell
from dfnets.studies.showing.document import Table

COLUMNS = ["model", "version", "dataset", "protocol", "trial", "state", "replicas", "validation", "settings"]


def trials_table(found: Mapping[SearchCell, Found], budget: Budget, earlier: Table | None = None) -> Table:
    """Every trial of every search, best first; settings that are not listed are those of the search's preset.

    Args:
        earlier: the table of another search, whose rows are kept for models and datasets that were not searched now.
    """
    searched = {(cell.model, cell.dataset) for cell in found}
    place = {name: place for place, name in enumerate(COLUMNS)}
    kept = (
        [row for row in earlier.rows if (row[place["model"]], row[place["dataset"]]) not in searched] if earlier else []
    )
    rows = kept + [
        [
            *(cell.model, models.get(cell.model).version, cell.dataset, cell.protocol),
            *(trial, state, budget.replicas, validation, json.dumps(settings)),
        ]
        for cell, own in found.items()
        for trial, state, validation, settings in zip(
            own.trials["trial"], own.trials["state"], own.trials["validation"], own.trial_settings, strict=True
        )
    ]
    note = (
        "Validation accuracy in percent, the mean over the replicas of each one's best epoch. Pruned trials were given "
        "up below the median of the others, with the accuracy that they had then."
    )
    return Table("search", "Every trial of the search", COLUMNS, rows, note)

"""The trials of the searches, as a table: what stands behind the tuned settings."""

from __future__ import annotations

import json
from collections.abc import Mapping

from dfnets.search import Found
from dfnets.studies.planning.budget import Budget
from dfnets.studies.planning.searches import SearchCell
from dfnets.studies.showing.document import Table

COLUMNS = ["model", "dataset", "protocol", "trial", "state", "replicas", "validation", "settings"]


def trials_table(found: Mapping[SearchCell, Found], budget: Budget) -> Table:
    """Every trial of every search, best first; settings that are not listed are those of the search's preset."""
    rows = [
        [cell.model, cell.dataset, cell.protocol, trial, state, budget.replicas, validation, json.dumps(settings)]
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

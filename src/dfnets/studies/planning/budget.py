"""The search budget: what every model of a table is given, and how many trials stand behind the settings in use."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

# A comparison counts as fair when every model in it had at least this many trials on the dataset.
FAIR_TRIALS = 20


@dataclass(frozen=True)
class Budget:
    """What a search may spend on one model and one dataset; the same for all of them.

    Attributes:
        trials: settings that are tried.
        replicas: networks per trial; a trial's score is the mean of their best validation accuracies.
        epochs: the longest training; nearly all stop earlier.
        patience: epochs without a better validation score after which a network stops.
    """

    trials: int = FAIR_TRIALS
    replicas: int = 3
    epochs: int = 2000
    patience: int = 100


@cache
def _trials() -> dict[tuple[str, str], int]:
    text = resources.files("dfnets.studies.planning").joinpath("trials.csv").read_text(encoding="utf-8")
    return {(row["model"], row["dataset"]): int(row["trials"]) for row in csv.DictReader(text.splitlines())}


def searched_trials(model: str, dataset: str) -> int:
    """How many trials the search of a model on a dataset made; 0 where there was none.

    >>> searched_trials("gcn", "no such dataset")
    0
    """
    return _trials().get((model, dataset), 0)


def is_fair(model: str, trials: int) -> bool:
    """Whether a model had a fair search: enough trials, or all of a space that has fewer points.

    >>> is_fair("gcn", 20), is_fair("gcn", 7)
    (True, False)
    """
    from dfnets import models

    space = models.get(model).space if model in models.names() else {}
    points = 1
    for values in space.values():
        if not isinstance(values, list):
            return trials >= FAIR_TRIALS
        points *= len(values)
    return trials >= min(FAIR_TRIALS, points if space else 0)

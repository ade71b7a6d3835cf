"""Runs that nobody ran, to see what is made of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dfnets.store import Run
from dfnets.studies.plan import Group


def runs(group: Group, mean: float, spread: float = 0.3, **measures: object) -> list[Run]:
    """The runs of a group, with accuracies about a mean; seeds share their luck a little."""
    luck = np.random.default_rng(len(group.model)).normal(0, spread, group.seeds)
    return [
        Run(
            code=group.code,
            dataset=group.dataset,
            data="d",
            protocol=group.protocol_name,
            split="s",
            model=group.model,
            config=group.config,
            seed=seed,
            validation=mean + luck[seed],
            final=mean + luck[seed] - 0.5,
            oracle=mean + luck[seed] + 0.5,
            validation_accuracy=mean,
            epochs=200,
            seconds=1.0,
            machine="a machine",
            versions={"dfnets": "0"},
            settings=group.all_settings(),
            measures=measures,
            finished="2026-01-01T00:00:00+00:00",
        )
        for seed in range(group.seeds)
    ]


def measured(group: Group, **measures: object) -> list[Run]:
    """A measurement that is no accuracy."""
    return runs(group, 0.0, **measures)


def together(parts: Iterable[list[Run]]) -> list[Run]:
    return [run for part in parts for run in part]

"""Runs that nobody ran, to see what is made of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dfnets.store import Run, pack_bits
from dfnets.studies.planning import Group
from dfnets.studies.running import code_version

TESTED = 1000


def runs(group: Group, mean: float, spread: float = 0.3, **measures: object) -> list[Run]:
    """The runs of a group, with accuracies about a mean; seeds share their luck a little.

    The nodes that a run gets right are nested: a better run gets all those of a worse one right, and more. Two models
    then differ on few nodes, as they do where both have learned something.
    """
    luck = np.random.default_rng(len(group.model)).normal(0, spread, group.seeds)
    drawn = group.protocol in ("random", "low-label", "masks")
    return [
        Run(
            code=code_version.of_group(group),
            dataset=group.dataset,
            data="d",
            protocol=group.protocol_name,
            split=f"s{seed}" if drawn else "s",
            model=group.model,
            config=group.config,
            seed=seed,
            validation=mean + luck[seed],
            final=mean + luck[seed] - 0.5,
            oracle=mean + luck[seed] + 0.5,
            validation_accuracy=mean,
            epochs=200,
            seconds=1.0,
            correct=pack_bits(np.arange(TESTED) < (mean + luck[seed]) / 100 * TESTED),
            tested=TESTED,
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

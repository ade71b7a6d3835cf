"""Studies: every table and figure of the paper, run again, and what they say of its claims.

Four rooms, each of which reads from those before it:

- :mod:`dfnets.studies.planning`: which groups of runs a table or figure needs;
- :mod:`dfnets.studies.running`: groups become rows of a store;
- :mod:`dfnets.studies.analysing`: rows become estimates, comparisons and verdicts;
- :mod:`dfnets.studies.showing`: those become tables and figures.
"""

from __future__ import annotations

from collections.abc import Sequence

from dfnets.studies.planning import Group, Plan

CLAIMS = "claims"


def names() -> list[str]:
    """The names that `dfnets reproduce` takes, beside ``all``.

    >>> names()[:3]
    ['claims', 'baselines', 'accuracy']
    """
    return [CLAIMS, *Plan().studies]


def check_names(wanted: Sequence[str]) -> None:
    """Raises an error that lists the studies, if one of the names is none."""
    for name in wanted:
        if name not in (*names(), "all"):
            raise ValueError(f"study={name!r} is not one of {', '.join(map(repr, names()))}, 'all'")


def select_groups(
    plan: Plan,
    studies: Sequence[str] = (),
    *,
    datasets: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
) -> list[Group]:
    """What studies run, restricted to some datasets and models where they are given.

    Args:
        studies: by name; none, ``all``, and ``claims``, which all others decide, stand for every study.
    """
    check_names(studies)
    everything = not studies or bool({"all", CLAIMS} & set(studies))
    chosen = [study for name, study in plan.studies.items() if everything or name in studies]
    groups = [group for study in chosen for group in study.groups()]
    _check_planned("datasets", datasets, {group.dataset for group in groups})
    _check_planned("models", models, {group.model for group in groups})
    return [
        group
        for group in groups
        if (not datasets or group.dataset in datasets) and (not models or group.model in models)
    ]


def _check_planned(option: str, wanted: Sequence[str] | None, planned: set[str]) -> None:
    """Raises where a name is in no run of the studies: nothing would be run, and that would look like success."""
    for name in wanted or ():
        if name not in planned:
            raise ValueError(f"{option}={name!r} is in no run of these studies; they have {', '.join(sorted(planned))}")

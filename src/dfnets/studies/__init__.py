"""Studies: every table and figure of the paper, and what they say of its claims; one file each."""

from __future__ import annotations

from dfnets.studies import (
    ablation,
    accuracy,
    baselines,
    claims,
    complexity,
    embeddings,
    filters,
    low_labels,
    orders,
    stability,
)
from dfnets.studies.plan import Group, Study

# In the order of the report.
STUDIES: dict[str, Study] = {
    module.STUDY.name: module.STUDY
    for module in (
        claims,
        baselines,
        accuracy,
        orders,
        ablation,
        embeddings,
        filters,
        low_labels,
        complexity,
        stability,
    )
}


def chosen(names: list[str]) -> list[Study]:
    """Studies by name, all of them for ``all`` and for none; ``claims`` asks for all, being decided by the others."""
    for name in names:
        if name not in STUDIES and name != "all":
            raise ValueError(f"study={name!r} is not one of {', '.join(map(repr, STUDIES))}, 'all'")
    return [study for study in STUDIES.values() if study.name in names or not names or {"all", "claims"} & set(names)]


def groups_of(
    studies: list[Study], *, quick: bool = False, datasets: list[str] | None = None, models: list[str] | None = None
) -> list[Group]:
    """What studies run, of these datasets and models only where they are given."""
    return [
        group
        for study in studies
        for group in study.plan(quick)
        if (not datasets or group.dataset in datasets) and (not models or group.model in models)
    ]

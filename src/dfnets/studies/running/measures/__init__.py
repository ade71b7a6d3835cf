"""Measurements that are no accuracies, a module each: what it costs to apply a filter, whether it is stable, how well
an embedding keeps the classes apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dfnets.datasets.splits import Split
from dfnets.graph import Graph

if TYPE_CHECKING:
    from dfnets.studies.planning.group import Group


def measure(
    group: Group, graph: Graph | None, seed: int, splits: dict[int, Split], device: str | None
) -> dict[str, Any]:
    """What the measure of a group gives, as JSON can hold it."""
    from dfnets.studies.running.measures import complexity, embedding, stability

    if group.measure == "complexity":
        return complexity.measure(seed=seed, **group.settings)
    assert graph is not None
    if group.measure == "stability":
        return stability.measure(graph, seed=seed, **group.settings)
    return embedding.measure(group.model, graph, splits[seed], seed, group.preset, device, **group.settings)

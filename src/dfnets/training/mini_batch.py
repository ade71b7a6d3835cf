"""Training whose step costs what its batch costs, however large the graph is.

The nodes that train, choose and test, and a number of unlabelled ones, stand for the whole graph. Their filtered rows
are found once, by local push (:mod:`dfnets.local_push`) or in features that were filtered before
(:mod:`dfnets.filtered_features`); after that no step looks at the graph again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from dfnets.filtered_features import FilteredFeatures
from dfnets.graph import Graph
from dfnets.models import Config, Sizes
from dfnets.models.plus_config import DFNetPlusConfig
from dfnets.models.plus_rows import DFNetPlusOnRows
from dfnets.models.row_inputs import PushedFeatures, RowInputs, Source
from dfnets.training.devices import choose_device
from dfnets.training.loop import Trainer
from dfnets.training.objective import Nodes

MODEL = "dfnet-plus"


@dataclass(frozen=True)
class MiniBatch:
    """How the rows of a graph are found, for :func:`dfnets.fit` with ``mini_batch=``.

    Attributes:
        threshold: of the push: smaller is more exact, and takes more work in proportion.
        keep: the most entries that a row of the filter keeps.
        unlabelled: how many nodes without a role are drawn, once, to stand for all of them.
        scored: the most validation nodes, and the most test nodes, that are looked at, drawn at random from those of
            the split: every one of them has rows of its own. An accuracy of 10,000 nodes has a standard error of at
            most half a point.
        filtered: features that were filtered before; then nothing is pushed, and nodes cannot be dropped any more:
            entries of the filtered rows are dropped instead.
    """

    threshold: float = 1e-4
    keep: int = 64
    unlabelled: int = 10_000
    scored: int = 10_000
    filtered: FilteredFeatures | None = None

    def __post_init__(self) -> None:
        for name, least in (("unlabelled", 0), ("scored", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)}: a number of nodes, at least {least}")

    def source(self, graph: Graph) -> Source:
        """Where the rows of a graph come from."""
        if self.filtered is None:
            return PushedFeatures(graph, threshold=self.threshold, keep=self.keep)
        self.filtered.check(graph)
        return self.filtered


def make_mini_batch_trainer(
    model: str,
    config: Config,
    graph: Graph,
    nodes: Sequence[Nodes],
    seeds: Sequence[int],
    options: MiniBatch,
    device: str | torch.device | None = None,
) -> Trainer:
    """The networks before their first step; to the trainer, the nodes that were drawn are all that there are."""
    if model != MODEL or not isinstance(config, DFNetPlusConfig):
        raise ValueError(f"mini_batch trains {MODEL!r}, not {model!r}: leave it out, or take model={MODEL!r}")
    assert graph.labels is not None
    place = choose_device(device)
    nodes = [
        Nodes(own.train, *(_some(part, options.scored, seeds[0]) for part in (own.validation, own.test)))
        for own in nodes
    ]
    known = np.unique(np.concatenate([part for own in nodes for part in (own.train, own.validation, own.test)]))
    others = _others(graph.num_nodes, known, options.unlabelled, seeds[0])
    source = options.source(graph)
    inputs = RowInputs(source, np.concatenate([known, others]), len(known))
    sizes = Sizes(source.num_features, graph.num_classes, graph.num_nodes)
    network = DFNetPlusOnRows(config, sizes, replicas=len(seeds)).to(place)
    renumbered = [
        Nodes(*(np.searchsorted(known, part) for part in (own.train, own.validation, own.test))) for own in nodes
    ]
    return Trainer(network, inputs, graph.labels[known], renumbered, seeds, place)


def _some(nodes: np.ndarray, most: int, seed: int) -> np.ndarray:
    """The nodes, or so many of them where there are more."""
    if len(nodes) <= most:
        return nodes
    return np.sort(np.random.default_rng(seed).choice(nodes, most, replace=False))


def _others(num_nodes: int, known: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Up to so many nodes that are not known, in order; all of them where there are no more."""
    if num_nodes - len(known) <= count:
        return np.setdiff1d(np.arange(num_nodes), known, assume_unique=True)
    rng = np.random.default_rng(seed)
    drawn = np.zeros(0, np.int64)
    while len(drawn) < count:
        more = rng.integers(num_nodes, size=2 * count)
        drawn = np.setdiff1d(np.concatenate([drawn, more]), known)
    return np.sort(rng.choice(drawn, count, replace=False))

"""Whether neighbours are alike, told by their features: for where there are too few labels to tell it by classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dfnets.datasets.features import normalise
from dfnets.graph import Graph
from dfnets.models.band_choice import FULL_CLASSES, MIN_NODES
from dfnets.models.plus_config import DFNetPlusConfig
from dfnets.models.plus_defaults import BALANCE_BELOW
from dfnets.training.calibration import TINY

# Edges that are looked at: more of them say nothing new about a mean.
MOST_EDGES = 20_000
# Where fewer edges than this share join nodes with a feature in common, features say nothing of who is alike.
LEAST_COMMON = 0.05
# From that assortativity on neighbours are alike. It was set between graphs: Texas, Chameleon and Actor, whose edges
# join nodes of unlike classes, have at most 0.002, and Cora, Citeseer, Pubmed, digits, WordNet and debian_packages at
# least 0.1; Amazon Computers has 0.05.
ALIKE = 0.02
NOTHING = (float("nan"), float("nan"))


def feature_assortativity(graph: Graph) -> tuple[float, float]:
    """The correlation of the features at the two ends of an edge, and its standard error over edges.

    sum_e (x_e - m) . (x'_e - m) / sum_e (|x_e - m|^2 + |x'_e - m|^2) / 2 over edges e with ends x_e, x'_e and mean m,
    which is Newman's assortativity coefficient (2003) for vectors: 0 if who is joined says nothing, at most 1. Rows of
    the features are scaled to length 1. NaN where hardly any two neighbours have a feature in common, as with features
    that number the nodes.

    >>> edges, x = np.diag(np.ones(3), 1), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> round(feature_assortativity(Graph(edges + edges.T, features=x))[0], 3)
    0.333
    """
    assert graph.features is not None
    edges = sp.triu(graph.adjacency, 1).tocoo()
    some = np.random.default_rng(0).permutation(edges.nnz)[:MOST_EDGES]
    if not len(some):
        return NOTHING
    rows: Any = normalise(graph.features, "unit")
    one, other = rows[edges.row[some]], rows[edges.col[some]]
    mean = np.asarray((one.sum(axis=0) + other.sum(axis=0)) / (2 * len(some))).ravel()
    common = _dots(one, other)
    alone = (_dots(one, one).mean() + _dots(other, other).mean()) / 2 - mean @ mean
    if np.mean(common != 0) < LEAST_COMMON or alone < TINY:
        return NOTHING
    together = common - one @ mean - other @ mean + mean @ mean
    return float(together.mean() / alone), float(together.std() / np.sqrt(len(some)) / alone)


def settled_band(graph: Graph, config: DFNetPlusConfig) -> str | None:
    """The band of frequencies of DFNetPlus where labels are too few to choose it; None leaves it to them.

    With fewer than ten labels per class, another band than the low one would often be chosen by chance, so where
    neighbours are alike it is the low one. Where they are not, and so few labels have another of their class that even
    an error of each of them tells nothing, it is all frequencies: a node's own features. With more than ten classes
    there are labels enough.
    """
    assert graph.labels is not None
    labels = graph.labels[graph.labels >= 0]
    many = len(labels) >= BALANCE_BELOW * graph.num_classes or graph.num_classes > FULL_CLASSES
    if config.band is not None or many:
        return config.band
    assortativity, error = feature_assortativity(graph)
    if assortativity >= ALIKE:
        return "low"
    told = np.count_nonzero(np.bincount(labels)[labels] > 1)
    return "all" if assortativity + error < ALIKE and told < MIN_NODES else None


def _dots(one: Any, other: Any) -> np.ndarray:
    """(t,) inner products of the rows of two matrices."""
    product = one.multiply(other) if sp.issparse(one) else one * other
    return np.asarray(product.sum(axis=1)).ravel()

"""Graphs with communities, whose true classes a test knows and the model does not."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dfnets import Graph


def communities(
    seed: int = 0,
    *,
    n: int = 240,
    classes: int = 3,
    homophily: float = 0.8,
    separation: float = 0.5,
    features: int = 12,
) -> tuple[Graph, np.ndarray]:
    """A graph without labels, and the class of every node.

    An edge joins two nodes of one class with probability ``homophily``, else any two. Features are a normal cloud
    around the mean of the class, ``separation`` times a normal vector.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, n)
    sources = rng.integers(0, n, 2 * n)
    same = rng.random(2 * n) < homophily
    targets = np.array(
        [
            rng.choice(np.flatnonzero(truth == truth[i])) if s else rng.integers(n)
            for i, s in zip(sources, same, strict=True)
        ]
    )
    edges = sp.coo_array((np.ones(2 * n), (sources, targets)), shape=(n, n)).tocsr()
    edges.setdiag(0)
    x = separation * rng.standard_normal((classes, features))[truth] + rng.standard_normal((n, features))
    return Graph(((edges + edges.T) > 0).astype(np.float64), features=x, name="towns"), truth


def labelled(graph: Graph, truth: np.ndarray, per_class: int, seed: int = 0) -> Graph:
    """The graph with so many labels of each class, drawn at random."""
    rng = np.random.default_rng((seed, 1))
    labels = np.full(len(truth), -1)
    for c in np.unique(truth):
        labels[rng.permutation(np.flatnonzero(truth == c))[:per_class]] = c
    return graph.with_(labels=labels)


def hidden_accuracy(graph: Graph, truth: np.ndarray, predicted: np.ndarray) -> float:
    """In percent, over the nodes without a label."""
    assert graph.labels is not None
    hidden = graph.labels < 0
    return float(100 * np.mean(predicted[hidden] == truth[hidden]))

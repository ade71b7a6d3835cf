"""A graph from points: each joined to its nearest neighbours."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dfnets.graph import Graph

Weights = Literal["one", "gaussian"]
# So many times k points are looked at, where more than k are equally near.
MOST_TIES = 8


def neighbours(X: np.ndarray | sp.csr_array, k: int = 10, *, weights: Weights = "one", **attributes: Any) -> Graph:
    """The symmetric k-nearest-neighbour graph of the rows of X: i and j are joined if either is among the other's k.

    Args:
        X: (n, f) points, dense or sparse; they are the features of the graph unless ``attributes`` has others.
        k: neighbours of each point, itself not counted.
        weights: ``"one"``, or ``"gaussian"``: exp(-d^2 / 2 s^2), d the Euclidean distance and s the mean distance to
            the k-th neighbour.
        attributes: labels, name and the like, for :class:`Graph`.

    >>> neighbours(np.array([[0.0], [1.0], [3.0]]), k=1).adjacency.toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    if weights not in ("one", "gaussian"):
        raise ValueError(f"weights={weights!r} is not one of 'one', 'gaussian'")
    n = X.shape[0]
    if not 1 <= k < n:
        raise ValueError(f"k={k}: with {n} points it is from 1 to {n - 1}")
    distances, indices = _nearest(X, k)
    scale = distances[:, -1].mean()
    values = np.ones(n * k)
    if weights == "gaussian" and scale > 0:
        values = np.exp(-((distances.ravel() / scale) ** 2) / 2)
    one_way = sp.csr_array((values, indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return Graph(one_way.maximum(one_way.T), **{"features": X, **attributes})


def _nearest(X: np.ndarray | sp.csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(n, k) distances and indices of the nearest points; of equally near ones, those with the smallest index.

    Which of them a search finds first depends on the number of its threads, and the graph must not.
    """
    from sklearn.neighbors import NearestNeighbors

    search, n, count = NearestNeighbors().fit(X), X.shape[0], k
    while True:
        count = min(2 * count, n - 1)
        distances, indices = search.kneighbors(n_neighbors=count)
        # Distances are compared by ten digits, since the last ones depend on the order of sums.
        unit = np.where(distances[:, k - 1 : k] > 0, distances[:, k - 1 : k], 1.0)
        near = np.round(distances / unit, 10)
        if count == n - 1 or count >= MOST_TIES * k or not (near[:, -1] <= near[:, k - 1]).any():
            break
    first = np.lexsort((indices, near), axis=1)[:, :k]
    return np.take_along_axis(distances, first, axis=1), np.take_along_axis(indices, first, axis=1)

"""New rows attached to a graph that stays as it is: they read its nodes, and nobody reads them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from dfnets.datasets import neighbours
from dfnets.filters import Filter
from dfnets.graph import Graph
from dfnets.shift import Shift


def row_graph(graph: Any, X: Any, k: int) -> Graph:
    """The given graph, or each row joined to its k nearest ones, with X as features."""
    n = X.shape[0]
    if graph is None:
        if n < 2:
            raise ValueError(f"X has n_samples={n}, 1 sample: rows are joined to others, so at least 2 are needed")
        return neighbours(X, min(k, n - 1), name="rows of X")
    made = as_graph(graph)
    if made.num_nodes != n:
        raise ValueError(
            f"graph has {made.num_nodes} nodes, but X has {n} rows: row i is node i; or give X as one column of node "
            "numbers (integers), with the features in the graph"
        )
    return made.with_(features=X)


def as_graph(graph: Any) -> Graph:
    """The graph of an estimator, made from whatever describes one."""
    return graph if isinstance(graph, Graph) else Graph(graph)


def is_index(graph: Any, X: Any) -> bool:
    """Whether X names nodes of a graph that is given: integers, as a vector or as one column."""
    if graph is None or sp.issparse(X):
        return False
    values = np.asarray(X)
    return values.dtype.kind in "iu" and (values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1))


def as_nodes(graph: Graph, X: Any) -> np.ndarray:
    """X as node numbers, checked."""
    nodes = np.asarray(X).ravel()
    if len(nodes) and (nodes.min() < 0 or nodes.max() >= graph.num_nodes):
        wrong = nodes[(nodes < 0) | (nodes >= graph.num_nodes)][0]
        raise ValueError(f"X names node {wrong}, but the graph has nodes 0 to {graph.num_nodes - 1}")
    return nodes


def attach(graph: Graph, X: Any, k: int) -> tuple[Graph, Shift]:
    """The graph with the rows of X as nodes without edges, and a shift in which they read their nearest training nodes.

    The rows of the training nodes in L^ stay as they are. Row i of the new ones is that of a node with edges of weight
    1 to its k nearest: -1 / sqrt(d_i d_j) for those, 1 - 1 / d_i on the diagonal, d_i = k + 1.
    """
    n, m = graph.num_nodes, X.shape[0]
    known: Any = graph.features
    near = NearestNeighbors(n_neighbors=min(k, n)).fit(known).kneighbors(X, return_distance=False)
    stack = sp.vstack if sp.issparse(X) else np.vstack
    extended = Graph(sp.block_diag((graph.adjacency, sp.csr_array((m, m)))), features=stack([known, X]))
    shift = copy.copy(Shift(graph))
    degree = near.shape[1] + 1
    weights = -1 / np.sqrt(degree * (graph.degrees[near.ravel()] + 1))
    ends = shift.indptr[-1] + near.shape[1] * np.arange(1, m + 1)
    shift.indptr = np.concatenate([shift.indptr, ends]).astype(shift.indptr.dtype)
    shift.indices = np.concatenate([shift.indices, near.ravel()]).astype(shift.indices.dtype)
    shift.values = np.concatenate([shift.values, weights])
    shift.diagonal = np.concatenate([shift.diagonal, np.full(m, 1 - 1 / degree)])
    return extended, shift


def filter_attached(filter: Filter, graph: Graph, X: np.ndarray, k: int, tol: float) -> np.ndarray:
    """h(L^) x at new rows that are attached to a graph, (m, f): the response as a polynomial of the extended shift.

    That shift is not symmetric (block-triangular: the new rows read, and are not read), so the response is expanded in
    Chebyshev polynomials on the graph's interval, which holds the diagonal entries of the new rows as well.
    """
    extended, shift = attach(graph, X, k)
    filter.shift_of(Shift(graph))
    low, high = shift.interval
    coefficients = filter.expansion(tol, (low, high)).coefficients
    matrix = shift.recentred((low + high) / 2).tocsr() * (2 / (high - low))
    before = np.asarray(extended.features, dtype=np.float64)
    total = coefficients[0] * before
    now = matrix @ before
    for coefficient in coefficients[1:]:
        total += coefficient * now
        before, now = now, 2 * (matrix @ now) - before
    return total[graph.num_nodes :]

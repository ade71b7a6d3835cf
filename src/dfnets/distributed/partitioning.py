"""Dividing the nodes of a graph among processes, so that few edges run between them."""

from __future__ import annotations

import importlib.util
from typing import Any, Literal

import numpy as np
from numba import njit
from scipy.sparse.csgraph import breadth_first_order

from dfnets.graph import Graph

# A part may have this much more than its even share of nodes and entries.
SLACK = 1.05
# Over the nodes: the first places them, the others mend (restreaming; Nishimura and Ugander, 2013).
PASSES = 5


def partition(graph: Graph, parts: int, *, method: Literal["auto", "metis", "streaming"] = "auto") -> np.ndarray:
    """(n,) the number of the part that each node belongs to, 0 to ``parts`` - 1.

    Args:
        graph: to be divided.
        parts: how many, one per process.
        method: ``"metis"`` (multilevel, few edges between parts; needs the package pymetis and holds the graph a few
            times over), ``"streaming"`` (a few passes over the nodes by the linear deterministic greedy rule of Stanton
            and Kliot, 2012, little memory), or ``"auto"``: METIS where it is installed.
    """
    if not 1 <= parts <= max(graph.num_nodes, 1):
        raise ValueError(f"parts={parts}: give at least 1 and at most one per node, {graph.num_nodes}")
    if method == "auto":
        method = "metis" if importlib.util.find_spec("pymetis") is not None else "streaming"
    if method == "metis":
        return _metis(graph, parts)
    if method != "streaming":
        raise ValueError(f"method={method!r} is not one of 'auto', 'metis', 'streaming'")
    adjacency = graph.adjacency
    return _greedy(adjacency.indptr, adjacency.indices, _order(graph), parts, SLACK, PASSES)


def _metis(graph: Graph, parts: int) -> np.ndarray:
    try:
        import pymetis
    except ImportError:
        raise ValueError("method='metis' needs the package pymetis: pip install 'dfnets[scale]'") from None
    if parts == 1:
        return np.zeros(graph.num_nodes, dtype=np.int64)
    adjacency = graph.adjacency
    lists = pymetis.CSRAdjacency(adjacency.indptr, adjacency.indices)
    _, found = pymetis.part_graph(parts, adjacency=lists)
    return np.asarray(found, dtype=np.int64)


def _order(graph: Graph) -> np.ndarray:
    """All nodes, breadth first from one of the largest degree in each component: neighbours come close together."""
    seen = np.zeros(graph.num_nodes, dtype=bool)
    pieces = []
    for start in np.argsort(-np.diff(graph.adjacency.indptr), kind="stable"):
        if not seen[start]:
            reached = breadth_first_order(graph.adjacency, start, directed=False, return_predecessors=False)
            seen[reached] = True
            pieces.append(reached)
    return np.concatenate(pieces).astype(np.int64) if pieces else np.zeros(0, dtype=np.int64)


@njit(cache=True)
def _greedy(indptr: Any, indices: Any, order: Any, parts: int, slack: float, passes: int) -> Any:
    """Each node goes where most of its neighbours are, times the share of that part's room that is left.

    In later passes a node is moved by the same rule, now that all of its neighbours have a place.

    Room is counted in entries and nodes together, since a hub is as much work as all its neighbours.
    """
    n = len(order)
    room = slack * (n + indptr[n]) / parts + 1
    taken = np.zeros(parts)
    part = np.full(n, -1)
    for _ in range(passes):
        for node in order:
            size = 1 + indptr[node + 1] - indptr[node]
            if part[node] >= 0:
                taken[part[node]] -= size
            score = np.zeros(parts)
            for place in range(indptr[node], indptr[node + 1]):
                other = part[indices[place]]
                if other >= 0:
                    score[other] += 1
            best, highest = 0, -np.inf
            for p in range(parts):
                # Without neighbours anywhere, the emptiest part.
                value = (score[p] + 1e-3) * (1 - taken[p] / room)
                if value > highest:
                    best, highest = p, value
            part[node] = best
            taken[best] += size
    return part

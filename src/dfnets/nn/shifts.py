"""What a layer accepts as its graph: a Shift, a Graph, or PyG's edge_index."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from torch import Tensor

from dfnets.filters import FeedbackLoopedFilter
from dfnets.graph import Graph
from dfnets.shift import Shift

Edges = Tensor | Graph | Shift


def as_shift(edges: Edges, edge_weight: Tensor | None = None, *, num_nodes: int | None = None) -> Shift:
    """The shift of what a layer was given.

    An ``edge_index`` is checked and turned into a Shift at every call; make the Shift once to train.

    Args:
        edges: a Shift, a Graph, or a (2, edges) ``edge_index`` that lists both directions of each edge.
        edge_weight: (edges,), with an ``edge_index`` only.
        num_nodes: with an ``edge_index``, how many nodes there are.
    """
    if isinstance(edges, Shift):
        return edges
    return Shift(edges if isinstance(edges, Graph) else _graph(edges, edge_weight, num_nodes))


def shift_for(
    filter: FeedbackLoopedFilter, edges: Edges, edge_weight: Tensor | None = None, *, num_nodes: int | None = None
) -> Shift:
    """The same, seen from the filter's centre; refused if the filter does not serve the graph's frequencies."""
    graph = edges if isinstance(edges, Graph | Shift) else _graph(edges, edge_weight, num_nodes)
    shift = filter.shift_of(graph)
    return shift if shift.centre == filter.centre else shift.recentred(filter.centre)


def _graph(edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int | None) -> Graph:
    if edge_index.ndim != 2 or len(edge_index) != 2:
        raise ValueError(f"edge_index has shape {tuple(edge_index.shape)}; it must be (2, number of edges)")
    rows, columns = edge_index.cpu().numpy()
    weights = np.ones(len(rows)) if edge_weight is None else edge_weight.detach().cpu().numpy().astype(np.float64)
    n = int(edge_index.max()) + 1 if num_nodes is None else num_nodes
    return Graph(sp.coo_array((weights, (rows, columns)), shape=(n, n)))

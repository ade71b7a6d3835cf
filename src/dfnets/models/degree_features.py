"""Where a node stands in the graph, as a few columns: how many neighbours it has, and how many these have.

Some classes are those of hubs and of leaves: what is often visited, what is learnt first. Filtered features hardly show
that, since filters of the normalised Laplacian divide by degrees. Degrees as features are an old habit of graph
networks (Cui et al., "On Positional and Structural Node Features for Graph Neural Networks on Non-attributed Graphs",
2022); here the training labels decide whether they are read.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dfnets.graph import Graph
from dfnets.models.band_choice import MAX_NODES, MIN_NODES
from dfnets.models.leave_one_out import leave_one_out_errors

# The columns of :func:`degree_features`.
COLUMNS = 3
# Degrees are read where they predict the labelled nodes, each from the others, better than a guess does by more than
# that many standard errors: of columns that say nothing, one in forty would be.
STANDARD_ERRORS = 2.0


def degree_features(graph: Graph) -> np.ndarray:
    """(n, 3) log(1 + number of neighbours), the mean of that over a node's neighbours, and over theirs.

    >>> path = Graph(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> np.exp(degree_features(path)).round(2)
    array([[2., 3., 2.],
           [3., 2., 3.],
           [2., 3., 2.]])
    """
    adjacency = sp.csr_array(graph.adjacency)
    counts = np.diff(adjacency.indptr)
    pattern = sp.csr_array((np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    columns = [np.log1p(counts)]
    for _ in range(COLUMNS - 1):
        columns.append(pattern @ columns[-1] / np.maximum(counts, 1))
    return np.stack(columns, axis=1)


def tell_classes(columns: np.ndarray, classes: np.ndarray) -> bool:
    """Whether (t, c) columns of labelled nodes, standardised, predict their (t,) classes better than a guess.

    Each node is predicted from the others by a ridge regression, as in :func:`dfnets.models.band_choice.choose_band`.

    >>> tell_classes(np.repeat([[-1.0], [1.0]], 10, axis=0), np.repeat([0, 1], 10))
    True
    >>> tell_classes(np.tile([[-1.0], [1.0]], (10, 1)), np.repeat([0, 1], 10))
    False
    """
    some = np.linspace(0, len(classes) - 1, min(len(classes), MAX_NODES)).astype(np.int64)
    columns, classes = columns[some], classes[some]
    told = np.bincount(classes)[classes] > 1
    if told.sum() < MIN_NODES:
        return False
    gram = columns @ columns.T
    gram = gram / max(np.trace(gram), np.finfo(np.float64).tiny)
    gains = (leave_one_out_errors(np.zeros_like(gram), classes) - leave_one_out_errors(gram, classes))[told]
    return bool(gains.mean() > STANDARD_ERRORS * gains.std() / np.sqrt(len(gains)))

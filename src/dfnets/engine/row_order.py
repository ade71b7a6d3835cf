"""An order of the nodes in which neighbours stand near each other in memory."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from dfnets.shift import Shift


def ordering(shift: Shift) -> np.ndarray:
    """(n,) node numbers, by reverse Cuthill-McKee: make node ``order[i]`` node i before a graph is used much.

    A product reads the rows of a node's neighbours; where those were read shortly before, they come from a cache. For
    two meshes in a shuffled order, products became 1.4 to 2.3 times faster on a CPU; in the order they came in, 1 to
    1.7 times. The engine does not reorder by itself: signals would have to be shuffled in and out at every call.

    >>> from dfnets import Graph
    >>> scattered = Graph.from_edges([3, 0, 4, 1], [0, 4, 1, 2])  # the path 3 - 0 - 4 - 1 - 2
    >>> ordering(Shift(scattered))
    array([2, 1, 4, 0, 3], dtype=int32)
    """
    pattern = sp.csr_array((shift.values, shift.indices, shift.indptr), shape=shift.shape)
    return reverse_cuthill_mckee(pattern, symmetric_mode=True)

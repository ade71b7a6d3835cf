"""Single rows of a filter, found by looking at a part of the graph only, with a proved error.

Row i of h(L^) says how much every node counts for node i. A feedback loop of order one, h = b / (1 - a S) with
S = I - L^ and |a| < 1, has rows y that solve y = a S y + b e_i. *Pushing* starts from y = 0 and the residual
r = b e_i; as long as some node has |r_v| > threshold b sqrt(d_v), its residual is moved to y_v, and a S r_v is passed
on to its neighbours. The equation r = b e_i - (y - a S y) holds all the while. Two things follow.

- The work does not depend on the size of the graph. Since S sqrt(d) = sqrt(d), every push takes at least
  (1 - |a|) threshold b d_v off sum_v sqrt(d_v) |r_v|, which starts at b sqrt(d_i), and visits as many neighbours as
  v has: at most sqrt(d_i) / ((1 - |a|) threshold) visits for edges of weight 1, hubs or not.
- The error is known: the missing part of y is (I - a S)^-1 r. In the end r itself is added to y, which leaves
  a S (I - a S)^-1 r, of norm at most |a| norm(r) / (1 - |a|).

For personalised PageRank in random-walk form this is the push of Andersen, Chung and Lang (2006); keeping the largest
entries of a row and training on them is GRAND+ (Feng et al., 2022).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dfnets.compiled import njit
from dfnets.engine import threads
from dfnets.filters import FeedbackLoopedFilter
from dfnets.graph import Graph
from dfnets.shift import Shift

# Rows that one thread makes before it looks for more; each has vectors of n to work in.
BLOCK = 256
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class FilterRows:
    """The rows of h(L^) at t nodes, each with its largest entries only.

    Attributes:
        matrix: (t, n), sparse.
        error: (t,) a proved bound on norm(row - kept row), what was dropped included.
        dropped: (t,) the share of sum |entries| that was found but not kept.
        visits: (t,) how many neighbours were looked at, each node being a neighbour of its own.
    """

    matrix: sp.csr_array
    error: np.ndarray
    dropped: np.ndarray
    visits: np.ndarray

    def __repr__(self) -> str:
        return (
            f"FilterRows(rows={self.matrix.shape[0]}, entries={self.matrix.nnz}, "
            f"largest error={self.error.max(initial=0):.2g}, mean dropped={self.dropped.mean():.2g})"
        )


class LocalPush:
    """Rows of filters on one graph; see :mod:`dfnets.local_push`.

    Args:
        graph: its shift is made once, in a temporary file where the graph is memory-mapped.
        threshold: smaller is more exact and takes more work, in proportion.
        keep: the most entries of a row that are kept, the largest in absolute value.

    >>> path = Graph(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> push = LocalPush(path, threshold=1e-6)
    >>> rows = push.rows(FeedbackLoopedFilter([0.8], [0.2], centre=1.0), [1])
    >>> rows.matrix.toarray().round(3)
    array([[0.288, 0.529, 0.288]])
    >>> bool(rows.error[0] < 1e-4)
    True
    """

    def __init__(self, graph: Graph, *, threshold: float = 1e-4, keep: int = 64) -> None:
        if not 0 < threshold < 1:
            raise ValueError(f"threshold={threshold:g} must be between 0 and 1; 1e-4 is usual")
        if keep < 1:
            raise ValueError(f"keep={keep}: a row keeps at least one entry")
        self.shift, self.threshold, self.keep = Shift(graph), threshold, keep
        self.roots = np.sqrt(graph.degrees + 1)

    def rows(self, filter: FeedbackLoopedFilter, nodes: Any) -> FilterRows:
        """The rows of one filter.

        Args:
            filter: a feedback loop of order one, as :func:`dfnets.nn.filter_bank.restart_filter` makes them.
            nodes: (t,) node numbers.
        """
        feedback, gain = loop_of(filter)
        nodes = np.asarray(nodes, dtype=np.int64)
        n, t, keep = self.shift.num_nodes, len(nodes), min(self.keep, self.shift.num_nodes)
        if t and not 0 <= nodes.min() <= nodes.max() < n:
            raise ValueError(f"nodes go from {nodes.min()} to {nodes.max()}, but the graph has nodes 0 to {n - 1}")
        columns, values = np.zeros((t, keep), np.int64), np.zeros((t, keep))
        counts, visits = np.zeros(t, np.int64), np.zeros(t, np.int64)
        error, dropped = np.zeros(t), np.zeros(t)

        def work(block: int) -> None:
            part = slice(block * BLOCK, (block + 1) * BLOCK)
            out = [array[part] for array in (columns, values, counts, error, dropped, visits)]
            pattern = self.shift.indptr, self.shift.indices, self.shift.values, self.shift.diagonal
            _push_all(*pattern, self.roots, feedback, gain, self.threshold, nodes[part], *out)

        threads.share(work, range(-(-t // BLOCK)))
        taken = np.arange(keep) < counts[:, None]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        matrix = sp.csr_array((values[taken], columns[taken], indptr), shape=(t, n))
        return FilterRows(matrix, error, dropped, visits)


def loop_of(filter: FeedbackLoopedFilter) -> tuple[float, float]:
    """a and b of a filter b / (1 - a S); any other filter is refused."""
    if filter.p != 1 or filter.q != 0:
        raise ValueError(f"{filter!r} has p={filter.p}, q={filter.q}: only loops with p=1 and q=0 can be pushed")
    # 1 + psi (f - c) with f = 1 - S is (1 + psi (1 - c)) - psi S.
    scale = 1 + float(filter.psi[0]) * (1 - filter.centre)
    feedback, gain = float(filter.psi[0]) / scale, float(filter.phi[0]) / scale
    if not abs(feedback) < 1:
        raise ValueError(f"{filter!r} feeds back {feedback:.4g} times I - L^: pushing needs less than 1")
    return feedback, gain


@njit(cache=True, nogil=True)
def _push_all(
    indptr: Any,
    indices: Any,
    shift: Any,
    diagonal: Any,
    roots: Any,
    feedback: float,
    gain: float,
    threshold: float,
    nodes: Any,
    columns: Any,
    values: Any,
    counts: Any,
    error: Any,
    dropped: Any,
    visits: Any,
) -> None:
    """Every row in turn; vectors of n are made once and only what a row has touched is set back to zero."""
    n = len(roots)
    found, residual = np.zeros(n), np.zeros(n)
    # A node is in the queue once at most, and in the list of touched nodes as well.
    queue, touched = np.empty(n + 1, np.int64), np.empty(n, np.int64)
    waiting, seen = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for row in range(len(nodes)):
        count, visited = _push_one(
            indptr, indices, shift, diagonal, roots, feedback, threshold, nodes[row],
            found, residual, queue, touched, waiting, seen,
        )  # fmt: skip
        some = touched[:count]
        rest = 0.0
        for v in some:
            rest += residual[v] ** 2
            found[v] += residual[v]
        counts[row], lost, dropped[row] = _keep_largest(some, found, columns[row], values[row])
        values[row] *= gain
        visits[row] = visited
        # Every addition to a residual may round off a unit in the last place of a number below 1.
        missing = (abs(feedback) * np.sqrt(rest) + 2 * EPS * visited) / (1 - abs(feedback))
        error[row] = abs(gain) * (missing + lost)
        for v in some:
            found[v] = residual[v] = 0.0
            seen[v] = False


@njit(cache=True, nogil=True)
def _push_one(
    indptr: Any,
    indices: Any,
    shift: Any,
    diagonal: Any,
    roots: Any,
    feedback: float,
    threshold: float,
    source: int,
    found: Any,
    residual: Any,
    queue: Any,
    touched: Any,
    waiting: Any,
    seen: Any,
) -> tuple[int, int]:
    """One row of (I - a S)^-1 into ``found``, what is missing into ``residual``; how many nodes and neighbours."""
    size = len(queue)
    residual[source], touched[0], seen[source] = 1.0, source, True
    queue[0], waiting[source] = source, True
    head, tail, count, visited = 0, 1, 1, 0
    while head != tail:
        u = queue[head]
        head = (head + 1) % size
        waiting[u] = False
        passed = residual[u]
        found[u] += passed
        # What L^ has on its diagonal is what S lacks there.
        residual[u] = feedback * (1 - diagonal[u]) * passed
        if abs(residual[u]) > threshold * roots[u]:
            waiting[u], queue[tail] = True, u
            tail = (tail + 1) % size
        for place in range(indptr[u], indptr[u + 1]):
            v = indices[place]
            residual[v] -= feedback * shift[place] * passed
            if not seen[v]:
                seen[v], touched[count] = True, v
                count += 1
            if not waiting[v] and abs(residual[v]) > threshold * roots[v]:
                waiting[v], queue[tail] = True, v
                tail = (tail + 1) % size
        visited += indptr[u + 1] - indptr[u] + 1
    return count, visited


@njit(cache=True, nogil=True)
def _keep_largest(some: Any, found: Any, columns: Any, values: Any) -> tuple[int, float, float]:
    """The largest entries, by column; how many, the norm of the others, and their share of the sum."""
    keep, entries = len(columns), 0
    sizes = np.empty(len(some))
    for v in some:
        if found[v] != 0.0:
            sizes[entries] = abs(found[v])
            entries += 1
    sizes = sizes[:entries]
    least = np.partition(sizes, entries - keep)[entries - keep] if entries > keep else 0.0
    above = np.sum(sizes > least)
    # Of entries that are equally large, those that were reached first are kept.
    equal, count = keep - above, 0
    squares, rest, total = 0.0, 0.0, np.sum(sizes)
    for v in some:
        size = abs(found[v])
        if size > least or (size == least and size > 0 and equal > 0):
            columns[count] = v
            count += 1
            if size == least:
                equal -= 1
        else:
            squares += size * size
            rest += size
    columns[:count].sort()
    for place in range(count):
        values[place] = found[columns[place]]
    return count, np.sqrt(squares), rest / total if total > 0 else 0.0

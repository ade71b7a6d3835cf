"""The shift of a graph whose edges change, kept up to date in time linear in what a change touches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from dfnets.graph import Graph
from dfnets.shift import Shift

# Free places per row when it is laid out: a share of its entries, and a few for rows that have hardly any.
SPARE_SHARE, SPARE = 0.5, 4


class ChangingShift:
    """L^ = I - D^-1/2 (A + I) D^-1/2 of a graph that changes.

    Every row has free places, so that an edge is put in or taken out without moving other rows; free places hold the
    value 0 and count for nothing in a product. A weight between i and j changes the degrees of both, so all entries of
    rows i and j, and their mirror images, get new values: that, and nothing else, is what an update costs. When a row
    is full all rows are laid out anew with more room, which happens rarely enough not to matter on average.

    The interval is the proved one, (0, 2 - 2 / d_max), with d_max the largest degree that any node has had so far: it
    may grow with an update and never shrinks, so a filter that serves it serves every graph before.

    Args:
        graph: at the start.

    Attributes:
        shift: the operator as it is now; an update changes its arrays, so it is good until the next one.
        layouts: how often the rows have been laid out.

    >>> changing = ChangingShift(Graph(np.array([[0, 1], [1, 0]])))
    >>> changing.update([0], [1], [3.0]).tocsr().toarray().round(3)
    array([[ 0.  , -0.75],
           [-0.75,  0.  ]])
    """

    def __init__(self, graph: Graph) -> None:
        self.num_nodes = graph.num_nodes
        self.layouts = 0
        self._loops = graph.adjacency.diagonal().astype(np.float64)
        self._largest_degree = 1.0
        adjacency = graph.adjacency
        rows = np.repeat(np.arange(self.num_nodes), np.diff(adjacency.indptr))
        apart = rows != adjacency.indices
        counts = np.bincount(rows[apart], minlength=self.num_nodes)
        self._lay_out(rows[apart], adjacency.indices[apart].astype(np.int64), adjacency.data[apart], counts)
        self._refresh(np.arange(self.num_nodes))

    def update(self, rows: Any, columns: Any, weights: Any) -> Shift:
        """Gives edges new weights, 0 to remove one, and returns the shift of the changed graph."""
        ends = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
        values = np.asarray(weights, np.float64)
        done = 0
        while done < len(values):
            done += _set_weights(ends[0][done:], ends[1][done:], values[done:], self._loops, *self._table())
            if done < len(values):
                self._make_room()
        self._refresh(np.unique(np.concatenate(ends)))
        return self.shift

    def _table(self) -> tuple[np.ndarray, ...]:
        return self._starts, self._used, self._indices, self._weights, self._mirror

    def _make_room(self) -> None:
        taken = _taken(self._starts, self._used)
        rows = np.repeat(np.arange(self.num_nodes), self._used)
        self._lay_out(rows, self._indices[taken], self._weights[taken], self._used)

    def _lay_out(self, rows: np.ndarray, columns: np.ndarray, weights: np.ndarray, counts: np.ndarray) -> None:
        self.layouts += 1
        room = counts + (counts * SPARE_SHARE).astype(np.int64) + SPARE
        self._starts = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
        self._used = counts.astype(np.int64)
        firsts = np.concatenate([[0], np.cumsum(counts)])[:-1]
        places = self._starts[rows] + np.arange(len(rows)) - firsts[rows]
        # A free place points to its own row, with the value 0.
        self._indices = np.repeat(np.arange(self.num_nodes), room).astype(np.int64)
        self._weights = np.zeros(self._starts[-1])
        self._mirror = np.full(self._starts[-1], -1)
        self._indices[places], self._weights[places] = columns, weights
        # Sorted by (row, column) and by (column, row), the k-th entries of both orders are each other's mirror images.
        self._mirror[places[np.lexsort((columns, rows))]] = places[np.lexsort((rows, columns))]
        self._values = np.zeros(self._starts[-1])
        if self.layouts == 1:
            self._degrees = np.zeros(self.num_nodes)
            self._diagonal = np.zeros(self.num_nodes)
        else:
            self._refresh(np.arange(self.num_nodes))

    def _refresh(self, touched: np.ndarray) -> None:
        """New values for the rows of these nodes and their mirror images, and a shift that shows them."""
        _set_values(touched, self._loops, self._degrees, self._diagonal, self._values, *self._table())
        if len(touched):
            self._largest_degree = max(self._largest_degree, float(self._degrees[touched].max()))
        shift = Shift.__new__(Shift)
        # Views: what the engine keeps of an operator it keeps by the identity of these arrays, and the last update's
        # must not be taken for this one's.
        shift.indptr, shift.indices = self._starts, self._indices
        shift.values, shift.diagonal = self._values.view(), self._diagonal.view()
        shift.interval, shift.certainty = (0.0, 2 - 2 / self._largest_degree), "proved"
        shift.centre = shift.interval[1] / 2
        self.shift = shift


def _taken(starts: np.ndarray, used: np.ndarray) -> np.ndarray:
    """The places of all entries, row after row."""
    firsts = np.concatenate([[0], np.cumsum(used)])[:-1]
    return np.arange(used.sum()) + np.repeat(starts[:-1] - firsts, used)


@njit(cache=True)
def _find(i: int, j: int, starts: Any, used: Any, indices: Any) -> int:
    """The place of entry (i, j), or -1."""
    for place in range(starts[i], starts[i] + used[i]):
        if indices[place] == j:
            return place
    return -1


@njit(cache=True)
def _remove(place: int, i: int, starts: Any, used: Any, indices: Any, weights: Any, mirror: Any) -> None:
    """Takes an entry out of row i: the last entry of the row gets its place."""
    last = starts[i] + used[i] - 1
    if place != last:
        indices[place], weights[place], mirror[place] = indices[last], weights[last], mirror[last]
        mirror[mirror[place]] = place
    indices[last], weights[last], mirror[last] = i, 0.0, -1
    used[i] -= 1


@njit(cache=True)
def _set_weights(
    rows: Any, columns: Any, new: Any, loops: Any, starts: Any, used: Any, indices: Any, weights: Any, mirror: Any
) -> int:
    """Gives edges their new weights, one after the other; stops before one without room; how many it did."""
    for change in range(len(new)):
        i, j, weight = rows[change], columns[change], new[change]
        if i == j:
            loops[i] = weight
            continue
        place = _find(i, j, starts, used, indices)
        if place >= 0 and weight > 0:
            weights[place] = weights[mirror[place]] = weight
        elif place >= 0:
            # The first removal may move entries of row i only, so the mirror image in row j stays where it is.
            image = mirror[place]
            _remove(place, i, starts, used, indices, weights, mirror)
            _remove(image, j, starts, used, indices, weights, mirror)
        elif weight > 0:
            here, there = starts[i] + used[i], starts[j] + used[j]
            if here == starts[i + 1] or there == starts[j + 1]:
                return change
            indices[here], weights[here], mirror[here] = j, weight, there
            indices[there], weights[there], mirror[there] = i, weight, here
            used[i] += 1
            used[j] += 1
    return len(new)


@njit(cache=True)
def _set_values(
    touched: Any,
    loops: Any,
    degrees: Any,
    diagonal: Any,
    values: Any,
    starts: Any,
    used: Any,
    indices: Any,
    weights: Any,
    mirror: Any,
) -> None:
    """Degrees first, summed anew so that no rounding gathers, then -w_ij / sqrt(d_i d_j) at both places of an edge."""
    for i in touched:
        total = 1.0 + loops[i]
        for place in range(starts[i], starts[i] + used[i]):
            total += weights[place]
        degrees[i] = total
        diagonal[i] = 1 - (1 + loops[i]) / total
    for i in touched:
        for place in range(starts[i], starts[i] + used[i]):
            values[place] = -weights[place] / np.sqrt(degrees[i] * degrees[indices[place]])
            values[mirror[place]] = values[place]
        for place in range(starts[i] + used[i], starts[i + 1]):
            values[place] = 0.0

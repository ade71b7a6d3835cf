"""A graph that changes: where it starts, and which edges get which weight at each later time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from dfnets.graph import Graph
from dfnets.shift import Shift
from dfnets.temporal.changing_shift import ChangingShift


@dataclass(frozen=True)
class Changes:
    """The edges that get another weight at one moment; a weight of 0 removes the edge.

    Attributes:
        rows, columns: the two ends of each edge, in either order, each edge once; an edge from a node to itself is a
            self-loop.
        weights: the new weights, finite and not negative.
    """

    rows: np.ndarray
    columns: np.ndarray
    weights: np.ndarray

    def __post_init__(self) -> None:
        rows, columns = (np.asarray(part, dtype=np.int64) for part in (self.rows, self.columns))
        weights = np.asarray(self.weights, dtype=np.float64)
        if not (rows.ndim == columns.ndim == weights.ndim == 1 and len(rows) == len(columns) == len(weights)):
            shapes = f"{rows.shape}, {columns.shape} and {weights.shape}"
            raise ValueError(f"rows, columns and weights have shapes {shapes}; give one entry of each per edge")
        if not (np.isfinite(weights) & (weights >= 0)).all():
            at = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
            raise ValueError(f"weights[{at}]={weights[at]}: a weight is finite and not negative; 0 removes the edge")
        low, high = np.minimum(rows, columns), np.maximum(rows, columns)
        if len(np.unique(np.stack([low, high]), axis=1).T) < len(low):
            raise ValueError("an edge is listed twice in one Changes: give the weight that it has afterwards, once")
        for name, value in (("rows", rows), ("columns", columns), ("weights", weights)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        """How many edges change."""
        return len(self.weights)


class TemporalGraph:
    """A graph at times 0, 1, ..., T - 1, kept as its first snapshot and the changes that lead to each later one.

    Args:
        start: the graph at time 0.
        changes: what changes from each time to the next; T - 1 of them.

    >>> start = Graph(np.array([[0, 1], [1, 0]]))
    >>> moving = TemporalGraph(start, [Changes([0], [1], [3.0])])
    >>> len(moving), [float(snapshot.degrees[0]) for snapshot in moving.snapshots()]
    (2, [1.0, 3.0])
    """

    def __init__(self, start: Graph, changes: Sequence[Changes]) -> None:
        self.start, self.changes = start, list(changes)
        for t, change in enumerate(self.changes):
            ends = np.concatenate([change.rows, change.columns])
            if len(ends) and not (ends.min() >= 0 and ends.max() < start.num_nodes):
                raise ValueError(
                    f"changes[{t}] names node {int(ends.max() if ends.max() >= start.num_nodes else ends.min())}, but "
                    f"the graph has nodes 0 to {start.num_nodes - 1}; a node that comes later is isolated until then"
                )

    @classmethod
    def from_snapshots(cls, snapshots: Sequence[Graph]) -> TemporalGraph:
        """From the graph at each time; all have the same nodes, in the same order."""
        if not snapshots:
            raise ValueError("snapshots is empty: give at least one Graph")
        sizes = {graph.num_nodes for graph in snapshots}
        if len(sizes) > 1:
            raise ValueError(f"snapshots have {sorted(sizes)} nodes: give every one the same nodes, in the same order")
        changes = [_difference(before.adjacency, after.adjacency) for before, after in pairwise(snapshots)]
        return cls(snapshots[0], changes)

    @classmethod
    def from_edges(
        cls,
        pointers: Any,
        rows: Any,
        columns: Any,
        weights: Any | None = None,
        *,
        num_nodes: int,
        directed: str = "refuse",
    ) -> TemporalGraph:
        """From the edges of all snapshots one after the other; those of time t are pointers[t] to pointers[t + 1].

        Args:
            directed: as for :class:`dfnets.Graph`: ``"mean"`` or ``"max"`` make directed edges undirected.
        """
        graphs = []
        for first, last in pairwise(pointers):
            part = slice(int(first), int(last))
            values = np.ones(part.stop - part.start) if weights is None else np.asarray(weights[part], np.float64)
            matrix = sp.coo_array((values, (rows[part], columns[part])), shape=(num_nodes, num_nodes))
            graphs.append(Graph(matrix, directed=directed))  # type: ignore[arg-type]
        return cls.from_snapshots(graphs)

    def __len__(self) -> int:
        """T, the number of times."""
        return len(self.changes) + 1

    @property
    def num_nodes(self) -> int:
        """n, the same at every time."""
        return self.start.num_nodes

    def shifts(self) -> Iterator[Shift]:
        """The shift at each time, updated in time linear in the change; one is good until the next is asked for."""
        changing = ChangingShift(self.start)
        yield changing.shift
        for change in self.changes:
            yield changing.update(change.rows, change.columns, change.weights)

    def snapshots(self) -> Iterator[Graph]:
        """The graph at each time, made whole; for filters take :meth:`shifts`, which does not do that."""
        adjacency = self.start.adjacency
        yield self.start
        for change in self.changes:
            adjacency = _changed(adjacency, change)
            yield Graph(adjacency, name=self.start.name)

    def interval(self) -> tuple[float, float]:
        """Frequencies that hold those of every snapshot, proved: (0, 2 - 2 / d_max), d_max the largest degree ever."""
        largest = 0.0
        for shift in self.shifts():
            largest = max(largest, shift.interval[1])
        return (0.0, largest)

    def __repr__(self) -> str:
        changed = sum(map(len, self.changes))
        return f"TemporalGraph(times={len(self)}, nodes={self.num_nodes}, changed edges={changed})"


def _difference(before: sp.csr_array, after: sp.csr_array) -> Changes:
    """The edges whose weight is not the same in both."""
    gap = sp.coo_array(sp.triu(after - before))
    keep = gap.data != 0
    rows, columns = gap.coords[0][keep], gap.coords[1][keep]
    return Changes(rows, columns, np.asarray(after[rows, columns]).ravel() if len(rows) else np.zeros(0))


def _changed(adjacency: sp.csr_array, change: Changes) -> sp.csr_array:
    """The adjacency after a change."""
    n = len(adjacency.indptr) - 1
    coordinates = sp.coo_array(adjacency)
    # Entries that change are taken out first, then put in with their new weight.
    low, high = np.minimum(*coordinates.coords), np.maximum(*coordinates.coords)
    changing = np.minimum(change.rows, change.columns) * n + np.maximum(change.rows, change.columns)
    keep = ~np.isin(low.astype(np.int64) * n + high, changing)
    there = change.weights > 0
    twice = there & (change.rows != change.columns)
    rows = np.concatenate([coordinates.coords[0][keep], change.rows[there], change.columns[twice]])
    columns = np.concatenate([coordinates.coords[1][keep], change.columns[there], change.rows[twice]])
    values = np.concatenate([coordinates.data[keep], change.weights[there], change.weights[twice]])
    return sp.csr_array(sp.coo_array((values, (rows, columns)), shape=adjacency.shape))

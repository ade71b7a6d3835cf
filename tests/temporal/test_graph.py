"""Temporal graphs: snapshots and changes are two forms of the same thing."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import dense_graph

from dfnets import Graph, Shift
from dfnets.temporal import Changes, TemporalGraph


def graphs(count: int = 4, n: int = 9) -> list[Graph]:
    return [dense_graph(n, 0.3, seed, weighted=True) for seed in range(count)]


def test_snapshots_come_back() -> None:
    moving = TemporalGraph.from_snapshots(graphs())
    assert len(moving) == 4
    for expected, found in zip(graphs(), moving.snapshots(), strict=True):
        np.testing.assert_allclose(found.adjacency.toarray(), expected.adjacency.toarray(), atol=1e-15)


def test_shifts_are_those_of_the_snapshots_and_one_interval_holds_them_all() -> None:
    moving = TemporalGraph.from_snapshots(graphs())
    low, high = moving.interval()
    for expected, shift in zip(graphs(), moving.shifts(), strict=True):
        whole = Shift(expected).recentred(0.0).tocsr().toarray()
        np.testing.assert_allclose(shift.recentred(0.0).tocsr().toarray(), whole, atol=1e-14)
        frequencies = np.linalg.eigvalsh(whole)
        assert frequencies[0] >= low - 1e-12
        assert frequencies[-1] <= high + 1e-12


def test_from_edges_takes_the_part_of_each_time() -> None:
    moving = TemporalGraph.from_edges(
        [0, 2, 3],
        np.array([0, 1, 0]),
        np.array([1, 0, 2]),
        np.array([2.0, 4.0, 5.0]),
        num_nodes=3,
        directed="mean",
    )
    first, second = (graph.adjacency.toarray() for graph in moving.snapshots())
    assert first[0, 1] == first[1, 0] == 3.0
    assert second[0, 1] == 0
    assert second[0, 2] == 2.5


@pytest.mark.parametrize(
    "rows, columns, weights, message",
    [
        ([0], [1], [np.nan], r"weights\[0\]=nan: a weight is finite"),
        ([0], [1], [-1.0], r"weights\[0\]=-1.0"),
        ([0, 1], [1, 0], [1.0, 2.0], "an edge is listed twice"),
        ([0], [1, 2], [1.0], "one entry of each per edge"),
    ],
)
def test_bad_changes_are_refused(rows: list[int], columns: list[int], weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Changes(np.array(rows), np.array(columns), np.array(weights))


def test_a_node_that_does_not_exist_is_named() -> None:
    with pytest.raises(ValueError, match=r"changes\[0\] names node 9, but the graph has nodes 0 to 8"):
        TemporalGraph(graphs()[0], [Changes(np.array([1]), np.array([9]), np.array([1.0]))])


def test_snapshots_must_have_the_same_nodes() -> None:
    with pytest.raises(ValueError, match="same nodes"):
        TemporalGraph.from_snapshots([dense_graph(4, 0.5, 0), dense_graph(5, 0.5, 0)])
    with pytest.raises(ValueError, match="empty"):
        TemporalGraph.from_snapshots([])

"""A shift that is kept up to date equals the shift of the changed graph, made anew."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import dense_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from dfnets import Graph, Shift
from dfnets.temporal import ChangingShift

N = 7
EDGE = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1), st.sampled_from([0.0, 0.5, 1.0, 3.0]))


def dense(shift: Shift) -> np.ndarray:
    return shift.recentred(0.0).tocsr().toarray()


@settings(deadline=None, max_examples=60)
@given(batches=st.lists(st.lists(EDGE, max_size=12), max_size=6), loops=st.booleans())
def test_equals_the_shift_of_the_changed_graph(batches: list[list[tuple[int, int, float]]], loops: bool) -> None:
    weights = dense_graph(N, 0.4, 1, weighted=True).adjacency.toarray()
    if loops:
        weights[2, 2] = 1.5
    changing = ChangingShift(Graph(weights))
    for batch in batches:
        rows, columns, new = ([edge[k] for edge in batch] for k in range(3))
        shift = changing.update(rows, columns, new)
        for i, j, weight in batch:
            weights[i, j] = weights[j, i] = weight
        expected = Shift(Graph(weights))
        np.testing.assert_allclose(dense(shift), dense(expected), atol=1e-14)
        assert shift.interval[1] >= expected.interval[1] - 1e-15


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_see_every_update(dtype: type) -> None:
    changing = ChangingShift(dense_graph(N, 0.4, 1))
    x = np.random.default_rng(0).random((N, 3)).astype(dtype)
    for weight in (2.0, 0.0, 5.0):
        shift = changing.update([0, 3], [5, 6], [weight, weight])
        np.testing.assert_allclose(shift @ x, shift.tocsr() @ x, rtol=1e-5, atol=1e-6)


def test_a_full_row_gets_more_room_and_rarely() -> None:
    n = 300
    star = Graph.from_edges(np.zeros(3, dtype=np.int64), np.arange(1, 4), num_nodes=n)
    changing = ChangingShift(star)
    for j in range(4, n):
        changing.update([0], [j], [1.0])
    whole = Graph.from_edges(np.zeros(n - 1, dtype=np.int64), np.arange(1, n), num_nodes=n)
    np.testing.assert_allclose(dense(changing.shift), dense(Shift(whole)), atol=1e-14)
    # Rows grow by half each time: far fewer layouts than insertions.
    assert changing.layouts < 15

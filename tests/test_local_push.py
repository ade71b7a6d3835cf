"""Rows by local push, against a dense eigendecomposition; their error bound, their cost, and what keeping few drops."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import dense_graph, random_graph

from dfnets import FeedbackLoopedFilter, Graph, Shift, design, responses
from dfnets.local_push import BLOCK, LocalPush, loop_of
from dfnets.nn.filter_bank import restart_filter

LOOPS = [
    restart_filter(0.1),
    restart_filter(0.4, high=True),
    restart_filter(1.0),
    FeedbackLoopedFilter([-0.3], [0.5], centre=0.3),
]


def exact(filter: FeedbackLoopedFilter, graph: Graph) -> np.ndarray:
    frequencies, vectors = np.linalg.eigh(Shift(graph, centre=0.0).tocsr().toarray())
    return vectors @ (filter.response(frequencies)[:, None] * vectors.T)


def star(leaves: int) -> Graph:
    ends = np.zeros(leaves, np.int64), np.arange(1, leaves + 1)
    return Graph.from_edges(*ends, num_nodes=leaves + 1)


@pytest.mark.parametrize("filter", LOOPS, ids=repr)
@pytest.mark.parametrize("threshold", [1e-2, 1e-4])
@pytest.mark.parametrize("keep", [3, 20, 1000])
def test_the_error_is_within_its_bound(filter: FeedbackLoopedFilter, threshold: float, keep: int) -> None:
    graph = dense_graph(80, 0.06, 1, weighted=True, isolated=7)
    graph = Graph(graph.adjacency + sp.diags_array(np.arange(80) % 3 / 2))
    rows = LocalPush(graph, threshold=threshold, keep=keep).rows(filter, np.arange(80))
    gaps = np.linalg.norm(rows.matrix.toarray() - exact(filter, graph), axis=1)
    # The eigendecomposition rounds too.
    assert (gaps <= rows.error + 1e-13).all()
    # A bound that says nothing would hold as well: it is never far from what happens.
    assert (rows.error <= 12 * gaps + 40 * threshold).all()
    assert (np.diff(rows.matrix.indptr) <= keep).all()


def test_with_room_and_patience_the_rows_are_exact() -> None:
    graph = random_graph(60, 5, 0)
    rows = LocalPush(graph, threshold=1e-12, keep=60).rows(LOOPS[0], np.arange(60))
    np.testing.assert_allclose(rows.matrix.toarray(), exact(LOOPS[0], graph), atol=1e-10)
    assert rows.error.max() < 1e-9
    assert rows.dropped.max() == 0


def test_the_largest_entries_are_kept_and_the_rest_is_told() -> None:
    graph = random_graph(60, 5, 0)
    everything = LocalPush(graph, threshold=1e-6, keep=60).rows(LOOPS[0], [3]).matrix.toarray()[0]
    few = LocalPush(graph, threshold=1e-6, keep=5).rows(LOOPS[0], [3])
    largest = np.sort(np.argsort(-abs(everything))[:5])
    np.testing.assert_array_equal(few.matrix.indices, largest)
    np.testing.assert_array_equal(few.matrix.data, everything[largest])
    assert few.dropped[0] == pytest.approx(1 - everything[largest].sum() / everything.sum())


@pytest.mark.parametrize("n", [300, 3000])
def test_the_work_is_bounded_whatever_the_size_of_the_graph(n: int) -> None:
    graph, threshold = random_graph(n, 6, 0, weighted=False), 1e-3
    nodes = np.arange(0, n, n // 20)
    rows = LocalPush(graph, threshold=threshold).rows(restart_filter(0.2), nodes)
    assert (rows.visits <= np.sqrt(graph.degrees[nodes] + 1) / (0.2 * threshold)).all()


def test_a_hub_is_not_pushed_for_a_trifle() -> None:
    graph = star(2000)
    rows = LocalPush(graph, threshold=1e-2, keep=10).rows(restart_filter(0.2), [5, 0])
    # A leaf gives 0.8 / sqrt(2 * 2001) to the hub, which is below its threshold: none of its 2000 leaves is visited.
    assert rows.visits[0] < 20
    # From the hub itself its leaves are reached, and ten of them are kept.
    assert np.diff(rows.matrix.indptr)[1] == 10
    gaps = np.linalg.norm(rows.matrix.toarray() - exact(restart_filter(0.2), graph)[[5, 0]], axis=1)
    assert (gaps <= rows.error).all()


def test_blocks_of_rows_do_not_disturb_each_other() -> None:
    graph = random_graph(400, 5, 0)
    push = LocalPush(graph)
    nodes = np.arange(BLOCK + 40) % 400
    together = push.rows(LOOPS[0], nodes).matrix.toarray()
    for place in (0, 17, BLOCK - 1, BLOCK, BLOCK + 39):
        alone = push.rows(LOOPS[0], [nodes[place]]).matrix.toarray()[0]
        np.testing.assert_array_equal(together[place], alone)


def test_what_cannot_be_pushed_is_refused() -> None:
    graph = random_graph(20, 4, 0)
    with pytest.raises(ValueError, match="p=1 and q=0"):
        LocalPush(graph).rows(design(responses.low_pass(0.5)), [0])
    with pytest.raises(ValueError, match="pushing needs less than 1"):
        loop_of(FeedbackLoopedFilter([1.5], [0.2], centre=1.0))
    with pytest.raises(ValueError, match="nodes go from 0 to 20"):
        LocalPush(graph).rows(LOOPS[0], [0, 20])
    with pytest.raises(ValueError, match="threshold=0"):
        LocalPush(graph, threshold=0)
    with pytest.raises(ValueError, match="keep=0"):
        LocalPush(graph, keep=0)

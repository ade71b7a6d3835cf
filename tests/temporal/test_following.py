"""Followed signals equal filters made anew at each time, to the tolerance, and the bounds hold."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from conftest import dense_graph

import dfnets
from dfnets import FeedbackLoopedFilter, Graph, Shift
from dfnets.temporal import TemporalGraph, change_bound, follow


def slowly_changing(count: int = 6, n: int = 30) -> TemporalGraph:
    rng = np.random.default_rng(0)
    weights = dense_graph(n, 0.2, 3, weighted=True).adjacency.toarray()
    graphs = []
    for _ in range(count):
        graphs.append(Graph(weights))
        factors = np.exp(0.02 * rng.standard_normal((n, n)))
        weights = weights * (factors + factors.T) / 2
        i, j = rng.integers(0, n, 2)
        weights[i, j] = weights[j, i] = 0 if i == j else rng.random()
    return TemporalGraph.from_snapshots(graphs)


def exactly(filter: FeedbackLoopedFilter, graph: Graph, x: np.ndarray) -> np.ndarray:
    frequencies, vectors = np.linalg.eigh(Shift(graph).recentred(0.0).tocsr().toarray())
    return vectors @ (filter.response(frequencies)[:, None] * (vectors.T @ x))


FILTERS = [
    FeedbackLoopedFilter([0.9], [0.1], centre=1.0),
    dfnets.design(dfnets.responses.low_pass(0.5), p=3, q=2, gamma=0.9),
]


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize(("tol", "method"), [(1e-3, "auto"), (1e-8, "auto"), (1e-3, "recursion"), (1e-11, "recursion")])
def test_every_result_is_within_the_tolerance(filter: FeedbackLoopedFilter, tol: float, method: str) -> None:
    graph = slowly_changing()
    x = np.random.default_rng(1).standard_normal((len(graph), graph.num_nodes, 3))
    x[2, :, 1] = 0
    results = follow(filter, graph, x, tol=tol, method=method)
    for t, (done, snapshot) in enumerate(zip(results, graph.snapshots(), strict=True)):
        gaps = np.linalg.norm(done.signal - exactly(filter, snapshot, x[t]), axis=0)
        assert (gaps <= tol * np.linalg.norm(x[t], axis=0) + 1e-12).all()
        assert done.error <= tol * (1 + 1e-9)


def test_a_graph_that_hardly_changes_costs_hardly_anything() -> None:
    filter, graph = FILTERS[0], slowly_changing()
    x = np.random.default_rng(1).standard_normal(graph.num_nodes)
    first, *later = follow(filter, graph, np.tile(x, (len(graph), 1)), tol=1e-4, method="recursion")
    assert max(step.products for step in later) < first.products
    still = TemporalGraph.from_snapshots([next(graph.snapshots())] * 3)
    *_, last = follow(filter, still, np.tile(x, (3, 1)), tol=1e-4)
    assert last.method == "none"
    assert last.products == 1, "only the residual"


def test_a_recursion_stops_when_its_own_steps_are_small() -> None:
    """A residual in a part of the spectrum where P is small dies out at once; beforehand only max|P| is known."""
    filter, graph = FILTERS[0], slowly_changing(3)
    still = TemporalGraph.from_snapshots([next(graph.snapshots())] * 2)
    x = np.random.default_rng(1).standard_normal(graph.num_nodes)
    frequencies, vectors = np.linalg.eigh(Shift(next(graph.snapshots())).recentred(0.0).tocsr().toarray())
    weak = vectors[:, np.abs(filter.feedback(frequencies)).argmin()]
    _, after = follow(filter, still, np.stack([x, x + weak]), tol=1e-4, method="recursion")
    promised = filter.apply(next(still.snapshots()), x, tol=1e-4, method="recursion", details=True).products
    assert after.products < promised / 4


@pytest.mark.parametrize("filter", FILTERS)
def test_the_change_of_a_result_is_bounded_by_the_change_of_the_graph(filter: FeedbackLoopedFilter) -> None:
    graph = slowly_changing()
    x = np.random.default_rng(2).standard_normal(graph.num_nodes)
    for before, after in pairwise(graph.snapshots()):
        old, new = (exactly(filter, one, x[:, None])[:, 0] for one in (before, after))
        bound = change_bound(filter, Shift(before), Shift(after), x, old)
        assert np.linalg.norm(new - old) <= bound


def test_signals_must_fit() -> None:
    with pytest.raises(ValueError, match=r"signals have shape \(2, 30\); .* 6 times and 30 nodes"):
        next(follow(FILTERS[0], slowly_changing(), np.zeros((2, 30))))

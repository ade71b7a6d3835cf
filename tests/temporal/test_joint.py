"""The joint recursion against a dense loop, and against its response to oscillating signals."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import dense_graph

import dfnets
from dfnets import FeedbackLoopedFilter, Shift
from dfnets.temporal import GraphTimeFilter, TemporalGraph

FILTER = dfnets.design(dfnets.responses.low_pass(0.6), p=2, q=2, gamma=0.8)


def polynomial(coefficients: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    return sum(c * np.linalg.matrix_power(matrix, j) for j, c in enumerate(coefficients))


def test_equals_a_dense_loop_on_a_changing_graph() -> None:
    moving = TemporalGraph.from_snapshots([dense_graph(12, 0.3, seed, weighted=True) for seed in range(5)])
    x = np.random.default_rng(0).standard_normal((5, 12, 2))
    state, expected = np.zeros((12, 2)), []
    for t, graph in enumerate(moving.snapshots()):
        matrix = Shift(graph).recentred(FILTER.centre).tocsr().toarray()
        feedback = -polynomial(np.concatenate([[0.0], FILTER.psi]), matrix)
        state = feedback @ state + polynomial(FILTER.phi, matrix) @ x[t]
        expected.append(state)
    np.testing.assert_allclose(GraphTimeFilter(FILTER).apply(moving, x), expected, atol=1e-12)


@pytest.mark.parametrize("angular_frequency", [0.0, 0.7, np.pi])
def test_an_oscillating_signal_is_multiplied_by_the_response(angular_frequency: float) -> None:
    graph, joint = dense_graph(12, 0.3, 1), GraphTimeFilter(FILTER)
    frequencies, vectors = np.linalg.eigh(Shift(graph).recentred(0.0).tocsr().toarray())
    turns = np.exp(1j * angular_frequency * np.arange(300))
    for k in (0, 5, 11):
        x = turns[:, None] * vectors[:, k]
        y = joint.apply(graph, x.real) + 1j * joint.apply(graph, x.imag)
        # After the start has faded.
        np.testing.assert_allclose(y[-1], joint.response(frequencies[k], angular_frequency) * x[-1], atol=1e-9)


def test_a_start_fades_at_the_rate_of_the_contraction() -> None:
    graph, joint = dense_graph(12, 0.3, 1), GraphTimeFilter(FILTER)
    start = np.random.default_rng(0).standard_normal(12)
    left = np.linalg.norm(joint.apply(graph, np.zeros((20, 12)), start=start), axis=1)
    assert (left <= joint.contraction ** np.arange(1, 21) * np.linalg.norm(start) * (1 + 1e-9)).all()


def test_an_unstable_loop_and_misfits_are_refused() -> None:
    with pytest.raises(ValueError, match="needs less than 1"):
        GraphTimeFilter(FeedbackLoopedFilter([1.5], [1.0], centre=1.0))
    with pytest.raises(ValueError, match=r"signals have shape \(3, 5\)"):
        GraphTimeFilter(FILTER).apply(dense_graph(12, 0.3, 1), np.zeros((3, 5)))
    moving = TemporalGraph.from_snapshots([dense_graph(12, 0.3, 1)])
    with pytest.raises(ValueError, match="2 signals but 1 snapshots"):
        GraphTimeFilter(FILTER).apply(moving, np.zeros((2, 12)))

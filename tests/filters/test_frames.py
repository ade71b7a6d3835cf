"""Wavelet frames: analysis and synthesis against dense matrices, and their proved bounds against spectra."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_graph

from dfnets import Graph, Shift
from dfnets.filters import frames

ALL = {
    "meyer": frames.meyer(3),
    "held": frames.held(3),
    "heat": frames.heat(),
    "mexican hat": frames.mexican_hat(3),
    "own": frames.Frame.fit([lambda f: 1 + 0 * f, lambda f: f], 4),
}
GRAPH = random_graph(50, 4, seed=5)


@pytest.fixture(params=ALL, ids=list(ALL))
def frame(request: pytest.FixtureRequest) -> frames.Frame:
    return ALL[request.param]


def dense(frame: frames.Frame, graph: Graph) -> np.ndarray:
    """(J, n, n): the filters as matrices."""
    values, vectors = np.linalg.eigh(Shift(graph, centre=0.0).tocsr().toarray())
    return np.einsum("ik,jk,lk->jil", vectors, frame.response(np.clip(values, 0, 2)), vectors)


def test_analysis_and_synthesis_are_the_matrices(frame: frames.Frame) -> None:
    matrices = dense(frame, GRAPH)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((GRAPH.num_nodes, 3))
    np.testing.assert_allclose(frame.analyse(GRAPH, x), matrices @ x, atol=1e-11)
    np.testing.assert_allclose(frame.analyse(GRAPH, x[:, 0]), matrices @ x[:, 0], atol=1e-11)
    parts = rng.standard_normal((len(frame), GRAPH.num_nodes, 2))
    expected = np.einsum("jil,jlk->ik", matrices, parts)
    np.testing.assert_allclose(frame.synthesise(GRAPH, parts), expected, atol=1e-11)
    np.testing.assert_allclose(frame.synthesise(GRAPH, parts[..., 0]), expected[:, 0], atol=1e-11)


def test_bounds_hold_on_every_graph(frame: frames.Frame) -> None:
    grid = np.linspace(0, 2, 20001)
    squares = (frame.response(grid) ** 2).sum(axis=0)
    bounds = frame.bounds()
    assert bounds.lower <= squares.min() + 1e-12
    assert squares.max() - 1e-12 <= bounds.upper
    assert bounds.lower == pytest.approx(squares.min(), abs=1e-6)
    assert bounds.upper == pytest.approx(squares.max(), abs=1e-6)
    own = frame.bounds(GRAPH)
    assert bounds.lower - 1e-9 <= own.lower <= own.upper <= bounds.upper + 1e-9
    x = np.random.default_rng(1).standard_normal(GRAPH.num_nodes)
    energy = np.sum(frame.analyse(GRAPH, x) ** 2) / np.sum(x**2)
    assert own.lower * (1 - 1e-9) <= energy <= own.upper * (1 + 1e-9)


@pytest.mark.parametrize("name", ["meyer", "held", "heat", "mexican hat"])
def test_wavelets_are_nearly_tight(name: str) -> None:
    bounds = ALL[name].bounds()
    assert 0.9 < bounds.lower <= 1
    assert 1 <= bounds.upper < 1.1


@pytest.mark.parametrize("tol", [1e-4, 1e-9])
def test_nothing_is_lost(frame: frames.Frame, tol: float) -> None:
    x = np.random.default_rng(2).standard_normal((GRAPH.num_nodes, 2))
    back = frame.invert(GRAPH, frame.analyse(GRAPH, x), tol=tol)
    assert np.linalg.norm(back - x) <= 2 * tol * np.linalg.norm(x)
    np.testing.assert_allclose(frame.invert(GRAPH, frame.analyse(GRAPH, x[:, 0]), tol=1e-9), x[:, 0], atol=1e-7)


def test_single_nodes_and_graphs_without_edges(frame: frames.Frame) -> None:
    for graph in (Graph(np.zeros((1, 1))), Graph(np.zeros((3, 3)))):
        x = np.arange(1.0, graph.num_nodes + 1)
        parts = frame.analyse(graph, x)
        np.testing.assert_allclose(parts, frame.response(0.0)[:, None] * x, atol=1e-12)
        if frame.bounds(graph).lower > 0:
            np.testing.assert_allclose(frame.invert(graph, parts), x, rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: frames.meyer(0), "scales=0"),
        (lambda: frames.heat([]), "times="),
        (lambda: frames.Frame([[np.nan]]), "theta has shape"),
        (lambda: frames.Frame([[1.0]], (1.0, 1.0)), "single frequency"),
        (lambda: frames.meyer(interval=(0.0, 0.5)).analyse(GRAPH, np.ones(50)), "serves frequencies"),
        (lambda: frames.meyer().synthesise(GRAPH, np.ones((2, 50))), "coefficients has shape"),
        (lambda: frames.Frame([[0.0, 1.0]]).invert(GRAPH, np.ones((1, 50))), "common zero"),
    ],
)
def test_bad_arguments_are_refused(call, message: str) -> None:
    if "serves" in message:
        assert Shift(GRAPH).interval[1] > 0.5
    with pytest.raises(ValueError, match=message):
        call()

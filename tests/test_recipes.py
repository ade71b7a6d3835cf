"""Denoising and inpainting against dense solutions, and on signals whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_graph

from dfnets import Graph, Shift, builders, recipes


def test_tikhonov_and_heat_are_their_matrices() -> None:
    graph = random_graph(40, 4, seed=2)
    laplacian = Shift(graph, centre=0.0).tocsr().toarray()
    x = np.random.default_rng(0).standard_normal((40, 2))
    np.testing.assert_allclose(
        recipes.denoise(graph, x, 3.0, tol=1e-10), np.linalg.solve(np.eye(40) + 3 * laplacian, x), atol=1e-8
    )
    values, vectors = np.linalg.eigh(laplacian)
    expected = vectors @ (np.exp(-2 * values)[:, None] * (vectors.T @ x))
    np.testing.assert_allclose(recipes.denoise(graph, x, 2.0, method="heat", tol=1e-10), expected, atol=1e-8)


@pytest.mark.parametrize(("method", "strength"), [("tikhonov", 5.0), ("heat", 3.0), ("wavelet", 2.5)])
def test_noise_goes_and_the_signal_stays(method: str, strength: float) -> None:
    graph = builders.grid(20)
    truth = (graph.coordinates[:, 0] > 9).astype(float) + 0.02 * graph.coordinates[:, 1]
    noisy = truth + 0.3 * np.random.default_rng(0).standard_normal(400)
    clean = recipes.denoise(graph, noisy, strength, method=method)
    assert clean.dtype == noisy.dtype
    assert np.linalg.norm(clean - truth) < 0.75 * np.linalg.norm(noisy - truth)


def test_inpainting_is_harmonic_and_keeps_what_is_known() -> None:
    graph = random_graph(60, 6, seed=4)
    adjacency = graph.adjacency.toarray()
    rng = np.random.default_rng(0)
    known = rng.random(60) < 0.4
    known[np.diff(graph.adjacency.indptr) == 0] = True
    x = rng.standard_normal((60, 2))
    y = recipes.inpaint(graph, np.where(known[:, None], x, np.nan), known, tol=1e-12)
    np.testing.assert_array_equal(y[known], x[known])
    laplacian = np.diag(adjacency.sum(axis=1)) - adjacency
    expected = np.linalg.solve(laplacian[np.ix_(~known, ~known)], -laplacian[np.ix_(~known, known)] @ x[known])
    np.testing.assert_allclose(y[~known], expected, atol=1e-9)
    np.testing.assert_array_equal(recipes.inpaint(graph, x, np.ones(60, dtype=bool)), x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: recipes.denoise(builders.path(3), np.ones(3), -1.0), "strength=-1.0"),
        (lambda: recipes.denoise(builders.path(3), np.ones(3), method="magic"), "method='magic'"),
        (lambda: recipes.inpaint(builders.path(3), np.ones(3), [1, 0, 1]), "known has shape"),
        (lambda: recipes.inpaint(builders.path(3), np.ones(2), np.ones(3, dtype=bool)), "x has shape"),
        (
            lambda: recipes.inpaint(Graph(np.zeros((2, 2))), [1.0, 0.0], np.array([True, False])),
            "1 nodes are not joined",
        ),
    ],
)
def test_bad_arguments_are_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()

"""Lanczos against dense eigendecomposition, and the random-start bound against its own failure probability."""

from __future__ import annotations

import numpy as np
import pytest

from dfnets import spectrum


def diagonal(values: np.ndarray):
    return lambda x: values * x


def test_lanczos_is_a_similarity() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((30, 30))
    matrix = matrix + matrix.T
    d, off, basis = spectrum.lanczos(lambda x: matrix @ x, rng.standard_normal(30), 12)
    np.testing.assert_allclose(basis @ basis.T, np.eye(12), atol=1e-13)
    np.testing.assert_allclose(basis @ matrix @ basis.T, np.diag(d) + np.diag(off, 1) + np.diag(off, -1), atol=1e-12)


def test_lanczos_stops_when_the_space_is_exhausted() -> None:
    values = np.repeat([1.0, 2.0, 5.0], 10)
    d, off, _ = spectrum.lanczos(diagonal(values), np.ones(30), 20)
    assert len(d) == 3
    np.testing.assert_allclose(np.linalg.eigvalsh(np.diag(d) + np.diag(off, 1) + np.diag(off, -1)), [1, 2, 5])


def test_a_residual_would_have_been_fooled_but_the_bound_is_not() -> None:
    # One eigenvalue far out among many: few steps barely see it, and the Ritz value stays below it.
    values = np.concatenate([np.linspace(0, 1, 20000), [1.02]])
    ritz, bound = spectrum.largest_eigenvalue(diagonal(values), len(values), steps=40, failure=1e-10)
    assert ritz < 1.02 <= bound


def test_the_bound_fails_no_more_often_than_it_says() -> None:
    values = np.linspace(0, 1, 500)
    failure = 0.05
    misses = 0
    for seed in range(200):
        _, bound = spectrum.largest_eigenvalue(diagonal(values), 500, steps=8, failure=failure, seed=seed)
        misses += bound < values[-1]
    assert misses <= 200 * failure


def test_the_bound_is_that_of_the_theorem() -> None:
    # Kuczynski and Wozniakowski: 1.648 sqrt(400) exp(-59 sqrt(e)) = 1e-10 for 30 steps, so e = (26.5211 / 59)^2.
    ritz, bound = spectrum.largest_eigenvalue(diagonal(np.linspace(0, 1, 400)), 400, steps=30, failure=1e-10)
    assert bound / ritz == pytest.approx(1.253227198, rel=1e-7)


def test_too_few_steps_bound_nothing() -> None:
    assert spectrum.largest_eigenvalue(diagonal(np.linspace(0, 1, 500)), 500, steps=4, failure=1e-10)[1] == np.inf


def test_density_weights() -> None:
    values = np.repeat([0.0, 1.0], [30, 10])
    atoms, weights = spectrum.density(diagonal(values), 40, probes=400)
    assert weights[atoms > 0.5].sum() == pytest.approx(0.25, abs=0.02)

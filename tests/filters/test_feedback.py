"""The feedback-looped filter on real graphs."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest

import dfnets
from dfnets import Shift, responses
from dfnets.filters.products import Products

METHODS = ("recursion", "cg", "chebyshev")


@pytest.fixture(scope="module")
def low_pass() -> dfnets.FeedbackLoopedFilter:
    return dfnets.design(responses.low_pass(0.5), 5, 3, 0.9, method="least-squares")


@pytest.mark.parametrize("method", METHODS)
def test_cora_against_dense_eigendecomposition(cora, low_pass, method: str) -> None:
    values, vectors = np.linalg.eigh(Shift(cora, centre=0.0).tocsr().toarray())
    x = np.random.default_rng(0).standard_normal((cora.num_nodes, 4))
    expected = vectors @ (low_pass.response(values)[:, None] * (vectors.T @ x))
    done = low_pass.apply(cora, x, tol=1e-10, method=method, details=True)
    error = np.linalg.norm(done.signal - expected, axis=0) / np.linalg.norm(x, axis=0)
    assert error.max() <= 1e-10
    assert done.products <= low_pass.costs(1e-10 / 4, Shift(cora).interval)[method].products


@pytest.mark.parametrize("name", ["citeseer", "mesh"])
@pytest.mark.parametrize("method", METHODS)
def test_the_predicted_products_reach_the_tolerance(
    name: str, method: str, low_pass, request: pytest.FixtureRequest
) -> None:
    graph = request.getfixturevalue(name)
    shift = Shift(graph)
    x = np.random.default_rng(0).standard_normal((graph.num_nodes, 2))
    expected = low_pass.apply(shift, x, tol=1e-12, method="chebyshev")
    for tol in (1e-2, 1e-6):
        done = low_pass.apply(shift, x, tol=tol, method=method, details=True)
        assert (np.linalg.norm(done.signal - expected, axis=0) <= tol * np.linalg.norm(x, axis=0)).all()
        assert done.products <= low_pass.costs(tol / 4, shift.interval)[method].products


@pytest.mark.parametrize("method", METHODS)
def test_at_most_six_signals_are_held_at_once(mesh, low_pass, method: str) -> None:
    shift = Shift(mesh)
    x = np.random.default_rng(0).standard_normal((mesh.num_nodes, 64)).astype(np.float32)
    low_pass.apply(shift, x[:, :1], tol=1e-2, method=method)  # whatever is made once for a graph is made here
    tracemalloc.start()
    y = low_pass.apply(shift, x, tol=1e-2, method=method)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert y.nbytes == x.nbytes
    assert (x.nbytes + peak) / x.nbytes <= 6.0


def test_the_recursion_is_the_papers(low_pass, cora) -> None:
    shift = Shift(cora, centre=low_pass.centre)
    dense = shift.tocsr()
    x = np.random.default_rng(1).standard_normal((cora.num_nodes, 2))

    def polynomial(coefficients: np.ndarray, y: np.ndarray) -> np.ndarray:
        total, power = np.zeros_like(y), y
        for coefficient in coefficients:
            power = dense @ power
            total = total + coefficient * power
        return total

    state = x
    for got in itertools.islice(low_pass.iterates(Products(shift), x), 5):
        np.testing.assert_allclose(got, state, rtol=0, atol=1e-12)
        state = -polynomial(low_pass.psi, state) + low_pass.phi[0] * x + polynomial(low_pass.phi[1:], x)


def test_iterations_may_be_given(low_pass, cora) -> None:
    x = np.random.default_rng(1).standard_normal(cora.num_nodes)
    limit = low_pass.apply(cora, x, tol=1e-12)
    for method in METHODS:
        errors = []
        for iterations in (0, 3, 10, 30):
            done = low_pass.apply(cora, x, method=method, iterations=iterations, details=True)
            assert done.iterations == iterations
            errors.append(np.linalg.norm(done.signal - limit) / np.linalg.norm(x))
            assert errors[-1] <= done.error * (1 + 1e-9)
        assert errors == sorted(errors, reverse=True)


def test_a_filter_that_contracts_nowhere_is_still_applied_otherwise(cora) -> None:
    f = dfnets.design(responses.low_pass(0.8), method="minimax", gamma=None)
    assert f.certificate().contraction >= 1 or f.certificate().costs["recursion"].iterations > 1000
    unstable = dfnets.FeedbackLoopedFilter([0.0, 4.0], [1.0], 1.0)
    x = np.ones(cora.num_nodes)
    with pytest.raises(ValueError, match=r"\|P\| reaches 4, and the recursion converges only below 1"):
        unstable.apply(cora, x, method="recursion")
    np.testing.assert_allclose(
        unstable.apply(cora, x, method="cg", tol=1e-10),
        unstable.apply(cora, x, method="chebyshev", tol=1e-10),
        atol=1e-7,
    )


def test_a_negative_denominator_is_handled(cora) -> None:
    # The centre lies outside the interval and 1 - P = 1 - (frequency - 3)^2 is negative on all of it.
    f = dfnets.FeedbackLoopedFilter([0.0, -1.0], [1.0], 3.5, (0.0, 2.0))
    assert f.certificate().denominator[1] < 0
    x = np.random.default_rng(2).standard_normal(cora.num_nodes)
    np.testing.assert_allclose(
        f.apply(cora, x, method="cg", tol=1e-10), f.apply(cora, x, method="chebyshev", tol=1e-10), atol=1e-7
    )


def test_a_narrow_filter_uses_the_lanczos_interval(cora) -> None:
    interval = Shift(cora, lmax="lanczos").interval
    f = dfnets.design(responses.high_pass(0.8), interval=interval)
    assert interval[1] < Shift(cora).interval[1]
    y = f.apply(cora, np.ones(cora.num_nodes), details=True)
    assert y.products > 0


@pytest.mark.parametrize(
    ("psi", "phi", "centre", "message"),
    [
        ([], [1.0], 1.0, "psi must be a vector of at least 1"),
        ([np.nan], [1.0], 1.0, "psi"),
        ([1.0], [], 1.0, "phi"),
        ([1.0], [[1.0]], 1.0, "phi"),
        ([1.0], [1.0], np.inf, "centre=inf"),
    ],
)
def test_bad_coefficients_are_refused(psi, phi, centre, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dfnets.FeedbackLoopedFilter(psi, phi, centre)

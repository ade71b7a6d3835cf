"""Tails against the exact Chebyshev coefficients, and expansions against the functions that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ive

import dfnets
from dfnets import responses
from dfnets.filters.expansion import TooNarrow, expand
from dfnets.filters.polynomials import from_unit, sampled_series

INTERVAL = (0.0, 1.9)


@pytest.mark.parametrize("time", [0.5, 30.0, 20000.0])
def test_the_tail_of_heat_is_that_of_bessel_functions(time: float) -> None:
    # exp(-t (1 + s) h) = sum of 2 (-1)^k exp(-t h) I_k(t h) T_k(s), h half the interval.
    half = INTERVAL[1] / 2
    exact = 2 * ive(np.arange(4000), time * half)
    tail = responses.heat(time).tail(INTERVAL)
    assert tail is not None
    for n in (1, 5, 20, 100, 700, 1500):
        left = exact[n:].sum()
        assert left <= tail(n) * (1 + 1e-12)
        if left > 1e-14:
            assert np.log(tail(n)) <= np.log(left) + 0.2 * abs(np.log(left)) + 7


@pytest.mark.parametrize(
    "f",
    [
        dfnets.LanczosFilter(responses.pagerank(0.01)),
        dfnets.LanczosFilter(responses.interpolated([0.3, 0.9, 1.1], [1.0, -0.5, 0.2])),
        dfnets.LanczosFilter(responses.low_pass(1.95)),
        dfnets.design(responses.low_pass(0.4), gamma=0.98, method="refit"),
        dfnets.ArmaFilter([0.3, 1 + 2j], [1.3, 1.05j], constant=0.4),
        dfnets.CayleyFilter([0.3, 0.4 + 0.2j, 0.1], zoom=7.0),
        dfnets.ChebyshevFilter(np.ones(9)),
    ],
    ids=lambda f: repr(f)[:24],
)
def test_tails_bound_the_coefficients(f: dfnets.filters.Filter) -> None:
    tail = f.tail(INTERVAL)
    assert tail is not None
    exact = np.abs(sampled_series(f.response, INTERVAL, 2**15))
    for n in (2, 10, 40, 150):
        assert exact[n : 2**13].sum() <= tail(n) * (1 + 1e-9) + 1e-11


@pytest.mark.parametrize("tol", [1e-2, 1e-6, 1e-9])
def test_an_expansion_is_within_its_tolerance(tol: float) -> None:
    f = dfnets.design(responses.heat(300.0), 4, 4, 0.999, method="refit")
    found = f.expansion(tol, INTERVAL)
    grid = np.cos(np.linspace(0, np.pi, 40001))
    error = np.polynomial.chebyshev.chebval(grid, found.coefficients) - f.response(from_unit(grid, INTERVAL))
    assert found.proved
    assert np.abs(error).max() <= found.error <= tol


def test_what_jumps_is_refused_at_once() -> None:
    calls = []
    with pytest.raises(TooNarrow, match="jumps"):
        expand(calls.append, INTERVAL, 1e-3, responses.low_pass(0.5).tail(INTERVAL))  # type: ignore[arg-type]
    assert not calls
    assert len(dfnets.LanczosFilter(responses.low_pass(1.95)).expansion(1e-9, INTERVAL).coefficients) == 1

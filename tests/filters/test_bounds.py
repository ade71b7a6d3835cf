"""Proved bounds against functions whose extremes and zeros are known, and against dense grids."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial.chebyshev import chebmul, chebval

from dfnets.filters import bounds
from dfnets.filters.polynomials import chebyshev_series, complex_roots

number = st.floats(-2, 2)


@settings(max_examples=60, deadline=None)
@given(c=st.lists(number, min_size=1, max_size=10), d=st.lists(number, min_size=1, max_size=6), lift=st.floats(1e-6, 1))
def test_extremes_hold_and_are_tight(c: list[float], d: list[float], lift: float) -> None:
    s = np.cos(np.linspace(0, np.pi, 20001))
    top, bottom = chebval(s, c), chebval(s, d)
    d = [d[0] - bottom.min() + lift, *d[1:]]
    ratio = top / chebval(s, d)
    low, high = (float(part[0]) for part in bounds.extremes([np.array(c)], [np.array(d)]))
    size = np.abs(ratio).max()
    assert low <= ratio.min() + 1e-11 * size
    assert ratio.max() - 1e-11 * size <= high
    if lift > 1e-2:  # the grid sees all of the peak
        assert high - low <= (ratio.max() - ratio.min()) * (1 + 1e-3) + 1e-9 * (1 + size)


def test_a_peak_that_no_grid_sees_is_found() -> None:
    # 1 / ((s - a)^2 + e^2) is e^-2 at a and half of that at a distance of e.
    a, e = 0.123456789, 1e-5
    denominator = np.array(chebmul([-a, 1.0], [-a, 1.0]))
    denominator[0] += e**2
    _, high = bounds.extremes([np.ones(1)], [denominator])
    assert high[0] == pytest.approx(1 / e**2, rel=1e-3)
    assert high[0] >= 1 / e**2 * (1 - 1e-5)


def test_a_zero_of_the_denominator_is_infinity() -> None:
    low, high = bounds.extremes([np.ones(1), np.ones(1)], [np.array([0.5, 1.0]), np.array([2.0, 1.0])])
    assert (low[0], high[0]) == (-np.inf, np.inf)
    assert (low[1], high[1]) == pytest.approx((1 / 3, 1.0))


@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("inside", [0.3, 0.9, 0.99])
def test_an_ellipse_is_bounded_up_to_the_pole_and_not_beyond(gap: float, inside: float) -> None:
    pole = np.array([1 + gap, 1.0])  # zero at -(1 + gap)
    reach = 1 + gap + np.sqrt(gap * (2 + gap))
    rho = 1 + (reach - 1) * inside
    nearest = 1 + gap - (rho + 1 / rho) / 2
    found = bounds.largest_on_ellipse(np.ones(1), pole, rho)
    assert 1 / nearest <= found * (1 + 1e-9)
    assert found <= 3 / nearest
    assert bounds.largest_on_ellipse(np.ones(1), pole, 1 + (reach - 1) * 1.05) == np.inf
    pair = np.array([1 + gap**2, 0.0, 0.0]) + np.array([-0.5, 0, 0.5])  # s^2 + gap^2: zeros at +-i gap
    assert bounds.largest_on_ellipse(np.ones(1), pair, 1.0 + 3 * gap) == np.inf


def test_series_are_exact_for_a_centre_far_away() -> None:
    # (mu - 1e6)^3 about a centre of -1e6 is frequency^3 on [0, 2e-3]: nothing may be lost to cancellation.
    centre = -(2.0**20)
    series = chebyshev_series(np.array([-(2.0**60), 3 * 2.0**40, -3 * 2.0**20, 1.0]), centre, (0.0, 2.0**-9))
    half = 2.0**-10
    np.testing.assert_allclose(series, half**3 * np.array([2.5, 3.75, 1.5, 0.25]), rtol=1e-15)


def test_roots_with_a_leading_coefficient_next_to_nothing() -> None:
    roots = complex_roots(np.array([1.0101, 1.0, 0.0, 1e-18]))
    assert np.abs(roots + 1.0101).min() < 1e-12
    np.testing.assert_allclose(np.sort(complex_roots(np.array([-0.5, 0.0, 0.5])).real), [-1, 1], atol=1e-6)
    assert len(complex_roots(np.array([3.0, 0.0]))) == 0


@pytest.mark.parametrize("seed", range(5))
def test_a_cell_bounds_what_lies_in_it(seed: int) -> None:
    # Six wide cells: the value at the middle says little, so slope and curvature must carry the bound.
    rng = np.random.default_rng(seed)
    c, d = rng.standard_normal(6), np.array([3.0, *rng.uniform(-0.4, 0.4, 4), 0.0])
    n, m = bounds.Rows.of([c], width=6), bounds.Rows.of([d], width=6)
    k = np.arange(6)
    table = np.stack([part for row in (c, d) for part in (row, k * row)])[:, :, None].transpose(1, 0, 2)
    radius = np.pi / 12
    middle = (2 * np.arange(6) + 1) * radius
    below, above, _, _ = bounds._cell_bounds(n, m, table, np.zeros(6, dtype=int), middle, radius)
    t = middle[:, None] + np.linspace(-radius, radius, 201)
    ratio = chebval(np.cos(t), c) / chebval(np.cos(t), d)
    assert (below[:, None] <= ratio).all()
    assert (ratio <= above[:, None]).all()
    assert np.isfinite(above).all()
    # Without the curvature alone, a cell about an extreme would be too small by what it bends.
    assert (above - ratio.max(axis=1)).max() < 20


def test_a_cell_about_an_extreme_allows_for_its_curvature() -> None:
    # T_4 in the cell about t = pi / 4, where its slope is zero: only curvature tells of the values at the ends.
    n, d = bounds.Rows.of([np.eye(1, 5, 4)[0]], width=5), bounds.Rows.of([np.ones(1)], width=5)
    k = np.arange(5)
    rows = [part for row in (n.coefficients[0], d.coefficients[0]) for part in (row, k * row)]
    table = np.stack(rows)[:, :, None].transpose(1, 0, 2)
    below, above, _, _ = bounds._cell_bounds(n, d, table, np.zeros(1, dtype=int), np.array([np.pi / 4]), 0.1)
    assert below[0] <= -1
    assert above[0] >= np.cos(4 * (np.pi / 4 + 0.1))

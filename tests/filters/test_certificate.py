"""Certificates against brute force on fine grids, and against what graphs really do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfnets
from dfnets import Shift, responses
from dfnets.filters import Cost
from dfnets.filters.certificate import _clenshaw_curtis, measure

coefficient = st.floats(-2, 2, allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(
    psi=st.lists(coefficient, min_size=1, max_size=6),
    phi=st.lists(coefficient, min_size=1, max_size=5),
    centre=st.floats(0, 2),
    top=st.floats(0.1, 2),
)
def test_extremes_are_not_missed(psi: list[float], phi: list[float], centre: float, top: float) -> None:
    f = dfnets.FeedbackLoopedFilter(psi, phi, centre, (0.0, top))
    grid = np.linspace(0, top, 20001)
    ranges = f.ranges((0.0, top))
    sampled = np.abs(f.feedback(grid)).max()
    assert sampled <= ranges.contraction * (1 + 1e-12) + 1e-15
    assert ranges.contraction <= sampled + 1e-5 * (1 + sampled)
    denominator = 1 - f.feedback(grid)
    assert ranges.denominator == pytest.approx((denominator.min(), denominator.max()), abs=1e-5 * (1 + sampled))
    if not ranges.has_pole:
        gains = np.abs(f.response(grid))
        assert gains.max() <= ranges.gain * (1 + 1e-9) + 1e-12
        assert np.abs(1 - f.response(grid)).max() <= ranges.distance * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("name", ["cora", "citeseer", "mesh"])
def test_measured_contraction_is_below_the_certificate(name: str, request: pytest.FixtureRequest) -> None:
    graph = request.getfixturevalue(name)
    f = dfnets.design(responses.low_pass(0.5), 5, 3, 0.9)
    proved = f.certificate(graph).contraction
    assert proved <= f.certificate().contraction * (1 + 1e-12)
    # P as a filter without feedback, applied again and again: its growth tends to the largest |P| on the spectrum.
    shift = Shift(graph)
    feedback = dfnets.FeedbackLoopedFilter([0.0], np.concatenate([[0.0], -f.psi]), f.centre)
    x = np.random.default_rng(0).standard_normal(graph.num_nodes)
    growth = 0.0
    for _ in range(15):
        y = feedback.apply(shift, x, method="recursion", iterations=1)
        growth = np.linalg.norm(y) / np.linalg.norm(x)
        assert growth <= proved
        x = y / np.linalg.norm(y)
    assert growth >= 0.5 * proved


def test_true_spectrum_of_cora(cora) -> None:
    values = np.linalg.eigvalsh(Shift(cora, centre=0.0).tocsr().toarray())
    f = dfnets.design(responses.high_pass(0.5), 5, 3, 0.9)
    certificate = f.certificate(cora)
    assert np.abs(f.feedback(values)).max() <= certificate.contraction
    assert np.abs(f.response(values)).max() <= certificate.gain


def test_recursion_counts() -> None:
    # gamma^t = tol: 44 iterations for 1e-2, 132 for 1e-6, times the distance of the start
    f = dfnets.design(responses.low_pass(0.5), 5, 3, 0.9, method="least-squares")
    for tol, least in ((1e-2, 44), (1e-6, 132)):
        cost = f.certificate(tol=tol).costs["recursion"]
        assert isinstance(cost, Cost)
        assert least <= cost.iterations <= least + 3
        assert cost.products == 3 + 5 * cost.iterations


def test_errors_against_a_fine_grid() -> None:
    f = dfnets.design(responses.band_pass(0.5, 1.2), 6, 5, 0.95, method="iterative", transition=0.05)
    grid = np.linspace(0, 2, 400001)
    outside = (np.abs(grid - 0.5) >= 0.05) & (np.abs(grid - 1.2) >= 0.05)
    error = np.abs(f.response(grid) - f.target(grid))
    errors = f.certificate().errors
    assert errors.linf == pytest.approx(error[outside].max(), rel=1e-4)
    assert errors.l2 == pytest.approx(np.sqrt(np.mean(error[outside] ** 2)), rel=1e-4)
    passing = outside & (f.target(grid) == 1)
    assert errors.pass_ripple == pytest.approx(error[passing].max(), rel=1e-4)
    assert errors.stop_ripple == pytest.approx(error[outside & ~passing].max(), rel=1e-4)


def test_quadrature_is_exact_for_polynomials() -> None:
    nodes, weights = _clenshaw_curtis(9)
    for power in range(9):
        assert weights @ nodes**power == pytest.approx((1 + (-1) ** power) / (2 * (power + 1)), abs=1e-14)


def test_a_polynomial_of_equal_cost_is_compared() -> None:
    certificate = dfnets.design(responses.low_pass(1.0), method="minimax", centre="free").certificate(tol=1e-4)
    cost = certificate.costs[certificate.cheapest]
    peer = dfnets.ChebyshevFilter.fit(responses.low_pass(1.0), cost.products)
    expected = measure(peer.response, peer.target, (0.0, 2.0), 0.1)
    assert certificate.polynomial == expected


def test_a_filter_that_is_no_ideal_step_has_no_ripple() -> None:
    errors = dfnets.design(responses.heat(1.0), 3, 2, 0.9, method="iterative").certificate().errors
    assert errors.pass_ripple is None
    assert errors.stop_ripple is None
    assert errors.linf < 0.01


def test_float32_rounding_is_part_of_it() -> None:
    f = dfnets.design(responses.high_pass(0.5), 5, 3, 0.99, method="iterative")
    certificate = f.certificate()
    rounded = dfnets.FeedbackLoopedFilter(f.psi.astype(np.float32), f.phi.astype(np.float32), f.centre)
    grid = np.linspace(0, 2, 1001)
    assert certificate.float32_contraction >= np.abs(rounded.feedback(grid)).max()
    assert certificate.float32_contraction == pytest.approx(certificate.contraction, abs=1e-5)
    assert certificate.float32_change >= np.abs(rounded.response(grid) - f.response(grid)).max() * 0.99
    assert 0 < certificate.float32_change < 1e-4


def test_poles_and_their_margin() -> None:
    # 1 - P = 1 + 0.5 mu about 1: the pole is at mu = -2, frequency -1, one away from the interval
    certificate = dfnets.FeedbackLoopedFilter([0.5], [1.0], 1.0).certificate()
    assert certificate.poles == pytest.approx([-1.0])
    assert certificate.pole_margin == pytest.approx(1.0)
    assert certificate.denominator == pytest.approx((0.5, 1.5))
    assert certificate.stable


def test_a_pole_inside_is_told_with_every_method() -> None:
    certificate = dfnets.FeedbackLoopedFilter([2.0], [1.0], 1.0).certificate()
    assert not certificate.stable
    assert certificate.pole_margin == pytest.approx(0)
    assert all("pole in [0, 2]" in cost for cost in certificate.costs.values())
    assert certificate.cheapest is None
    assert certificate.gain == np.inf


def test_the_table_can_be_read() -> None:
    from rich.console import Console

    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(dfnets.design(responses.low_pass(0.5)).certificate().table())
    text = console.export_text()
    for word in ("largest |P|", "the recursion converges", "pass / stop ripple", "products", "float32"):
        assert word in text

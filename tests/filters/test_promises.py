"""Tolerances and certificates where they are hardest to keep: narrow responses, gains, |P| near 1, hubs, centres."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from conftest import random_graph, star
from hypothesis import given, settings
from hypothesis import strategies as st

import dfnets
from dfnets import Graph, Shift, builders, responses
from dfnets.filters import Cost, Filter

GRAPH = random_graph(80, 4, seed=1)
SMOOTH = np.sqrt(GRAPH.degrees + 1)  # frequency 0, where narrow low-pass responses have their peak


def error_of(f: Filter, graph: Graph, x: np.ndarray, y: np.ndarray) -> float:
    """The largest norm(y - h(L^) x) / norm(x), by dense eigendecomposition in float64."""
    values, vectors = np.linalg.eigh(Shift(graph, centre=0.0).tocsr().toarray())
    x, y = (np.asarray(part, dtype=np.float64).reshape(graph.num_nodes, -1) for part in (x, y))
    expected = vectors @ (f.response(np.clip(values, 0, 2))[:, None] * (vectors.T @ x))
    return float((np.linalg.norm(y - expected, axis=0) / np.linalg.norm(x, axis=0)).max())


@pytest.mark.parametrize(
    ("f", "tol"),
    [
        (dfnets.LanczosFilter(responses.heat(20000)), 1e-6),
        (dfnets.design(responses.pagerank(1e-6), p=1, q=0, gamma=1 - 1e-6, method="least-squares"), 0.01),
        (dfnets.design(responses.heat(1e4), gamma=1 - 1e-5, method="least-squares"), 0.01),
        (dfnets.LanczosFilter(responses.pagerank(1e-6)), 1e-4),
        (dfnets.CayleyFilter([0.5, 0.25], zoom=1000), 1e-6),
        (dfnets.ArmaFilter([-1e-5], [1.00001], centre=1.0), 1e-5),
        (dfnets.ChebyshevFilter(np.eye(1, 1201, 1200)[0]), 1e-6),
    ],
)
def test_narrow_responses_are_not_missed(f: Filter, tol: float) -> None:
    done = f.apply(GRAPH, SMOOTH, tol=tol, details=True)
    assert done.proved
    assert error_of(f, GRAPH, SMOOTH, done.signal) <= done.error <= tol * (1 + 1e-12)


def test_a_python_function_is_estimated_and_said_to_be() -> None:
    f = dfnets.LanczosFilter(lambda frequency: np.exp(-frequency))
    done = f.apply(GRAPH, SMOOTH, details=True)
    assert not done.proved
    assert error_of(f, GRAPH, SMOOTH, done.signal) <= 1e-6


@pytest.mark.parametrize("method", ["recursion", "cg", "chebyshev"])
@pytest.mark.parametrize("graph", [GRAPH, star(3000)], ids=["random", "star"])
def test_float32_keeps_its_tolerance_near_the_unit_circle(method: str, graph: Graph) -> None:
    f = dfnets.design(responses.low_pass(1.52734), p=2, q=4, gamma=0.99, method="least-squares")
    x = np.random.default_rng(0).standard_normal((graph.num_nodes, 2)).astype(np.float32)
    x[:, 0] = np.sqrt(graph.degrees + 1)
    y = f.apply(graph, x, tol=1.18e-6, method=method)
    expected = f.apply(graph, x.astype(np.float64), tol=1e-9, method="chebyshev")
    assert (np.linalg.norm(y - expected, axis=0) <= 1.18e-6 * np.linalg.norm(x.astype(float), axis=0)).all()


def test_a_gain_that_float32_cannot_hold_is_refused_with_what_it_can() -> None:
    f = dfnets.FeedbackLoopedFilter([0.0, 0.5], [12000.0, 1.0])
    x = SMOOTH.astype(np.float32)
    with pytest.raises(ValueError, match="smallest tolerance is about") as refusal:
        f.apply(GRAPH, x, tol=1e-5)
    smallest = float(str(refusal.value).split("is about ")[1].split(",")[0])
    y = f.apply(GRAPH, x, tol=smallest)
    assert error_of(f, GRAPH, x, y) <= smallest
    assert error_of(f, GRAPH, x, f.apply(GRAPH, x.astype(np.float64), tol=1e-5)) <= 1e-5


def test_the_rounding_of_float32_is_not_counted_as_nothing() -> None:
    # A hub adds up thousands of equal terms: in float32 that alone is off by more than 1e-6, whatever the degree.
    graph = star(4000)
    f = dfnets.ChebyshevFilter([0.0, 1.0])
    shift = Shift(graph)
    units = f.rounding("chebyshev", shift, 1e-3)
    assert units * 2.0**-24 > 1e-4
    x = np.ones(4000, dtype=np.float32)
    done = f.apply(graph, x, tol=2e-7, details=True)
    expected = f.apply(graph, x.astype(np.float64), tol=1e-10)
    assert np.linalg.norm(done.signal - expected) <= 2e-7 * np.linalg.norm(x)


def test_what_float64_cannot_hold_is_refused() -> None:
    f = dfnets.design(responses.low_pass(0.5), gamma=0.999, method="refit")
    smallest = f.smallest_tolerance(GRAPH)
    assert 1e-13 < smallest < 1e-8
    assert error_of(f, GRAPH, SMOOTH, f.apply(GRAPH, SMOOTH, tol=smallest)) <= smallest
    with pytest.raises(ValueError, match="smallest"):
        f.apply(GRAPH, SMOOTH, tol=1e-13, method="cg")


@pytest.mark.parametrize("gamma", [0.5, 0.7, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("response", [responses.low_pass(0.5), responses.high_pass(0.5)], ids=["low", "high"])
def test_the_smallest_tolerance_is_held(response: responses.Response, gamma: float) -> None:
    """What rounding leaves of it to the method may be below what the response is known to."""
    f = dfnets.design(response, 5, 3, gamma, method="least-squares")
    for graph in (builders.path(200), builders.ring(99), builders.grid(12, 13)):
        x, smallest = np.ones(graph.num_nodes), f.smallest_tolerance(graph)
        assert smallest < 1e-9
        assert error_of(f, graph, x, f.apply(graph, x, tol=smallest)) <= smallest


def test_a_tiny_leading_coefficient_spoils_no_root() -> None:
    f = dfnets.design(responses.low_pass(0.860008), p=2, q=0, gamma=0.99, method="least-squares")
    assert abs(f.psi[1]) < 1e-10
    assert f.certificate().pole_margin == pytest.approx(1 / 0.99 - 1, rel=1e-6)
    grid = np.linspace(0, 2, 1001)
    np.testing.assert_allclose(dfnets.ArmaFilter.from_filter(f).response(grid), f.response(grid), atol=1e-9)


def exact_values(coefficients: np.ndarray, centre: float, points: np.ndarray) -> list[Fraction]:
    """A polynomial in exact rational arithmetic."""
    values = []
    for point in points:
        mu, total = Fraction(float(point)) - Fraction(centre), Fraction(0)
        for c in reversed(coefficients):
            total = total * mu + Fraction(float(c))
        values.append(total)
    return values


@settings(max_examples=40, deadline=None)
@given(
    roots=st.lists(st.floats(-3, 3), min_size=1, max_size=5),
    phi=st.lists(st.floats(-2, 2), min_size=1, max_size=4),
    centre=st.sampled_from([0.0, 1.0, 2.0, 50.0, -1000.0]),
    low=st.floats(0, 1.9),
    width=st.sampled_from([1e-9, 1e-4, 0.05, 1.0]),
)
def test_certificates_hold_in_exact_arithmetic(
    roots: list[float], phi: list[float], centre: float, low: float, width: float
) -> None:
    interval = (low, min(low + width, 2.0))
    middle = sum(interval) / 2
    psi = np.polynomial.polynomial.polyfromroots([middle - centre + root * width for root in roots])
    psi = psi[1:] / psi[0] if psi[0] else psi[1:]
    if not np.isfinite(psi).all():
        return
    f = dfnets.FeedbackLoopedFilter(psi, phi, centre, interval)
    ranges = f.ranges(interval)
    points = np.concatenate([interval, np.random.default_rng(0).uniform(*interval, 40)])
    bottom = exact_values(np.concatenate([[1.0], f.psi]), centre, points)
    top = exact_values(f.phi, centre, points)
    assert max(abs(1 - d) for d in bottom) <= ranges.contraction
    assert ranges.denominator[0] <= min(bottom)
    assert max(bottom) <= ranges.denominator[1]
    if not ranges.has_pole:
        assert max(abs(n / d) for n, d in zip(top, bottom, strict=True)) <= ranges.gain
        assert max(abs(1 - n / d) for n, d in zip(top, bottom, strict=True)) <= ranges.distance


@pytest.mark.parametrize("wanted", [responses.high_pass(0.7), responses.heat(3.0)], ids=str)
def test_fixed_lanczos_steps_have_a_bound_on_graphs_without_edges(wanted: responses.Response) -> None:
    done = dfnets.LanczosFilter(wanted, steps=21).apply(Graph(np.zeros((5, 5))), np.ones(5), tol=1e-3, details=True)
    exact = float(wanted(0.0))
    assert 0 <= done.error < 1e-3
    np.testing.assert_allclose(done.signal, exact, atol=done.error + 1e-15)


def test_no_work_without_end() -> None:
    slow = dfnets.design(responses.low_pass(0.5), gamma=0.9999, method="refit")
    with pytest.raises(ValueError, match=r"products with the shift for tol=0.01, above .* method='chebyshev' needs"):
        slow.apply(GRAPH, SMOOTH, tol=0.01, method="recursion")
    zoomed = dfnets.CayleyFilter([0.5, 0.25], zoom=1000)
    assert zoomed.costs(1e-6, (0.0, 2.0))["jacobi"].iterations > 10**6
    with pytest.raises(ValueError, match="jacobi"):
        zoomed.apply(GRAPH, SMOOTH, tol=0.1, method="jacobi")
    with pytest.raises(ValueError, match=r"basis of .* GiB"):
        dfnets.LanczosFilter(responses.heat(1e6))._check_basis(40_000, 10**7)
    tracemalloc.start()
    certificate = dfnets.design(responses.low_pass(0.5), gamma=1 - 1e-10, method="refit").certificate()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert certificate.costs["recursion"].products > 10**9
    assert isinstance(certificate.costs["chebyshev"], str)
    assert peak < 2**26


def test_work_can_be_watched_and_allowed() -> None:
    f = dfnets.design(responses.low_pass(0.5), method="refit")
    seen: list[tuple[int, int]] = []
    f.apply(GRAPH, SMOOTH, method="recursion", progress=lambda done, total: seen.append((done, total)))
    cost = f.costs(1e-6, Shift(GRAPH).interval)["recursion"]
    assert isinstance(cost, Cost)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == pytest.approx(cost.products, rel=0.02)
    with pytest.raises(ValueError, match="max_products=5"):
        f.apply(GRAPH, SMOOTH, max_products=5)


def test_long_work_is_announced(monkeypatch) -> None:
    monkeypatch.setattr("dfnets.filters.plan.ENTRIES_PER_SECOND", 1.0)
    with pytest.warns(UserWarning, match=r"may take about \d+ minutes"):
        dfnets.design(responses.low_pass(0.5), method="refit").apply(GRAPH, SMOOTH)


def test_signals_without_columns_or_nodes() -> None:
    f = dfnets.design(responses.low_pass(0.5), method="refit")
    assert f.apply(GRAPH, np.zeros((GRAPH.num_nodes, 0))).shape == (GRAPH.num_nodes, 0)


def test_the_lanczos_bound_is_twice_the_error_of_the_polynomial() -> None:
    f = dfnets.LanczosFilter(responses.heat(3.0), steps=4)
    exact = f.expansion(1e-10, (0.0, 2.0)).coefficients
    grid = np.linspace(-1, 1, 5001)
    left_off = np.abs(np.polynomial.chebyshev.chebval(grid, np.where(np.arange(len(exact)) < 4, 0, exact))).max()
    assert 2 * left_off <= f.bound(4, (0.0, 2.0)) <= 2.5 * left_off


def test_a_filter_that_meets_its_target_is_certified_no_better_than_rounding_allows() -> None:
    # Found at random: Q and 1 - P agree to 1e-11, and a difference of rounded numbers is only known to a part of that.
    psi = [1.765791430430598e-14, -36421.72094083788]
    phi = [0.9999999999999993, 3.004747262480145e-14, -36421.720940838066, 4.605918158481399e-09]
    f = dfnets.FeedbackLoopedFilter(psi, phi, 1.492244520564539, (1.4875, 1.4970), target=responses.low_pass(2.0))
    errors = f.certificate().errors
    assert errors is not None
    assert errors.proved
    points = np.linspace(1.4875, 1.4970, 60)
    top = exact_values(f.phi, f.centre, points)
    bottom = exact_values(np.concatenate([[1.0], f.psi]), f.centre, points)
    assert max(abs(n / d - 1) for n, d in zip(top, bottom, strict=True)) <= errors.linf


def test_a_single_frequency_keeps_the_tolerance_or_is_refused() -> None:
    f = dfnets.ArmaFilter([1.0], [-1.001], centre=1.0)
    lonely = Graph(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="smallest tolerance"):
        f.apply(lonely, np.ones(3), tol=1e-12, method="chebyshev")
    done = f.apply(lonely, np.ones(3), tol=1e-6, method="chebyshev", details=True)
    assert done.error <= 1e-6

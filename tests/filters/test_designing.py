"""Designs against reference solutions, against CVXPY, and against each other."""

from __future__ import annotations

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfnets
from dfnets import Shift, responses
from dfnets.filters.certificate import measure
from dfnets.filters.designing import Problem
from dfnets.filters.program import Program

HIGH_PASS = responses.high_pass(0.5)


def cvxpy_design(response, p, q, gamma, centre, samples=200, interval=(0.0, 2.0), powers_from=1):
    """The paper's program in plain monomials, through a modelling layer."""
    frequencies = np.linspace(*interval, samples)
    mu = frequencies - centre
    wanted = response(frequencies)
    alpha = np.stack([mu**j for j in range(1, p + 1)], axis=1)
    beta = np.stack([mu**j for j in range(q + 1)], axis=1)
    bounded = np.stack([mu ** (j + powers_from - 1) for j in range(1, p + 1)], axis=1)
    psi, phi = cvxpy.Variable(p), cvxpy.Variable(q + 1)
    objective = cvxpy.norm(wanted + cvxpy.multiply(wanted, alpha @ psi) - beta @ phi)
    problem = cvxpy.Problem(cvxpy.Minimize(objective), [cvxpy.norm(bounded @ psi, "inf") <= gamma])
    problem.solve(solver=cvxpy.CLARABEL)
    return psi.value, phi.value, problem.value


def true_errors(f: dfnets.FeedbackLoopedFilter, interval=(0.0, 2.0), cut=0.5) -> tuple[float, float]:
    """RMS over 200 samples, and the largest error further than .1 from the cut."""
    response = responses.high_pass(cut)
    samples = np.linspace(*interval, 200)
    fine = np.linspace(*interval, 20001)
    fine = fine[np.abs(fine - cut) >= 0.1]
    rms = np.sqrt(np.mean((f.response(samples) - response(samples)) ** 2))
    return float(rms), float(np.abs(f.response(fine) - response(fine)).max())


def test_published_coefficients() -> None:
    f = dfnets.design(HIGH_PASS, p=5, q=3, gamma=0.9, convention="published")
    psi = [0.78282208, -9.10754991, 15.56677269, -8.82568243, 1.66691540]
    phi = [0.01476723, -0.62166389, 2.51883863, -0.76752122]
    np.testing.assert_allclose(f.psi, psi, rtol=0, atol=1e-4)
    np.testing.assert_allclose(f.phi, phi, rtol=0, atol=1e-4)
    assert f.provenance["objective"] == pytest.approx(1.1341068, abs=1e-6)
    assert f.centre == 1
    mu = np.linspace(0, 2, 500)
    reference = -(mu[:, None] ** np.arange(1, 6)) @ psi
    np.testing.assert_allclose(f.feedback(mu + 1), reference, rtol=0, atol=1e-5)
    np.testing.assert_allclose(f.feedforward(mu + 1), mu[:, None] ** np.arange(4) @ phi, rtol=0, atol=3e-5)


def test_published_cannot_be_run_as_a_recursion(cora) -> None:
    f = dfnets.design(HIGH_PASS, convention="published")
    assert f.certificate().contraction == pytest.approx(35.95, abs=0.005)
    assert f.certificate().denominator[0] < 0 < f.certificate().denominator[1]
    x = np.ones(cora.num_nodes)
    with pytest.raises(ValueError, match="pole"):
        f.apply(cora, x, method="recursion")
    with pytest.raises(ValueError, match="cannot be applied"):
        f.apply(cora, x)
    assert dfnets.design(HIGH_PASS, convention="published", samples=500).certificate().contraction == pytest.approx(
        36.63, abs=0.005
    )


def test_published_against_cvxpy() -> None:
    psi, phi, objective = cvxpy_design(HIGH_PASS, 5, 3, 0.9, centre=0.0, powers_from=0)
    f = dfnets.design(HIGH_PASS, convention="published")
    np.testing.assert_allclose(f.psi, psi, rtol=0, atol=1e-4)
    np.testing.assert_allclose(f.phi, phi, rtol=0, atol=1e-4)
    assert f.provenance["objective"] == pytest.approx(objective, abs=1e-6)


def test_corrected_constraint() -> None:
    f = dfnets.design(HIGH_PASS, 5, 3, 0.9, method="least-squares", centre=0.0, constraint="samples")
    np.testing.assert_allclose(
        f.psi, [-4.45214856, 7.52353031, -5.36505122, 2.00381072, -0.29469956], rtol=0, atol=1e-6
    )
    np.testing.assert_allclose(f.phi, [0.01657963, -0.28741224, 0.75828556, -0.07149902], rtol=0, atol=1e-6)
    assert f.provenance["objective"] == pytest.approx(0.1606565, abs=1e-7)
    assert f.certificate().contraction == pytest.approx(0.9000111, abs=1e-7)
    whole = dfnets.design(HIGH_PASS, 5, 3, 0.9, method="least-squares", centre=0.0)
    assert whole.provenance["objective"] == pytest.approx(0.1606671, abs=1e-7)
    assert whole.certificate().contraction <= 0.9


@settings(max_examples=25, deadline=None)
@given(
    p=st.integers(1, 5),
    q=st.integers(0, 4),
    gamma=st.floats(0.2, 0.97),
    cut=st.floats(0.2, 1.8),
    centre=st.floats(0.0, 2.0),
    low=st.booleans(),
)
def test_least_squares_against_cvxpy(p: int, q: int, gamma: float, cut: float, centre: float, low: bool) -> None:
    response = responses.low_pass(cut) if low else responses.high_pass(cut)
    f = dfnets.design(response, p, q, gamma, method="least-squares", centre=centre, constraint="samples")
    _, _, objective = cvxpy_design(response, p, q, gamma, centre)
    # No worse than the interior point solver, and feasible; never better by more than its own tolerance.
    assert f.provenance["objective"] == pytest.approx(objective, rel=1e-5, abs=1e-6)
    assert np.abs(f.feedback(np.linspace(0, 2, 200))).max() <= gamma * (1 + 1e-9)


@settings(max_examples=40, deadline=None)
@given(
    p=st.integers(1, 8),
    q=st.integers(0, 8),
    gamma=st.floats(0.05, 0.995),
    cut=st.floats(0.1, 1.9),
    top=st.floats(0.8, 2.0),
    method=st.sampled_from(["least-squares", "refit", "iterative"]),
)
def test_the_bound_holds_on_the_whole_interval(
    p: int, q: int, gamma: float, cut: float, top: float, method: str
) -> None:
    f = dfnets.design(responses.low_pass(cut), p, q, gamma, method=method, interval=(0.0, top))
    assert f.certificate().contraction <= gamma * (1 + 1e-12)
    # Ehlich and Zeller: a polynomial of degree p on N Chebyshev points is bounded by its values / cos(p pi / 2 N).
    points = top / 2 * (1 + np.cos(np.pi * (np.arange(4000) + 0.5) / 4000))
    assert np.abs(f.feedback(points)).max() / np.cos(p * np.pi / 8000) <= gamma * (1 + 1e-5)


@pytest.mark.parametrize("gamma", [0.9, 0.99])
@pytest.mark.parametrize("where", ["[0, 2]", "centred", "cora"])
def test_iterative_is_the_best_in_true_error(gamma: float, where: str, request: pytest.FixtureRequest) -> None:
    interval, centre = (0.0, 2.0), {"[0, 2]": 0.0}.get(where, "middle")
    if where == "cora":
        interval = Shift(request.getfixturevalue("cora"), lmax="lanczos").interval
    errors = {}
    for method in ("least-squares", "refit", "iterative"):
        f = dfnets.design(HIGH_PASS, 5, 3, gamma, method=method, centre=centre, interval=interval)
        errors[method] = true_errors(f, interval)[0]
    assert errors["iterative"] < errors["least-squares"]
    assert errors["iterative"] <= errors["refit"]
    # The figures of plain reweighting, to beat.
    to_beat = {("[0, 2]", 0.9): 0.094, ("[0, 2]", 0.99): 0.064, ("centred", 0.9): 0.095, ("centred", 0.99): 0.133}
    if (where, gamma) in to_beat:
        assert errors["iterative"] <= to_beat[where, gamma] + 0.0005
    if where == "cora" and gamma == 0.9:
        assert errors["iterative"] <= 0.203


@pytest.mark.parametrize(
    ("centre", "gamma", "rms", "largest"),
    [(0.0, 0.9, 0.103, 0.143), (0.0, 0.99, 0.160, 0.484), ("middle", 0.9, 0.155, 0.268), ("middle", 0.99, 0.757, 3.88)],
)
def test_the_linear_error_misleads_near_one(centre, gamma: float, rms: float, largest: float) -> None:
    f = dfnets.design(HIGH_PASS, 5, 3, gamma, method="least-squares", centre=centre, constraint="samples")
    assert true_errors(f) == pytest.approx((rms, largest), rel=0.01)


@pytest.mark.parametrize(
    ("gamma", "centre", "expected"),
    [
        (None, "free", (0.0216, 0.0094, 0.0097)),
        (None, "middle", (0.0216, 0.0094, 0.0097)),
        (0.9, "free", (0.132, 0.047, 0.041)),
        (0.99, "free", (0.046, 0.017, 0.012)),
        (0.9, "middle", (0.320, 0.211, 0.067)),
        (0.99, "middle", (0.317, 0.206, 0.065)),
        (0.9, 0.0, (0.137, 0.047, 0.057)),
        (0.99, 0.0, (0.052, 0.021, 0.020)),
    ],
)
def test_minimax_errors(gamma, centre, expected: tuple[float, float, float]) -> None:
    for (cut, band), figure in zip(((1.0, 0.05), (1.0, 0.1), (0.5, 0.1)), expected, strict=True):
        response = responses.high_pass(cut)
        f = dfnets.design(response, 5, 3, gamma, method="minimax", centre=centre, transition=band)
        reached = f.certificate().errors
        assert reached.linf == pytest.approx(figure, rel=0.02)
        if gamma is not None:
            assert f.certificate().contraction <= gamma * (1 + 1e-12)
        else:
            assert f.certificate().denominator[0] > 0


def test_no_filter_beats_minimax() -> None:
    best = dfnets.design(HIGH_PASS, 5, 3, 0.9, method="minimax", centre="free").certificate().errors.linf
    for centre in (0.0, "middle", 1.5):
        for method in ("least-squares", "refit", "iterative", "minimax"):
            f = dfnets.design(HIGH_PASS, 5, 3, 0.9, method=method, centre=centre)
            assert f.certificate().errors.linf >= best * (1 - 1e-3)


def test_pagerank_is_of_order_one() -> None:
    f = dfnets.design(responses.pagerank(0.1), p=1, q=0, gamma=0.9, method="iterative")
    assert f.provenance["objective"] < 1e-12
    # 1 / (1 + (1 - a) / a frequency) about the centre 1
    np.testing.assert_allclose(f.psi, [0.9])
    np.testing.assert_allclose(f.phi, [0.1])


def test_a_response_that_leaves_the_denominator_undetermined() -> None:
    for response in (lambda f: np.zeros_like(f), lambda f: (f > 1.995).astype(float)):
        f = dfnets.design(response, 5, 3, 0.9, method="least-squares")
        assert np.isfinite(f.psi).all()
        assert f.certificate().contraction <= 0.9 * (1 + 1e-9)
        assert f.provenance["objective"] == pytest.approx(cvxpy_design(response, 5, 3, 0.9, 1.0)[2], abs=1e-6)


def test_a_callable_is_a_response() -> None:
    f = dfnets.design(lambda frequency: 1 / (1 + frequency**2), p=2, q=0, gamma=0.95, centre=1.3, method="iterative")
    assert measure(f.response, f.target, (0.0, 2.0), 0.0).linf < 1e-9


def test_gauss_newton_never_raises_the_error() -> None:
    problem = Problem(responses.band_pass(0.4, 1.1), 6, 4, 0.95, 1.0, (0.0, 2.0), 200, "interval")
    a, b = problem.least_squares()
    assert problem.true_error(*problem._gauss_newton(a, b)) <= problem.true_error(a, b)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gamma": 1.0}, "gamma=1 must lie between 0 and 1"),
        ({"gamma": 1.5}, "gamma=1.5"),
        ({"gamma": 0.0}, "gamma=0"),
        ({"gamma": float("nan")}, "gamma=nan"),
        ({"gamma": None}, "minimax"),
        ({"p": 0}, "p=0 must be a whole number from 1 to 20"),
        ({"p": 21}, "p=21"),
        ({"p": 2.5}, "p=2.5"),
        ({"q": -1}, "q=-1 must be a whole number from 0 to 20"),
        ({"samples": 9}, "samples=9 must be a whole number above"),
        ({"interval": (0.0, 2.5)}, "interval="),
        ({"interval": (1.0, 1.0)}, "interval="),
        ({"interval": (1.5, 0.5)}, "interval="),
        ({"centre": "left"}, "centre='left'"),
        ({"centre": 3.0}, "centre=3.0"),
        ({"centre": "free"}, "minimax' only"),
        ({"method": "magic"}, "method='magic' is not one of 'least-squares'"),
        ({"convention": "x"}, "convention='x'"),
        ({"constraint": "x"}, "constraint='x'"),
        ({"transition": -0.1}, "transition=-0.1"),
        ({"method": "minimax", "transition": 0.0}, "transition > 0"),
        ({"method": "minimax", "transition": 3.0}, "leaves nothing"),
        ({"convention": "published", "method": "refit"}, "authors' code as it is"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dfnets.design(HIGH_PASS, **arguments)


def test_a_response_must_be_finite_and_callable() -> None:
    with pytest.raises(ValueError, match="finite real number at frequency 0"):
        dfnets.design(lambda f: np.where(f > 0, f, np.nan))
    with pytest.raises(TypeError, match="neither a Response nor a callable"):
        dfnets.design("low-pass")  # type: ignore[arg-type]


def test_the_default_is_the_best_method_in_python_and_on_the_command_line() -> None:
    assert dfnets.design(HIGH_PASS).provenance["method"] == "iterative"
    assert dfnets.design(HIGH_PASS, convention="published").provenance["method"] == "least-squares"


def test_a_search_for_multipliers_that_gives_up_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of SciPy 1.13 does for a band-pass filter of six powers."""
    wanted = responses.band_pass(0.5, 1.2)
    expected = dfnets.design(wanted, 6, 4, 0.95, method="refit")

    def gives_up(*_: object) -> None:
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr("scipy.optimize.nnls", gives_up)
    found = dfnets.design(wanted, 6, 4, 0.95, method="refit")
    grid = np.linspace(0, 2, 50)
    np.testing.assert_allclose(found.response(grid), expected.response(grid), atol=1e-6)


@pytest.mark.parametrize("cut", [0.05, 0.1, 0.5, 1.0, 1.9, 1.95])
def test_a_design_at_any_cut_is_a_matter_of_milliseconds(cut: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in programs that are solved, about 0.2 ms each: 22 to 65 for these cuts."""
    solve, solved = Program.bounded, []
    monkeypatch.setattr(Program, "bounded", lambda *arguments: solved.append(1) or solve(*arguments))
    dfnets.design(responses.high_pass(cut), method="iterative")
    assert 0 < len(solved) < 150

"""One contract for every filter: a new one is added to FILTERS and is checked."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

import dfnets
from dfnets import Graph, Shift, responses
from dfnets.filters import Cost, Filter

LOW_PASS = dfnets.design(responses.low_pass(0.8), p=5, q=3, gamma=0.9, method="iterative")
FILTERS: dict[str, Filter] = {
    "feedback-looped": LOW_PASS,
    "feedback-looped minimax": dfnets.design(responses.high_pass(0.5), method="minimax", centre="free", gamma=0.9),
    "chebyshev": dfnets.ChebyshevFilter.fit(responses.heat(3.0), 12),
    "chebyshev step": dfnets.ChebyshevFilter.fit(responses.band_pass(0.4, 1.2), 30, damping="jackson"),
    "lanczos": dfnets.LanczosFilter(responses.heat(2.0)),
    "cayley": dfnets.CayleyFilter.fit(responses.low_pass(0.7), 5, zoom=2.0),
    "arma 1": dfnets.ArmaFilter([-1.3], [1.5], constant=0.2),
    "arma K": dfnets.ArmaFilter.from_filter(
        dfnets.design(responses.heat(2.0), p=3, q=3, gamma=0.9, method="iterative")
    ),
}
CASES = [
    (name, method)
    for name, f in FILTERS.items()
    for method, cost in f.costs(1e-8, (0.0, 2.0)).items()
    if isinstance(cost, Cost)
]
GRAPH = random_graph(60, 5, seed=3)


def exact(f: Filter, graph: Graph, x: np.ndarray) -> np.ndarray:
    """h(L^) x by dense eigendecomposition, with no code of the filter but its response."""
    degrees = graph.adjacency.toarray().sum(axis=1) + 1
    dense = np.eye(graph.num_nodes) - (graph.adjacency.toarray() + np.eye(graph.num_nodes)) / np.sqrt(
        np.outer(degrees, degrees)
    )
    values, vectors = np.linalg.eigh(dense)
    gains = f.response(np.clip(values, 0, 2))
    return vectors @ ((gains * (vectors.T @ x).T).T)


@pytest.fixture(params=FILTERS, ids=list(FILTERS))
def f(request: pytest.FixtureRequest) -> Filter:
    return FILTERS[request.param]


def test_every_way_of_applying_is_covered() -> None:
    assert {method for _, method in CASES} == {"recursion", "cg", "chebyshev", "ritz", "jacobi", "exact"}


@pytest.mark.parametrize(("name", "method"), CASES)
@pytest.mark.parametrize("tol", [1e-2, 1e-5, 1e-10])
def test_apply_is_the_response_within_the_tolerance(name: str, method: str, tol: float) -> None:
    f = FILTERS[name]
    x = np.random.default_rng(0).standard_normal((GRAPH.num_nodes, 3))
    if tol < 1e-8 and method in ("jacobi", "exact"):  # their rounding is above that, and a refusal says so
        with pytest.raises(ValueError, match="smallest tolerance is about"):
            f.apply(GRAPH, x, tol=tol / 100, method=method)
        tol = 1e-8
    done = f.apply(GRAPH, x, tol=tol, method=method, details=True)
    error = np.linalg.norm(done.signal - exact(f, GRAPH, x), axis=0) / np.linalg.norm(x, axis=0)
    assert error.max() <= tol
    assert done.error <= tol * (1 + 1e-9)
    assert done.method == method
    # Rounding takes at most three quarters of the tolerance; the method gets what is left.
    predicted = f.costs(tol / 4, Shift(GRAPH).interval)[method]
    if isinstance(predicted, Cost):
        assert done.products <= predicted.products
        assert done.iterations <= predicted.iterations


@pytest.mark.parametrize(("name", "method"), CASES)
def test_float32_keeps_its_type_and_the_tolerance(name: str, method: str) -> None:
    f = FILTERS[name]
    x = np.random.default_rng(1).standard_normal((GRAPH.num_nodes, 9)).astype(np.float32)
    for tol in (1e-3, 1e-5, 1e-6):
        y = f.apply(GRAPH, x, tol=tol, method=method)
        assert y.dtype == np.float32
        error = np.linalg.norm(y - exact(f, GRAPH, x.astype(float)), axis=0) / np.linalg.norm(x, axis=0)
        assert error.max() <= tol


def test_one_signal_is_one_column(f: Filter) -> None:
    x = np.random.default_rng(2).standard_normal(GRAPH.num_nodes)
    y = f.apply(GRAPH, x, tol=1e-9)
    assert y.shape == x.shape
    np.testing.assert_allclose(y, f.apply(GRAPH, x[:, None], tol=1e-9)[:, 0], rtol=0, atol=1e-12)


def test_auto_takes_the_fewest_products(f: Filter) -> None:
    x = np.ones(GRAPH.num_nodes)
    costs = {
        name: cost.products
        for name, cost in f.costs(1e-6, Shift(GRAPH).interval).items()
        if isinstance(cost, Cost) and name not in f.direct
    }
    assert costs[f.apply(GRAPH, x, details=True).method] == min(costs.values())


@settings(max_examples=15, deadline=None)
@given(
    name=st.sampled_from(sorted(FILTERS)),
    seed=st.integers(0, 10**6),
    n=st.integers(1, 40),
    degree=st.floats(0, 6),
    a=st.floats(-3, 3),
    b=st.floats(-3, 3),
)
def test_linear_and_permutation_equivariant(name: str, seed: int, n: int, degree: float, a: float, b: float) -> None:
    f = FILTERS[name]
    graph = random_graph(n, degree, seed)
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((2, n))
    together = f.apply(graph, a * x + b * y, tol=1e-9)
    apart = a * f.apply(graph, x, tol=1e-9) + b * f.apply(graph, y, tol=1e-9)
    scale = 1e-9 * (abs(a) + abs(b) + 1) * (np.linalg.norm(x) + np.linalg.norm(y)) * 4
    np.testing.assert_allclose(together, apart, rtol=0, atol=scale)

    order = rng.permutation(n)
    moved = Graph(graph.adjacency[order][:, order])
    np.testing.assert_allclose(
        f.apply(moved, x[order], tol=1e-9), f.apply(graph, x, tol=1e-9)[order], rtol=0, atol=scale
    )


def test_saved_and_loaded_is_the_same(f: Filter, tmp_path) -> None:
    f.save(tmp_path / "f.json")
    again = dfnets.filters.load(tmp_path / "f.json")
    assert type(again) is type(f)
    grid = np.linspace(*f.interval, 50)
    np.testing.assert_array_equal(again.response(grid), f.response(grid))
    assert again.interval == f.interval
    assert again.target == f.target
    assert repr(again) == repr(f)


def test_a_damaged_file_is_refused(f: Filter, tmp_path) -> None:
    path = tmp_path / "f.json"
    f.save(path)
    text = path.read_text()
    path.write_text(text[: len(text) // 2])
    with pytest.raises(ValueError, match="cut off"):
        Filter.load(path)
    content = json.loads(text)
    content["interval"] = [0.0, 1.9]
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="checksum"):
        Filter.load(path)
    path.write_text("{}")
    with pytest.raises(ValueError, match="not a filter file"):
        Filter.load(path)


def test_a_file_of_another_family_is_refused(tmp_path) -> None:
    LOW_PASS.save(tmp_path / "f.json")
    with pytest.raises(ValueError, match="'feedback-looped' filter, not a 'chebyshev'"):
        dfnets.ChebyshevFilter.load(tmp_path / "f.json")


def test_a_failed_save_leaves_the_old_file(f: Filter, tmp_path, monkeypatch) -> None:
    path = tmp_path / "f.json"
    f.save(path)
    before = path.read_text()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        f.save(path)
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.ones(59), r"shape \(59,\), but the graph has 60 nodes"),
        (np.ones((60, 2, 2)), "shape"),
        (np.full(60, np.nan), "not finite"),
        (np.full(60, np.inf), "not finite"),
        (np.array(["a"] * 60), "real numbers"),
        (np.ones(60, dtype=complex), "real numbers"),
    ],
)
def test_bad_signals_are_refused(f: Filter, x: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        f.apply(GRAPH, x)


def test_bad_arguments_are_refused(f: Filter) -> None:
    x = np.ones(GRAPH.num_nodes)
    for tol in (0.0, -1.0, 1.0, np.nan, 1e-20):
        with pytest.raises(ValueError, match="tol="):
            f.apply(GRAPH, x, tol=tol)
    with pytest.raises(ValueError, match="float32 can hold"):
        f.apply(GRAPH, x.astype(np.float32), tol=1e-9)
    with pytest.raises(ValueError, match="method='magic' is not one of 'auto'"):
        f.apply(GRAPH, x, method="magic")
    with pytest.raises(ValueError, match="named method"):
        f.apply(GRAPH, x, iterations=3)


def test_a_graph_outside_the_interval_is_refused() -> None:
    narrow = dfnets.design(responses.low_pass(0.5), interval=(0.0, 1.0))
    with pytest.raises(ValueError, match=r"serves frequencies in \[0, 1\], but the graph's lie in"):
        narrow.apply(GRAPH, np.ones(GRAPH.num_nodes))


def test_integer_and_strided_signals(f: Filter) -> None:
    x = np.arange(GRAPH.num_nodes * 6).reshape(GRAPH.num_nodes, 6)
    y = f.apply(GRAPH, x[:, ::2], tol=1e-9)
    expected = exact(f, GRAPH, x[:, ::2].astype(float))
    np.testing.assert_allclose(y, expected, rtol=0, atol=1e-9 * np.linalg.norm(x))


def test_the_input_is_left_alone(f: Filter) -> None:
    x = np.random.default_rng(5).standard_normal((GRAPH.num_nodes, 2))
    before = x.copy()
    for method, cost in f.costs(1e-6, Shift(GRAPH).interval).items():
        if isinstance(cost, Cost):
            f.apply(GRAPH, x, method=method)
            np.testing.assert_array_equal(x, before)


def test_isolated_nodes_and_a_single_node(f: Filter) -> None:
    graph = Graph(np.zeros((3, 3)))
    np.testing.assert_allclose(f.apply(graph, np.ones(3), tol=1e-9), f.response(0.0) * np.ones(3), atol=1e-8)
    np.testing.assert_allclose(f.apply(Graph(np.zeros((1, 1))), np.ones(1), tol=1e-9), f.response(0.0), atol=1e-8)


def test_zero_in_zero_out(f: Filter) -> None:
    np.testing.assert_array_equal(f.apply(GRAPH, np.zeros((GRAPH.num_nodes, 2))), 0)

"""The forecaster against ridge regression written out, and against looking ahead."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import dense_graph
from sklearn.linear_model import Ridge

from dfnets import FeedbackLoopedFilter, Shift
from dfnets.temporal import GraphForecaster, TemporalGraph, forecast

FILTER = FeedbackLoopedFilter([0.7], [0.3], centre=1.0)


def signal(times: int = 60, n: int = 10) -> np.ndarray:
    """A graph-autoregressive signal, so that there is something to learn."""
    rng = np.random.default_rng(0)
    smooth = np.eye(n) - Shift(dense_graph(n, 0.4, 2)).recentred(0.0).tocsr().toarray()
    x = [rng.standard_normal(n)]
    for _ in range(times - 1):
        x.append(0.5 * x[-1] + 0.4 * smooth @ x[-1] + rng.standard_normal(n))
    return np.array(x) * 3 + 10


def test_weights_are_those_of_ridge_regression() -> None:
    x, graph = signal(), dense_graph(10, 0.4, 2)
    model = GraphForecaster([FILTER], lags=2, ridge=0.01, season=5, tol=1e-10).fit(graph, x)
    frequencies, vectors = np.linalg.eigh(Shift(graph).recentred(0.0).tocsr().toarray())
    filtered = vectors @ np.diag(FILTER.response(frequencies)) @ vectors.T
    z = (x - x.mean(axis=0)) / x.std()
    rows, targets = [], []
    for t in range(5, len(x)):
        for node in range(10):
            past = [z[t - 1], z[t - 2], filtered @ z[t - 1], filtered @ z[t - 2], z[t - 5]]
            rows.append([values[node] for values in past])
            targets.append(z[t, node])
    oracle = Ridge(alpha=0.01 * len(rows), fit_intercept=False).fit(rows, targets)
    np.testing.assert_allclose(model.weights_, oracle.coef_, rtol=1e-6, atol=1e-9)
    expected = oracle.predict(rows[:10]) * x.std() + x.mean(axis=0)
    np.testing.assert_allclose(model.predict(graph, x)[0], expected, rtol=1e-6)


@pytest.mark.parametrize("block", [1, 1000, 10**9])
def test_units_are_random_features_of_the_same_regression(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecast, "BLOCK", block)
    x, graph = signal(), dense_graph(10, 0.4, 2)
    linear = GraphForecaster([FILTER], lags=2, ridge=0.01).fit(graph, x)
    model = GraphForecaster([FILTER], lags=2, ridge=0.01, hidden=7, seed=3).fit(graph, x)
    inputs = linear._inputs(graph, x)[:-1].reshape(-1, 4)
    rows = np.hstack([inputs, np.maximum(inputs @ model.units_ + model.thresholds_, 0)])
    targets = ((x - x.mean(axis=0)) / x.std())[2:].ravel()
    oracle = Ridge(alpha=0.01 * len(rows), fit_intercept=False).fit(rows, targets)
    np.testing.assert_allclose(model.weights_, oracle.coef_, rtol=1e-5, atol=1e-8)
    expected = (oracle.predict(rows) * x.std()).reshape(-1, 10) + x.mean(axis=0)
    np.testing.assert_allclose(model.predict(graph, x)[:-1], expected, rtol=1e-6)


def test_units_find_what_is_not_linear() -> None:
    rng, graph = np.random.default_rng(0), dense_graph(10, 0.4, 2)
    x = [rng.uniform(-1, 1, 10)]
    for _ in range(199):
        x.append(1 - 1.9 * np.abs(x[-1]) + 0.02 * rng.standard_normal(10))
    x = np.array(x)
    gaps = [
        np.abs(
            GraphForecaster([], lags=1, hidden=hidden).fit(graph, x[:150]).predict(graph, x)[149:-1] - x[150:]
        ).mean()
        for hidden in (0, 30)
    ]
    assert gaps[1] < 0.5 * gaps[0]


def test_a_graph_that_stays_the_same_is_one_graph() -> None:
    x, graph = signal(), dense_graph(10, 0.4, 2)
    still = TemporalGraph.from_snapshots([graph] * len(x))
    expected = GraphForecaster([FILTER], tol=1e-10).fit(graph, x).predict(graph, x)
    np.testing.assert_allclose(GraphForecaster([FILTER], tol=1e-10).fit(still, x).predict(still, x), expected)


def test_nothing_ahead_is_used() -> None:
    x, graph = signal(), dense_graph(10, 0.4, 2)
    model = GraphForecaster([FILTER]).fit(graph, x[:40])
    changed = x.copy()
    changed[50:] += 100
    before, after = model.predict(graph, x), model.predict(graph, changed)
    # Row k predicts time first + k from the times before it, so row 50 - first is the last without time 50 in it.
    known = 51 - model.first
    np.testing.assert_array_equal(before[:known], after[:known])
    assert not np.allclose(before[known], after[known])
    assert len(before) == len(x) - model.first + 1


def test_it_beats_persistence_where_neighbours_matter() -> None:
    x, graph = signal(200), dense_graph(10, 0.4, 2)
    model = GraphForecaster([FILTER]).fit(graph, x[:150])
    expected = model.predict(graph, x)[150 - model.first : -1]
    assert np.abs(expected - x[150:]).mean() < 0.95 * np.abs(x[149:-1] - x[150:]).mean()


@pytest.mark.parametrize(
    "settings, message", [({"lags": 0}, "lags=0"), ({"ridge": -1.0}, "ridge=-1"), ({"season": 0}, "season=0")]
)
def test_bad_settings_are_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GraphForecaster([FILTER], **settings)  # type: ignore[arg-type]


def test_bad_signals_are_refused() -> None:
    graph = dense_graph(10, 0.4, 2)
    with pytest.raises(ValueError, match="too few"):
        GraphForecaster([FILTER]).fit(graph, signal(3))
    bad = signal()
    bad[3, 4] = np.nan
    with pytest.raises(ValueError, match=r"signals\[3, 4\]=nan"):
        GraphForecaster([FILTER]).fit(graph, bad)

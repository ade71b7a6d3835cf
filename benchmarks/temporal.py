"""Graphs that change, on real measurements: following a filtered signal, forecasting, filling in missing sensors.

``python -m benchmarks.temporal`` prints one table per task. It needs the ``tv_*.npz`` arrays in ``$DFNETS_DATA/extra``
or ``../shared/data/extra``. Forecasts are trained on the first 70 % of the times, their settings are chosen on the next
10 %, and the errors are those of the last 20 %, one step ahead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch
from rich.console import Console
from rich.table import Table
from torch import nn

from dfnets import ChebyshevFilter, FeedbackLoopedFilter, Graph, Shift, builders
from dfnets.temporal import GraphForecaster, GraphTimeFilter, TemporalGraph, follow

console = Console(width=100)
# Personalised PageRank at three scales, each a feedback loop of order one.
RESTARTS = (0.05, 0.2, 0.5)


def restart(alpha: float) -> FeedbackLoopedFilter:
    return FeedbackLoopedFilter([1 - alpha], [alpha], centre=1.0)


def stored(name: str) -> dict[str, np.ndarray]:
    for place in (os.environ.get("DFNETS_DATA"), Path(__file__).parents[2] / "shared" / "data"):
        path = place and Path(place) / "extra" / f"tv_{name}.npz"
        if path and path.exists():
            with np.load(path, allow_pickle=False) as arrays:
                return dict(arrays)
    raise SystemExit(f"tv_{name}.npz is neither in $DFNETS_DATA/extra nor in ../shared/data/extra")


def show(title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="left" if column == "" else "right")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def following() -> None:
    """Products per day at tolerance 1e-4: the mobility graph of England changes every day, and the case counts too."""
    data = stored("england_covid")
    graph = TemporalGraph.from_edges(
        data["edge_ptr"],
        data["edge_src"],
        data["edge_dst"],
        data["edge_weight"],
        num_nodes=int(data["num_nodes"]),
        directed="mean",
    )
    moving = data["signal"].astype(np.float64)
    signals = {
        "cases of the day": moving,
        "mean cases, graph alone changes": np.tile(moving.mean(axis=0), (len(moving), 1)),
    }
    rows = []
    for name, x in signals.items():
        for alpha, method in product((0.1, 0.3), ("recursion", "cg", "chebyshev")):
            filter = restart(alpha)
            warm = [step.products for step in follow(filter, graph, x, tol=1e-4, method=method)][1:]
            cold = [
                filter.apply(shift, x[t], tol=1e-4, method=method, details=True).products
                for t, shift in enumerate(graph.shifts())
            ][1:]
            ratio = np.mean(cold) / np.mean(warm)
            rows.append([name, f"{alpha:g}", method, f"{np.mean(cold):.1f}", f"{np.mean(warm):.1f}", f"{ratio:.2f}"])
    show(
        "england_covid: products per day, tolerance 1e-4",
        ["", "restart", "method", "from scratch", "warm", "ratio"],
        rows,
    )


Split = tuple[int, int]


def errors(x: np.ndarray, expected: np.ndarray, start: int) -> tuple[str, str]:
    """Mean absolute and root mean square error of what was expected of times start, start + 1, ..."""
    gap = x[start:] - expected
    return f"{np.abs(gap).mean():.4f}", f"{np.sqrt((gap**2).mean()):.4f}"


def forecast(name: str, graph: Graph, x: np.ndarray, season: int) -> None:
    train, choose = int(0.7 * len(x)), int(0.8 * len(x))

    def best(grid: Iterable[GraphForecaster]) -> tuple[GraphForecaster, np.ndarray]:
        """The one with the smallest error on the times that choose; it is then trained on them too."""
        models = list(grid)
        scores = [
            np.abs(
                one.fit(graph, x[:train]).predict(graph, x)[train - one.first : choose - one.first] - x[train:choose]
            ).mean()
            for one in models
        ]
        chosen = models[int(np.argmin(scores))].fit(graph, x[:choose])
        return chosen, chosen.predict(graph, x)[choose - chosen.first : -1]

    lags, ridges = (1, 3, 6, 12), (1e-4, 1e-2)
    filters = [restart(alpha) for alpha in RESTARTS]
    # The polynomials of degree 1, 2 and 3 that a Chebyshev network of that size would be made of.
    polynomials = [ChebyshevFilter(np.eye(4)[degree]) for degree in (1, 2, 3)]
    grids = {
        "feedback-looped bank, linear": [
            GraphForecaster(filters, lags=lag, ridge=r) for lag, r in product(lags, ridges)
        ],
        "the same, with the season": [
            GraphForecaster(filters, lags=lag, ridge=r, season=season) for lag, r in product(lags, ridges)
        ],
        "the same, 100 ReLU units": [
            GraphForecaster(filters, lags=lag, ridge=r, hidden=100) for lag, r in product(lags, (1e-2, 1e-1))
        ],
        "Chebyshev filters, recomputed": [
            GraphForecaster(polynomials, lags=lag, ridge=r) for lag, r in product(lags, ridges)
        ],
        "without the graph": [GraphForecaster([], lags=lag, ridge=r) for lag, r in product(lags, ridges)],
    }
    rows = [["persistence (last value)", *errors(x, x[choose - 1 : -1], choose), ""]]
    rows.append(["seasonal mean", *errors(x, seasonal_mean(x, season, choose), choose), f"period {season}"])
    for label, grid in grids.items():
        model, expected = best(grid)
        rows.append([label, *errors(x, expected, choose), f"lags {model.lags}, ridge {model.ridge:g}"])
    rows.append(["GCN + GRU", *errors(x, gcn_gru(graph, x, train, choose), choose), "16 units, epoch by validation"])
    show(f"{name}: one step ahead, last 20 % of {len(x)} times", ["", "MAE", "RMSE", "chosen"], rows)


def seasonal_mean(x: np.ndarray, season: int, start: int) -> np.ndarray:
    """The mean of all earlier values at the same moment of the period."""
    return np.array([x[t % season : t : season].mean(axis=0) for t in range(start, len(x))])


class GCNGRU(nn.Module):
    """A GCN layer on the values of each moment, a GRU over the moments of every node, and a linear head."""

    def __init__(self, adjacency: torch.Tensor, units: int = 16) -> None:
        super().__init__()
        self.adjacency = adjacency
        self.gcn, self.gru, self.head = nn.Linear(2, units), nn.GRU(units, units, batch_first=True), nn.Linear(units, 1)

    def forward(self, windows: torch.Tensor) -> torch.Tensor:
        """(batch, lags, n) to (batch, n): the last value plus what the network expects to be added."""
        spread = windows @ self.adjacency
        hidden = torch.relu(self.gcn(torch.stack([windows, spread], dim=-1)))
        batch, lags, n, units = hidden.shape
        out, _ = self.gru(hidden.transpose(1, 2).reshape(batch * n, lags, units))
        return windows[:, -1] + self.head(out[:, -1]).view(batch, n)


def gcn_gru(
    graph: Graph, x: np.ndarray, train: int, choose: int, *, lags: int = 6, steps: int = 1200, patience: int = 20
) -> np.ndarray:
    """What it expects of the last times, at the epoch that is best on the times that choose."""
    torch.manual_seed(0)
    mean, scale = x[:train].mean(), x[:train].std()
    z = torch.tensor((x - mean) / scale, dtype=torch.float32)
    windows = z.unfold(0, lags, 1).transpose(1, 2)[:-1]
    targets = z[lags:]
    shift = Shift(graph).recentred(0.0).tocsr().toarray()
    model = GCNGRU(torch.tensor(np.eye(len(shift)) - shift, dtype=torch.float32))
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    best, kept, since = np.inf, None, 0
    for _ in range(steps // len(torch.arange(train - lags).split(32))):
        for batch in torch.randperm(train - lags).split(32):
            optimiser.zero_grad()
            nn.functional.mse_loss(model(windows[batch]), targets[batch]).backward()
            optimiser.step()
        with torch.no_grad():
            part = slice(train - lags, choose - lags)
            score = float((model(windows[part]) - targets[part]).abs().mean())
            since += 1
            if score < best:
                best, kept, since = score, model(windows[choose - lags :]).numpy(), 0
        if since == patience:
            break
    assert kept is not None
    return kept * scale + mean


def filling_in(name: str, graph: Graph, x: np.ndarray) -> None:
    """A third of the sensors is silent at each moment; their values from the others, by filters over graph and time.

    A tenth of what is heard is hidden too, to choose settings by.
    """
    rng = np.random.default_rng(0)
    seen = rng.random(x.shape) > 1 / 3
    chosen_on = seen & (rng.random(x.shape) < 0.1)
    families: dict[str, dict[str, Callable[[np.ndarray], np.ndarray]]] = {
        "mean of the sensor": {"": partial(sensor_mean, x)},
        "last value of the sensor": {"": partial(last_value, x)},
        "graph filter": {f"restart {a:g}": partial(smoothed, graph, x, a, False) for a in (0.05, 0.2, 0.5)},
        "graph-time filter": {f"restart {a:g}": partial(smoothed, graph, x, a, True) for a in (0.05, 0.2, 0.5)},
        "last value + filtered changes": {
            f"restart {a:g}, shrink {s:g}": partial(with_changes, graph, x, a, s)
            for a, s in product((0.05, 0.2, 0.5), (0.05, 0.2, 0.5))
        },
    }
    rows = []
    for label, members in families.items():
        trials = {words: np.abs((fill(seen & ~chosen_on) - x)[chosen_on]).mean() for words, fill in members.items()}
        words = min(trials, key=lambda key: trials[key])
        gap = (members[words](seen) - x)[~seen]
        rows.append([label, f"{np.abs(gap).mean():.4f}", f"{np.sqrt((gap**2).mean()):.4f}", words])
    show(f"{name}: a third of the values hidden at random", ["", "MAE", "RMSE", "chosen"], rows)


def sensor_mean(x: np.ndarray, heard: np.ndarray) -> np.ndarray:
    """(T, n): the mean of what each sensor was heard to say."""
    return np.broadcast_to(np.nanmean(np.where(heard, x, np.nan), axis=0), x.shape)


def last_value(x: np.ndarray, heard: np.ndarray) -> np.ndarray:
    """What each sensor was last heard to say; its mean before that."""
    out = sensor_mean(x, heard).copy()
    for t in range(len(x)):
        out[t] = np.where(heard[t], x[t], out[t - 1] if t else out[t])
    return out


def smoothed(graph: Graph, x: np.ndarray, alpha: float, over_time: bool, heard: np.ndarray) -> np.ndarray:
    """Smoothed values over smoothed presence: what is missing does not pull towards the mean."""
    mean, loop = sensor_mean(x, heard), restart(alpha)
    parts = []
    for signal in (np.where(heard, x - mean, 0.0), heard.astype(np.float64)):
        one = GraphTimeFilter(loop).apply(graph, signal) if over_time else loop.apply(graph, signal.T.copy()).T
        parts.append(one)
    return parts[0] / np.maximum(parts[1], 1e-6) + mean


def with_changes(graph: Graph, x: np.ndarray, alpha: float, shrink: float, heard: np.ndarray) -> np.ndarray:
    """The last value, plus what the neighbours that are heard have changed since theirs; less where few are heard."""
    last, loop = last_value(x, heard), restart(alpha)
    before = np.concatenate([sensor_mean(x, heard)[:1], last[:-1]])
    changes, presence = (
        loop.apply(graph, signal.T.copy()).T for signal in (np.where(heard, x - before, 0.0), heard.astype(np.float64))
    )
    return before + changes / (presence + shrink)


def main() -> None:
    following()
    forecasts()
    fillings()


def forecasts() -> None:
    pox = stored("chickenpox")
    n = int(pox["num_nodes"])
    joined = sp.csr_array((np.ones(len(pox["adj_indices"])), pox["adj_indices"], pox["adj_indptr"]), shape=(n, n))
    forecast("chickenpox", Graph(joined), pox["signal"].astype(np.float64), season=52)
    traffic = stored("metr_la_week")
    roads = Graph(traffic["weights_sym"].astype(np.float64), directed="max")
    forecast("metr_la_week", roads, traffic["signal"].astype(np.float64), season=288)


def fillings() -> None:
    traffic = stored("metr_la_week")
    roads = Graph(traffic["weights_sym"].astype(np.float64), directed="max")
    filling_in("metr_la_week", roads, traffic["signal"].astype(np.float64))
    weather = stored("molene")
    # The stored weights are all but zero (1e-286 at most); stations are joined to the nearest ones instead.
    stations = builders.nearest_neighbours(weather["g1_coordinates"][:, :2].astype(np.float64))
    filling_in(f"molene, {weather['g1_signal_names'][0]}", stations, weather["g1_signal0"].T.astype(np.float64))


if __name__ == "__main__":
    main()

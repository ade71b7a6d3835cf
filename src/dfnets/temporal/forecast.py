"""Forecasting the next values of a signal on a graph from its past, filtered over the graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dfnets.filters.base import Filter
from dfnets.graph import Graph
from dfnets.shift import Shift
from dfnets.temporal.graph import TemporalGraph
from dfnets.temporal.joint import snapshots_of

# Numbers that a fit holds at a time, beside its inputs.
BLOCK = 1 << 22


class GraphForecaster:
    """x_{t+1} = m + sum_l sum_k w_lk h_k(L^_t) (x_{t-l} - m): every node by the same few weights, its neighbours in it.

    This is the autoregressive part of the graph VARMA models of Isufi et al. (2019): the past of a node and, through
    K filters, that of its neighbourhood. m is the mean of each node over the times that were trained on, and the
    weights are those of ridge regression. Nothing after t is ever used to predict t + 1.

    Args:
        filters: h_1, ..., h_K; the signal itself (h = 1) is always there too.
        lags: how many past values are looked at.
        ridge: times the number of equations, the penalty on the squared weights; the signal is scaled to unit
            variance first, so that one value serves signals of any size.
        season: a period; the value of the same moment one period before what is predicted is looked at too.
        hidden: so many ReLU units with fixed random weights are looked at too, so that a forecast may bend; only what
            is made of them is learnt, in closed form (random features, Rahimi and Recht, 2007). 0 is linear.
        seed: of these random weights.
        tol: of the filters.
    """

    def __init__(
        self,
        filters: Sequence[Filter],
        *,
        lags: int = 3,
        ridge: float = 1e-3,
        season: int | None = None,
        hidden: int = 0,
        seed: int = 0,
        tol: float = 1e-6,
    ) -> None:
        if lags < 1:
            raise ValueError(f"lags={lags}: at least one past value is needed")
        if ridge < 0:
            raise ValueError(f"ridge={ridge:g} is a penalty and must not be negative")
        if season is not None and season < 1:
            raise ValueError(f"season={season}: a period is at least 1; None for none")
        if hidden < 0:
            raise ValueError(f"hidden={hidden}: a number of units is not negative; 0 for a linear forecast")
        self.filters, self.lags, self.ridge, self.season, self.tol = list(filters), lags, ridge, season, tol
        self.hidden, self.seed = hidden, seed

    def fit(self, graph: Graph | TemporalGraph, signals: Any) -> GraphForecaster:
        """Learns the weights from (T, n) values at times 0, ..., T - 1."""
        x = self._checked(graph, signals)
        if len(x) <= self.first:
            raise ValueError(f"{len(x)} times are too few: looking back {self.first} takes at least {self.first + 1}")
        self.mean_, self.scale_ = x.mean(axis=0), float(x.std()) or 1.0
        inputs, targets = self._inputs(graph, x)[:-1], self._scaled(x)[self.first :]
        self._draw_units(inputs)
        width = inputs.shape[-1] + self.hidden
        gram, moment = np.zeros((width, width)), np.zeros(width)
        for some in self._blocks(len(inputs), inputs.shape[1] * width):
            columns = self._expanded(inputs[some]).reshape(-1, width)
            gram += columns.T @ columns
            moment += columns.T @ targets[some].ravel()
        penalty = self.ridge * targets.size * np.eye(width)
        self.weights_ = np.linalg.solve(gram + penalty, moment)
        return self

    def predict(self, graph: Graph | TemporalGraph, signals: Any) -> np.ndarray:
        """(T - first + 1, n): what is expected at times first, ..., T, each from the times before it.

        Args:
            signals: (T, n) values at times 0, ..., T - 1; the last row of the result is the first unknown time.
        """
        inputs = self._inputs(graph, self._checked(graph, signals))
        blocks = self._blocks(len(inputs), inputs.shape[1] * len(self.weights_))
        expected = np.concatenate([self._expanded(inputs[some]) @ self.weights_ for some in blocks])
        return expected * self.scale_ + self.mean_

    def _draw_units(self, inputs: np.ndarray) -> None:
        """Random weights for inputs of unit variance, and thresholds within it."""
        rng, count = np.random.default_rng(self.seed), inputs.shape[-1]
        spread = inputs.std(axis=(0, 1))
        scale = np.where(spread > 0, spread, 1)[:, None] * np.sqrt(count)
        self.units_ = rng.standard_normal((count, self.hidden)) / scale
        self.thresholds_ = rng.uniform(-1, 1, self.hidden)

    def _expanded(self, inputs: np.ndarray) -> np.ndarray:
        """(..., d) with the ReLU units beside it, (..., d + hidden)."""
        if not self.hidden:
            return inputs
        return np.concatenate([inputs, np.maximum(inputs @ self.units_ + self.thresholds_, 0)], axis=-1)

    @staticmethod
    def _blocks(times: int, numbers: int) -> list[slice]:
        """Times that are worked on together, each with so many numbers."""
        size = max(1, BLOCK // numbers)
        return [slice(start, start + size) for start in range(0, times, size)]

    @property
    def first(self) -> int:
        """The first time that can be predicted: as many values must lie before it as are looked back at."""
        return max(self.lags, self.season or 0)

    def _scaled(self, x: np.ndarray) -> np.ndarray:
        return (x - self.mean_) / self.scale_

    def _inputs(self, graph: Graph | TemporalGraph, x: np.ndarray) -> np.ndarray:
        """(T - first + 1, n, number of weights): what each time from first on is predicted from."""
        z = self._scaled(x)
        times = range(self.first - 1, len(x))
        parts = [np.stack([z[t - lag] for t in times]) for lag in range(self.lags)]
        if isinstance(graph, Graph):
            filtered = self._filtered_once(graph, z, times)
        else:
            filtered = self._filtered_anew(graph, z, times)
        for lagged in filtered:
            parts.extend(lagged)
        if self.season is not None:
            parts.append(np.stack([z[t + 1 - self.season] for t in times]))
        return np.stack(parts, axis=-1)

    def _filtered_once(self, graph: Graph, z: np.ndarray, times: range) -> Iterator[list[np.ndarray]]:
        """For each filter and lag (times, n): on one graph all times are columns of a single application."""
        shift, columns = Shift(graph), np.ascontiguousarray(z.T)
        for one in self.filters:
            smooth = one.apply(shift, columns, tol=self.tol).T
            yield [np.stack([smooth[t - lag] for t in times]) for lag in range(self.lags)]

    def _filtered_anew(self, graph: TemporalGraph, z: np.ndarray, times: range) -> Iterator[list[np.ndarray]]:
        """The same where the graph changes: at each time its past is filtered by the graph of that time."""
        rows: list[list[np.ndarray]] = [[] for _ in self.filters]
        for t, shift in enumerate(snapshots_of(graph, len(z))):
            if t in times:
                past = np.ascontiguousarray(z[t - self.lags + 1 : t + 1][::-1].T)
                for row, one in zip(rows, self.filters, strict=True):
                    row.append(one.apply(shift, past, tol=self.tol))
        for row in rows:
            yield list(np.stack(row).transpose(2, 0, 1))

    def _checked(self, graph: Graph | TemporalGraph, signals: Any) -> np.ndarray:
        x = np.asarray(signals, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != graph.num_nodes:
            raise ValueError(f"signals have shape {x.shape}; give (times, nodes) with {graph.num_nodes} nodes")
        if not np.isfinite(x).all():
            t, node = np.argwhere(~np.isfinite(x))[0]
            raise ValueError(f"signals[{t}, {node}]={x[t, node]}: fill missing values in first")
        return x

    def __repr__(self) -> str:
        units = f", hidden={self.hidden}" if self.hidden else ""
        return f"GraphForecaster(filters={len(self.filters)}, lags={self.lags}, ridge={self.ridge:g}{units})"

"""The joint graph-time recursion: one step of feedback per moment (Loukas et al., 2015; Isufi et al., 2017)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dfnets.filters import FeedbackLoopedFilter
from dfnets.filters.products import Products
from dfnets.graph import Graph
from dfnets.shift import Shift
from dfnets.temporal.graph import TemporalGraph


class GraphTimeFilter:
    """y_t = P(L^_t) y_{t-1} + Q(L^_t) x_t: a filter over the graph and over time at once, p + q products per moment.

    A feedback-looped filter that is run to convergence at every moment filters over the graph alone. Run for a single
    step per moment, with the result of the last moment fed back, it also smooths over time: a signal that oscillates
    with the graph frequency f and the angular frequency w (radians per step) is multiplied by

        H(f, w) = Q(f) / (1 - P(f) exp(-i w)),

    which at w = 0 is the filter's own response. With |P| < 1 on the interval that holds every snapshot's frequencies
    the recursion is stable whatever the changes: a start of norm e has faded to at most max|P|^t e after t steps.

    Args:
        filter: whose P and Q are taken; refused if |P| reaches 1 somewhere on its interval.

    >>> joint = GraphTimeFilter(FeedbackLoopedFilter([0.5], [0.5], centre=1.0))
    >>> joint.response(0.0, [0.0, np.pi]).real.round(3)
    array([1.   , 0.333])
    """

    def __init__(self, filter: FeedbackLoopedFilter) -> None:
        contraction = filter.certificate().contraction
        if not contraction < 1:
            raise ValueError(
                f"filter has max|P| = {contraction:.4g} on [{filter.interval[0]:g}, {filter.interval[1]:g}]; a "
                "recursion over time needs less than 1: design it with gamma < 1 for the interval of the graphs"
            )
        self.filter, self.contraction = filter, contraction

    def response(self, frequency: Any, angular_frequency: Any) -> np.ndarray:
        """H(f, w), complex; f and w are broadcast against each other."""
        frequency = np.asarray(frequency, dtype=np.float64)
        turn = np.exp(-1j * np.asarray(angular_frequency, dtype=np.float64))
        return self.filter.feedforward(frequency) / (1 - self.filter.feedback(frequency) * turn)

    def apply(self, graph: Graph | TemporalGraph, signals: Any, *, start: Any = None) -> np.ndarray:
        """y_0, ..., y_{T-1} for (T, n) or (T, n, k) signals.

        Args:
            graph: one graph for all times, or one that changes, with as many times as there are signals.
            start: y_{-1}; zeros if left out.
        """
        x = np.asarray(signals, dtype=np.float64)
        if x.ndim not in (2, 3) or x.shape[1] != graph.num_nodes:
            raise ValueError(
                f"signals have shape {x.shape}; give (times, nodes) or (times, nodes, k) with {graph.num_nodes} nodes"
            )
        out = np.empty_like(x)
        state = np.zeros(x.shape[1:]) if start is None else np.asarray(start, dtype=np.float64)
        for t, shift in enumerate(snapshots_of(graph, len(x))):
            self.filter.shift_of(shift)
            state = out[t] = self._step(shift, state, x[t])
        return out

    def _step(self, shift: Shift, state: np.ndarray, x: np.ndarray) -> np.ndarray:
        columns = [array.reshape(len(array), -1) for array in (x, state)]
        products = Products(shift)
        psi = np.concatenate([[0.0], -self.filter.psi])
        driven = products.horner(self.filter.centre, self.filter.phi, columns[0], _spare(columns[0]))
        fed_back = products.horner(self.filter.centre, psi, columns[1], _spare(columns[1]), add=driven)
        return fed_back.reshape(x.shape)

    def __repr__(self) -> str:
        return f"GraphTimeFilter({self.filter!r})"


def _spare(x: np.ndarray) -> list[np.ndarray]:
    return [np.empty_like(x), np.empty_like(x)]


def snapshots_of(graph: Graph | TemporalGraph, times: int) -> Iterable[Shift]:
    """The shift at each of that many times; one graph serves them all."""
    if isinstance(graph, Graph):
        return [Shift(graph)] * times
    if len(graph) != times:
        raise ValueError(f"there are {times} signals but {len(graph)} snapshots; give one signal per snapshot")
    return graph.shifts()

"""Following a filtered signal while the graph and the signal change: each result starts from the one before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dfnets.filters import FeedbackLoopedFilter
from dfnets.filters.base import SMALLEST_TOLERANCE
from dfnets.filters.products import Products
from dfnets.shift import Shift
from dfnets.temporal.graph import TemporalGraph

# A residual that has to shrink by more than this may be all rounding in the end; then the bound is left to the filter.
SAFE = 1e-10


@dataclass(frozen=True)
class Followed:
    """The filtered signal at one time.

    Attributes:
        signal: y_t, with the shape of x_t.
        products: how many products with the shift it took.
        method: how the correction was computed; ``"none"`` where the last result was good enough as it was.
        error: the certified bound on norm(y_t - y*_t) / norm(x_t) of each column.
        moved: norm(y_t - y_{t-1}) / norm(x_t), the largest of any column: how far the result had to go.
    """

    signal: np.ndarray
    products: int
    method: str
    error: float
    moved: float


def follow(
    filter: FeedbackLoopedFilter, graph: TemporalGraph, signals: Any, *, tol: float = 1e-4, method: str = "auto"
) -> Iterator[Followed]:
    """h(L^_t) x_t for every time t, each to the tolerance, starting from the result of the time before.

    With the last result y the residual is r = Q x_t - (I - P) y, and what is missing is (I - P)^-1 r: one more filter,
    with the same poles and the numerator 1, applied to a signal that is small when little has changed, so that a
    larger tolerance, norm(x_t) / norm(r) times ``tol``, is enough. It holds by the certificate of that filter, and the
    error does not gather over time: every residual is that of the true equation.

    Args:
        filter: its coefficients serve every snapshot; its interval must hold theirs.
        graph: T snapshots.
        signals: (T, n) or (T, n, k).
        tol: norm(y_t - y*_t) <= tol norm(x_t) for every column.
        method: how the correction is applied, see :meth:`dfnets.filters.Filter.apply`; ``"recursion"`` stops as soon as
            its own steps are small enough.
    """
    x = np.asarray(signals, dtype=np.float64)
    if x.ndim not in (2, 3) or x.shape[:2] != (len(graph), graph.num_nodes):
        raise ValueError(
            f"signals have shape {x.shape}; give (times, nodes) or (times, nodes, k), {len(graph)} times and "
            f"{graph.num_nodes} nodes"
        )
    correction = FeedbackLoopedFilter(filter.psi, [1.0], centre=filter.centre, interval=filter.interval)
    before: np.ndarray | None = None
    for t, shift in enumerate(graph.shifts()):
        columns = x[t].reshape(graph.num_nodes, -1)
        if before is None:
            done = _first(filter, shift, columns, tol, method)
        else:
            done = _corrected(filter, correction, shift, columns, before, tol, method)
        before = done.signal
        yield Followed(done.signal.reshape(x[t].shape), done.products, done.method, done.error, done.moved)


def change_bound(filter: FeedbackLoopedFilter, before: Shift, after: Shift, x: np.ndarray, y: np.ndarray) -> float:
    """A bound on norm(h(L^') x - h(L^) x) for a changed graph L^', from the norm of the change alone.

    With y = h(L^) x, the two results differ by (I - P')^-1 ((P' - P) y + (Q' - Q) x), and a polynomial of a matrix
    changes by at most sum_j |c_j| j R^(j-1) times the change, R the largest |frequency - centre|. The norm of the
    change L^' - L^ is at most its largest absolute row sum, since it is symmetric.

    Args:
        before, after: the two shifts, of the same nodes.
        x, y: (n,) the signal, and its filtered form on the graph before.
    """
    gap = abs(after.recentred(0.0).tocsr() - before.recentred(0.0).tocsr())
    change = float(np.asarray(gap.sum(axis=1)).max(initial=0.0))
    reach = max(abs(end - filter.centre) for end in filter.interval)
    fed_back = _steepness(filter.psi, reach) * float(np.linalg.norm(y))
    driven = _steepness(filter.phi[1:], reach) * float(np.linalg.norm(x))
    return change * (fed_back + driven) / _weakest(filter)


def _steepness(coefficients: np.ndarray, reach: float) -> float:
    """sum_j |c_j| j R^(j-1) for c_1, c_2, ..."""
    powers = np.arange(1, len(coefficients) + 1)
    return float(np.abs(coefficients) @ (powers * reach ** (powers - 1)))


def _weakest(filter: FeedbackLoopedFilter) -> float:
    """min|1 - P| on the filter's interval."""
    return float(min(np.abs(filter.ranges(filter.interval).denominator)))


def _first(filter: FeedbackLoopedFilter, shift: Shift, x: np.ndarray, tol: float, method: str) -> Followed:
    done = filter.apply(shift, x, tol=tol, method=method, details=True)
    return Followed(done.signal, done.products, done.method, done.error, float("nan"))


def _corrected(
    filter: FeedbackLoopedFilter,
    correction: FeedbackLoopedFilter,
    shift: Shift,
    x: np.ndarray,
    before: np.ndarray,
    tol: float,
    method: str,
) -> Followed:
    products = Products(filter.shift_of(shift))
    sizes = np.linalg.norm(x, axis=0)
    # What is filtered of nothing is nothing, exactly: no tolerance is small enough to find that out by correcting.
    before = np.where(sizes > 0, before, 0.0)
    minus = -np.concatenate([[1.0], filter.psi])
    driven = products.horner(filter.centre, filter.phi, x, [np.empty_like(x), np.empty_like(x)])
    residual = products.horner(filter.centre, minus, before, [np.empty_like(x), np.empty_like(x)], add=driven)
    missing = np.linalg.norm(residual, axis=0)
    # What is missing from a column has at most this norm, so one that is small enough needs no correction.
    bound = missing / _weakest(filter)
    if (bound <= tol * sizes).all():
        return Followed(before, products.count, "none", _largest_ratio(bound, sizes), 0.0)
    # A hair less than what is left, so that rounding in this division does not lift the bound above the tolerance.
    wanted = float(np.clip(0.999 * _ratios(tol * sizes, missing).min(), SMALLEST_TOLERANCE, 0.5))
    contraction = filter.ranges(filter.interval).contraction
    if method == "recursion" and contraction < 1 and wanted > SAFE:
        return _recursion(filter, products, before, residual, sizes, tol, contraction)
    done = correction.apply(shift, residual, tol=wanted, method=method, details=True)
    error = done.error * _largest_ratio(missing, sizes)
    moved = _largest_ratio(np.linalg.norm(done.signal, axis=0), sizes)
    return Followed(before + done.signal, products.count + done.products, done.method, error, moved)


def _recursion(
    filter: FeedbackLoopedFilter,
    products: Products,
    before: np.ndarray,
    residual: np.ndarray,
    sizes: np.ndarray,
    tol: float,
    contraction: float,
) -> Followed:
    """y <- P y + Q x from the last result, until what it changes is small enough.

    One step adds the residual r to y, and leaves the residual P r: the recursion shows its own error as it goes, at
    most max|P| norm(r) / min|1 - P| after the step. A residual that is weak where P is close to 1 dies out sooner than
    the certificate can promise beforehand.
    """
    feedback, share = np.concatenate([[0.0], -filter.psi]), contraction / _weakest(filter)
    y, spare = before.copy(), [np.empty_like(residual), np.empty_like(residual)]
    while True:
        y += residual
        bound = share * np.linalg.norm(residual, axis=0)
        if (bound <= 0.999 * tol * sizes).all():
            moved = _largest_ratio(np.linalg.norm(y - before, axis=0), sizes)
            return Followed(y, products.count, "recursion", _largest_ratio(bound, sizes), moved)
        residual = products.horner(filter.centre, feedback, residual.copy(), spare)


def _ratios(over: np.ndarray, under: np.ndarray) -> np.ndarray:
    """over / under, infinite where under is 0."""
    return np.divide(over, under, out=np.full(len(over), np.inf), where=under > 0)


def _largest_ratio(over: np.ndarray, under: np.ndarray) -> float:
    return float(np.divide(over, under, out=np.zeros(len(over)), where=under > 0).max(initial=0.0))

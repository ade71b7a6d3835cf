"""Chebyshev expansions with a proved error.

What proves it is a bound on the coefficients that were never computed. A *tail* gives, for every n, a bound on
sum_{k >= n} |c_k| of the exact series f = sum_k c_k T_k. The interpolant at n Chebyshev points then differs from f by
at most twice that, however narrow the peaks of f are. Where f is analytic in an ellipse with foci -1 and 1 whose
half-axes add up to rho, and |f| <= M there, |c_k| <= 2 M rho^-k (Bernstein).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dfnets.filters.bounds import EPS
from dfnets.filters.polynomials import Interval, sampled_series

Tail = Callable[[int], float]
MOST_POINTS = 2**17
# What a function of which nothing is known is sampled at, at least: a narrower peak than the grid resolves is missed.
FEWEST_SAMPLES = 4096


@dataclass(frozen=True)
class Expansion:
    """sum_k coefficients[k] T_k, and how far it may be from the function on the interval.

    Attributes:
        coefficients: (K + 1,).
        error: the bound on the difference, rounding of the function's values included.
        proved: whether the bound is proved; of an arbitrary Python function it is an estimate from samples.
    """

    coefficients: np.ndarray
    error: float
    proved: bool


class TooNarrow(ValueError):
    """The function cannot be expanded to the tolerance: it jumps, or varies within too short a stretch."""


def expand(
    function: Callable[[np.ndarray], np.ndarray],
    interval: Interval,
    tolerance: float,
    tail: Tail | None,
    noise: float = 0.0,
) -> Expansion:
    """The shortest Chebyshev expansion that is known to be within the tolerance of a function on an interval.

    Args:
        tail: the bound on what follows the n-th coefficient, or None where nothing is known of the function.
        noise: a bound on the rounding error of its values.
    """
    low, high = interval
    if low == high:
        if noise > tolerance:
            raise TooNarrow(f"the response is only known to {noise:.2g}; the smallest tolerance is about {noise:.2g}")
        return Expansion(np.atleast_1d(function(np.array([low])))[:1].astype(np.float64), noise, tail is not None)
    count, beyond, coefficients = _sampled(function, interval, tolerance, tail)
    rounding = _rounding(coefficients[: _cut(coefficients, tolerance - beyond, tail)], count, interval, noise)
    if rounding > 0.75 * tolerance:
        raise TooNarrow(
            f"the values of the response are only known to {rounding:.2g}, because it varies so fast; the smallest "
            f"tolerance is about {1.5 * rounding:.2g}"
        )
    kept = _cut(coefficients, tolerance - beyond - rounding, tail)
    return Expansion(coefficients[:kept], tolerance, tail is not None)


def _cut(coefficients: np.ndarray, budget: float, tail: Tail | None) -> int:
    """How many coefficients to keep: what follows them is within the budget, as computed or as proved."""
    tails = np.concatenate([np.cumsum(np.abs(coefficients)[::-1])[::-1][1:], [0.0]])
    kept = int(np.argmax(tails <= budget)) + 1
    low, high = 0, kept if tail is not None else 0
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if tail(middle) <= budget else (middle + 1, high)  # type: ignore[misc]
    return kept if tail is None else max(1, min(kept, low))


def _rounding(kept: np.ndarray, count: int, interval: Interval, noise: float) -> float:
    """The error that the kept terms have from rounding: of the values, of the points, and of the transform."""
    low, high = interval
    k = np.arange(len(kept))
    lebesgue = 2 + 2 / math.pi * math.log(count + 1)
    # A point is off by a unit in the last place of its frequency, which a steep function turns into more.
    steepness = float(np.abs(kept) @ k**2.0) * (1 + 2 * max(abs(low), abs(high)) / (high - low))
    transform = math.sqrt(len(kept)) * math.log2(count) * float(np.linalg.norm(kept))
    return lebesgue * noise + 4 * EPS * steepness + 8 * EPS * transform


def _sampled(
    function: Callable[[np.ndarray], np.ndarray], interval: Interval, tolerance: float, tail: Tail | None
) -> tuple[int, float, np.ndarray]:
    """How many points are enough, the error that this leaves, and the coefficients of the interpolant at them."""
    count = 16 if tail is not None else FEWEST_SAMPLES
    while count <= MOST_POINTS:
        if tail is not None and 2 * tail(count) <= 0.02 * tolerance:
            return count, 2 * tail(count), sampled_series(function, interval, count)
        if tail is None:
            coefficients = sampled_series(function, interval, count)
            if np.abs(coefficients[-count // 4 :]).sum() <= 0.01 * tolerance:
                return count, 0.02 * tolerance, coefficients
        count *= 2
    raise TooNarrow(
        f"a polynomial of degree {MOST_POINTS} does not reach the tolerance {tolerance:g}: "
        "the response jumps, or has a pole almost inside the interval"
    )


def polynomial_tail(degree: int) -> Tail:
    """Of a polynomial: nothing after its degree."""
    return lambda n: 0.0 if n > degree else math.inf


def ellipse_tail(rho: np.ndarray, log_bound: np.ndarray) -> Tail:
    """From bounds exp(log_bound) on |f| on ellipses rho > 1; the best of them for each n."""
    usable = np.isfinite(log_bound) & (rho > 1)
    if not usable.any():
        return lambda _: math.inf
    slopes = np.log(rho[usable])
    starts = math.log(2) + log_bound[usable] - np.log1p(-1 / rho[usable])
    return lambda n: float(np.exp(min(np.min(starts - n * slopes), 700.0)))


def poles_tail(residues: np.ndarray, poles: np.ndarray) -> Tail:
    """Of sum_i residues[i] / (s - poles[i]): each term has coefficients 2 |r| / |sqrt(p^2 - 1)| |w|^-k exactly."""
    w = np.abs(joukowski(poles))
    with np.errstate(divide="ignore", invalid="ignore"):
        # What rounding may have added to w - 1, whose square is about twice the distance of the pole, is taken off.
        w = 1 + (w - 1) * (1 - 1e-9 - 16 * EPS / (w - 1) ** 2)
        starts = 2 * np.abs(residues) / np.abs(np.sqrt(poles - 1) * np.sqrt(poles + 1)) / (1 - 1 / w)
    if not (np.isfinite(starts).all() and (w > 1).all()):
        return lambda _: math.inf
    return lambda n: float(np.sum(starts * w ** -float(n)))


def joukowski(s: np.ndarray) -> np.ndarray:
    """The w outside the unit circle with s = (w + 1 / w) / 2: |w| is the rho of the ellipse through s."""
    root = np.sqrt(np.asarray(s, dtype=complex) - 1) * np.sqrt(np.asarray(s, dtype=complex) + 1)
    return np.where(np.abs(s + root) >= 1, s + root, s - root)

"""Polynomials on an interval, and ratios of them: where they are largest, and their Chebyshev expansions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.polynomial.chebyshev import chebroots

Interval = tuple[float, float]


def to_unit(frequency: Any, interval: Interval) -> np.ndarray:
    """The interval mapped to [-1, 1], where Chebyshev polynomials live."""
    low, high = interval
    return (2 * np.asarray(frequency, dtype=np.float64) - low - high) / (high - low)


def from_unit(s: Any, interval: Interval) -> np.ndarray:
    """[-1, 1] mapped to the interval."""
    low, high = interval
    return (low + high) / 2 + (high - low) / 2 * np.asarray(s, dtype=np.float64)


def powers(coefficients: np.ndarray, centre: float) -> Polynomial:
    """sum_j coefficients[j] (frequency - centre)^j."""
    return Polynomial(coefficients, domain=[centre - 1, centre + 1], window=[-1, 1])


def in_powers(degree: int, interval: Interval, centre: float) -> np.ndarray:
    """(degree + 1, degree + 1): row k holds T_k, mapped to the interval, in powers of (frequency - centre).

    So ``coefficients @ in_powers(...)`` turns a Chebyshev series into those powers, by T_{k+1} = 2 s T_k - T_{k-1}.
    """
    start, slope = float(to_unit(centre, interval)), 2 / (interval[1] - interval[0])
    rows = np.zeros((degree + 1, degree + 1))
    rows[0, 0] = 1
    if degree:
        rows[1, :2] = start, slope
    for k in range(1, degree):
        rows[k + 1] = 2 * start * rows[k] - rows[k - 1]
        rows[k + 1, 1:] += 2 * slope * rows[k, :-1]
    return rows


def _in_chebyshev(polynomial: Polynomial | Chebyshev, interval: Interval) -> Chebyshev:
    # Roots found in powers of (frequency - centre) lose digits when the centre is far off; a Chebyshev basis of the
    # interval keeps them.
    return polynomial.convert(kind=Chebyshev, domain=list(interval))


def critical_points(
    numerator: Polynomial | Chebyshev, denominator: Polynomial | Chebyshev, interval: Interval
) -> np.ndarray:
    """Where numerator / denominator can be extreme on the interval: zeros of N' D - N D', and both ends."""
    low, high = interval
    if low == high:
        return np.array([low])
    top, bottom = _in_chebyshev(numerator, interval), _in_chebyshev(denominator, interval)
    points = zeros_and_ends((top.deriv() * bottom - top * bottom.deriv()).coef)
    # Exact ends: the way back from [-1, 1] could round them out of the interval.
    return np.concatenate([[low, high], from_unit(points[2:], interval)])


def zeros_and_ends(series: np.ndarray) -> np.ndarray:
    """-1, 1 and the zeros between them of a Chebyshev series."""
    roots = chebroots(significant(series))
    # A double zero comes out as a pair slightly off the real axis: its real part is still a point worth a look.
    near = roots.real[np.abs(roots.imag) <= 1e-5]
    return np.concatenate([[-1.0, 1.0], near[np.abs(near) < 1]])


def significant(coefficients: np.ndarray) -> np.ndarray:
    """The coefficients without a tail that is lost in rounding: as leading ones they would spoil every root."""
    size = np.abs(coefficients)
    return coefficients[: int(np.max(np.flatnonzero(size > 4 * np.finfo(float).eps * size.max()), initial=0)) + 1]


def range_on(polynomial: Polynomial | Chebyshev, interval: Interval) -> tuple[float, float]:
    """(minimum, maximum) of a polynomial on the interval, from its extrema, not from samples."""
    values = polynomial(critical_points(polynomial, powers(np.ones(1), 0.0), interval))
    return float(values.min()), float(values.max())


def largest(polynomial: Polynomial, interval: Interval) -> float:
    """max |polynomial| on the interval."""
    return max(np.abs(range_on(polynomial, interval)))


def interpolate(function: Callable[[np.ndarray], np.ndarray], interval: Interval, degree: int) -> np.ndarray:
    """degree + 1 Chebyshev coefficients of the polynomial that is the truncated series of a function.

    The series is taken from many more points than coefficients, so that a jump does not alias into them.
    """
    return _series(function, interval, max(4096, 8 * (degree + 1)))[: degree + 1]


def expand(function: Callable[[np.ndarray], np.ndarray], interval: Interval, tolerance: float) -> np.ndarray:
    """Chebyshev coefficients c_0 .. c_K such that |function - sum_k c_k T_k| <= tolerance on the interval.

    The function is interpolated at ever more Chebyshev points until the last quarter of its coefficients has died
    out (what aliases onto the others is smaller still), and cut where the tail of absolute values fits the tolerance.
    """
    low, high = interval
    if low == high:
        return np.atleast_1d(function(np.array([low])))[:1].astype(np.float64)
    for count in (2**k for k in range(5, 17)):
        coefficients = _series(function, interval, count)
        size = np.abs(coefficients)
        if size[-count // 4 :].sum() <= 0.01 * tolerance:
            tails = np.concatenate([np.cumsum(size[::-1])[::-1][1:], [0.0]])
            return coefficients[: int(np.argmax(tails <= 0.98 * tolerance)) + 1]
    raise ValueError(
        f"a polynomial of degree {2**16} does not reach the tolerance {tolerance:g}: "
        "the response jumps, or has a pole almost inside the interval"
    )


def _series(function: Callable[[np.ndarray], np.ndarray], interval: Interval, count: int) -> np.ndarray:
    """The Chebyshev coefficients of the interpolant at ``count`` points."""
    angles = np.pi * (np.arange(count) + 0.5) / count
    values = function(from_unit(np.cos(angles), interval))
    # A cosine transform, as the Fourier transform of the values and their mirror image.
    transform = np.fft.rfft(np.concatenate([values, values[::-1]]))[:count]
    coefficients = (transform * np.exp(-0.5j * np.pi * np.arange(count) / count)).real / count
    coefficients[0] /= 2
    return coefficients

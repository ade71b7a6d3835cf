"""Polynomials in two bases: powers of (frequency - centre), and Chebyshev polynomials of an interval."""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.linalg
from numpy.polynomial import Polynomial
from numpy.polynomial.chebyshev import chebder, chebroots, chebval

Interval = tuple[float, float]


def to_unit(frequency: Any, interval: Interval) -> np.ndarray:
    """The interval mapped to [-1, 1], where Chebyshev polynomials live; one of a single frequency is mapped to 0."""
    low, high = interval
    return (2 * np.asarray(frequency, dtype=np.float64) - low - high) / ((high - low) or np.inf)


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


@functools.lru_cache(maxsize=64)
def _moved(centre: float, interval: Interval) -> tuple[int, int, int]:
    """(middle, half, scale) with frequency - centre = (middle + half s) 2^-scale for s in [-1, 1], in whole numbers.

    Every float64 is such a fraction.
    """
    low, high = Fraction(interval[0]), Fraction(interval[1])
    parts = ((low + high) / 2 - Fraction(centre), (high - low) / 2)
    scale = max(part.denominator.bit_length() - 1 for part in parts)
    middle, half = (part.numerator << (scale - part.denominator.bit_length() + 1) for part in parts)
    return middle, half, scale


def chebyshev_series(coefficients: np.ndarray, centre: float, interval: Interval) -> np.ndarray:
    """The Chebyshev coefficients on the interval of sum_j coefficients[j] (frequency - centre)^j, each rounded once.

    Computed in exact rational arithmetic: with a centre far from a narrow interval the powers cancel, and floating
    point would leave nothing. A polynomial on a single frequency is the constant that it has there.
    """
    middle, half, scale = _moved(centre, interval)
    exact = [float(c).as_integer_ratio() for c in coefficients]
    start = max(denominator.bit_length() for _, denominator in exact) - 1
    numbers = [numerator << (start - denominator.bit_length() + 1) for numerator, denominator in exact]
    # Horner's rule in the Chebyshev basis, series <- series mu + c, with s T_k = (T_{k+1} + T_{k-1}) / 2: each step
    # multiplies the common denominator by 2^(scale + 1).
    series = [numbers[-1]]
    for step, number in enumerate(reversed(numbers[:-1]), 1):
        moved = [2 * middle * value for value in series] + [0]
        for k, value in enumerate(series):
            if k:
                moved[k + 1] += half * value
                moved[k - 1] += half * value
            else:
                moved[1] += 2 * half * value
        moved[0] += number << (step * (scale + 1))
        series = moved
    denominator = 1 << (start + (len(numbers) - 1) * (scale + 1))
    return np.array([value / denominator for value in series])


def evaluate(coefficients: np.ndarray, centre: float, series: np.ndarray, interval: Interval, frequency: Any) -> Any:
    """A polynomial at frequencies: by its Chebyshev series inside the interval, by its powers outside.

    Inside, the series loses no digits however far the centre is; far outside a narrow interval the powers do not.
    """
    frequency = np.asarray(frequency, dtype=np.float64)
    low, high = interval
    inside = (frequency >= low) & (frequency <= high)
    if low < high and inside.all():
        return chebval(to_unit(frequency, interval), series)
    values = powers(coefficients, centre)(frequency)
    if low < high and inside.any():
        return np.where(inside, chebval(to_unit(frequency, interval), series), values)
    return values


def zeros_and_ends(series: np.ndarray) -> np.ndarray:
    """-1, 1 and the zeros between them of a Chebyshev series."""
    size = np.abs(series)
    # A tail that is lost in rounding would spoil every root as leading coefficients.
    kept = int(np.max(np.flatnonzero(size > 4 * np.finfo(float).eps * size.max()), initial=0)) + 1
    roots = chebroots(series[:kept])
    # A double zero comes out as a pair slightly off the real axis: its real part is still a point worth a look.
    near = roots.real[np.abs(roots.imag) <= 1e-5]
    return np.concatenate([[-1.0, 1.0], near[np.abs(near) < 1]])


def complex_roots(series: np.ndarray) -> np.ndarray:
    """All finite complex zeros of a Chebyshev series, in the variable of [-1, 1].

    They are the eigenvalues of the colleague pencil, found without dividing by the leading coefficient, which may be
    next to nothing, and made sharper by Newton's method.
    """
    series = np.trim_zeros(np.asarray(series, dtype=np.float64), "b")
    n = len(series) - 1
    if n < 1:
        return np.zeros(0, dtype=complex)
    series = series / np.abs(series).max()
    if n == 1:
        return np.array([-series[0] / series[1]], dtype=complex)
    # s T_k = (T_{k+1} + T_{k-1}) / 2 for k < n, and c_n T_n = -sum_{k<n} c_k T_k in the last row.
    left, right = np.zeros((n, n)), np.eye(n)
    left[0, 1] = 1.0
    for k in range(1, n - 1):
        left[k, k - 1] = left[k, k + 1] = 0.5
    left[-1] = -series[:-1]
    left[-1, -2] += series[-1]
    right[-1, -1] = 2 * series[-1]
    roots = scipy.linalg.eigvals(left, right)
    roots = roots[np.isfinite(roots)]
    slope = chebder(series)
    with np.errstate(all="ignore"):
        for _ in range(3):
            step = chebval(roots, series) / chebval(roots, slope)
            roots = np.where(np.isfinite(step) & (np.abs(step) < 0.1 * (1 + np.abs(roots))), roots - step, roots)
    return roots


def interpolate(function: Callable[[np.ndarray], np.ndarray], interval: Interval, degree: int) -> np.ndarray:
    """degree + 1 Chebyshev coefficients of the polynomial that is the truncated series of a function.

    The series is taken from many more points than coefficients, so that a jump does not alias into them.
    """
    return sampled_series(function, interval, max(4096, 8 * (degree + 1)))[: degree + 1]


def sampled_series(function: Callable[[np.ndarray], np.ndarray], interval: Interval, count: int) -> np.ndarray:
    """The Chebyshev coefficients of the interpolant at ``count`` points."""
    angles = np.pi * (np.arange(count) + 0.5) / count
    values = function(from_unit(np.cos(angles), interval))
    # A cosine transform, as the Fourier transform of the values and their mirror image.
    transform = np.fft.rfft(np.concatenate([values, values[::-1]]))[:count]
    coefficients = (transform * np.exp(-0.5j * np.pi * np.arange(count) / count)).real / count
    coefficients[0] /= 2
    return coefficients

"""Proved bounds on polynomials and rational functions: no samples decide, and rounding is part of the bound.

Everything is a Chebyshev series sum_k c_k T_k(s) on s in [-1, 1]. With s = cos(t) it becomes g(t) = sum_k c_k cos(k t),
whose second derivative is at most sum_k k^2 |c_k| everywhere. So on a cell |t - m| <= r

    |g(t) - g(m)| <= |g'(m)| r + r^2 / 2 sum_k k^2 |c_k|,

and cells that might hold an extreme value are divided until the bound is as close to the best value seen as rounding
allows. The same is done on an ellipse about [-1, 1] in the complex plane, to prove that a denominator has no zero
there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

EPS = float(np.finfo(np.float64).eps)
# A cell is divided into this many; five rounds are a factor of 33 million in width. With fewer parts there are more
# rounds, whose cost is that of calling NumPy; with more parts, more cells that say nothing new.
PARTS, ROUNDS, MOST_CELLS = 32, 6, 100_000


@dataclass(frozen=True)
class Rows:
    """Several series side by side: (m, K + 1) coefficients, padded with zeros, and the absolute error of each value."""

    coefficients: np.ndarray
    error: np.ndarray
    curvature: np.ndarray

    @classmethod
    def of(cls, series: list[np.ndarray], *, width: int, scale: float = 1.0) -> Rows:
        """The rows of some series; ``scale`` is how much larger their values are than on [-1, 1], as on an ellipse."""
        table = np.zeros((len(series), width))
        for i, row in enumerate(series):
            table[i, : len(row)] = row
        k = np.arange(width)
        sizes = np.abs(table) * scale**k
        # Half a unit in the last place of each coefficient, and Horner's rule for z^k: about two operations a degree.
        error = EPS * (sizes @ (4.0 * k + 4.0))
        return cls(table, error, sizes @ (k**2.0))

    def at(self, owner: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """sum_k c_k z^k and sum_k k c_k z^k, cell by cell; ``owner`` says to which row a cell belongs."""
        k = np.arange(self.coefficients.shape[1])
        both = np.stack([self.coefficients, k * self.coefficients]).transpose(2, 0, 1)
        total = _horner(both.take(owner, axis=2) if len(self.coefficients) > 1 else both, z)
        return total[0], total[1]


def extremes(numerators: list[np.ndarray], denominators: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Proved bounds (low, high), one pair a row, with low <= N / D <= high on [-1, 1].

    Both are as close to the true extremes as rounding allows. Where D cannot be shown to have no zero on [-1, 1] they
    are -infinity and infinity.

    Args:
        numerators, denominators: Chebyshev series, one of each a row; a coefficient may be off by half a unit in its
            last place. ``[1.0]`` as denominator leaves a polynomial.
    """
    width = max(map(len, (*numerators, *denominators)))
    n, d = Rows.of(numerators, width=width), Rows.of(denominators, width=width)
    m, k = len(numerators), np.arange(width)
    table = np.stack([n.coefficients, k * n.coefficients, d.coefficients, k * d.coefficients]).transpose(2, 0, 1)
    low, high = np.full(m, np.inf), np.full(m, -np.inf)  # of the cells that are done with
    seen_low, seen_high = np.full(m, np.inf), np.full(m, -np.inf)
    count = 4 * (width + 3)
    radius = np.pi / (2 * count)
    owner = np.repeat(np.arange(m), count)
    middle = np.tile((2 * np.arange(count) + 1) * radius, m)
    for round_ in range(ROUNDS):
        below, above, at, noise = _cell_bounds(n, d, table, owner, middle, radius)
        np.minimum.at(seen_low, owner, at)
        np.maximum.at(seen_high, owner, at)
        slack = 2 * noise + 1e-10 * np.maximum(np.abs(seen_low), np.abs(seen_high))[owner]
        open_ = ~((below >= seen_low[owner] - slack) & (above <= seen_high[owner] + slack))
        last = round_ == ROUNDS - 1 or PARTS * np.count_nonzero(open_) > MOST_CELLS
        done = np.ones_like(open_) if last else ~open_
        np.minimum.at(low, owner[done], below[done])
        np.maximum.at(high, owner[done], above[done])
        if last or not open_.any():
            break
        owner, middle, radius = _divided(owner[open_], middle[open_], radius)
    return low, high


def _cell_bounds(
    n: Rows, d: Rows, table: np.ndarray, owner: np.ndarray, middle: np.ndarray, radius: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(below, above, value at the middle, rounding): with h = N / D at the middle, N - h D is zero there, and small.

    ``table`` holds n_k, k n_k, d_k and k d_k for each k and row, so that one pass of Horner's rule gives all four sums.
    """
    z = np.exp(1j * middle)
    rows = table.take(owner, axis=2)
    total = _horner(rows, z)
    # d/dt of Re sum c_k e^{ikt} is -Im sum k c_k e^{ikt}.
    top, bottom = total.real[0], total.real[2]
    top_slope, bottom_slope = total.imag[1], total.imag[3]
    weakest = np.abs(bottom) - np.abs(bottom_slope) * radius - d.curvature[owner] * (radius**2 / 2) - d.error[owner]
    with np.errstate(divide="ignore", invalid="ignore"):
        h = np.where(bottom == 0, 0.0, top / bottom)
        # N - h D has next to no curvature where N and D are nearly proportional.
        curvature = np.arange(len(table)) ** 2.0 @ np.abs(rows[:, 0] - h * rows[:, 2])
        drift = np.abs(top_slope - h * bottom_slope) * radius + curvature * (radius**2 / 2)
        noise = (n.error[owner] + np.abs(h) * d.error[owner]) * (1 + radius)
        spread = np.where(weakest > 0, (drift + noise) / weakest, np.inf)
        noise = np.where(weakest > 0, noise / weakest, 0.0)
    return h - spread, h + spread, h, noise


def _horner(rows: np.ndarray, z: np.ndarray) -> np.ndarray:
    """sum_k rows[k] z^k: (degree + 1, sums, cells or 1) real coefficients, (sums, cells) values."""
    total = np.zeros((rows.shape[1], len(z)), dtype=complex)
    total += rows[-1]
    for row in rows[-2::-1]:
        total *= z
        total.real += row
    return total


def _divided(owner: np.ndarray, middle: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray, float]:
    offsets = (2 * np.arange(PARTS) + 1 - PARTS) * radius / PARTS
    return np.repeat(owner, PARTS), (middle[:, None] + offsets).ravel(), radius / PARTS * (1 + 4 * EPS)


def range_of(series: np.ndarray) -> tuple[float, float]:
    """Proved bounds on a Chebyshev series on [-1, 1]."""
    low, high = extremes([series], [np.ones(1)])
    return float(low[0]), float(high[0])


def largest_on_ellipse(numerator: np.ndarray, denominator: np.ndarray, rho: float) -> float:
    """A proved bound on |N / D| on and in the ellipse with foci -1, 1 and half-axes' sum rho, or infinity.

    On the ellipse a series is sum_k c_k (w^k + w^-k) / 2 with w = rho e^{it}. D is followed around it in cells so small
    that its argument is known throughout: if that comes back to where it started, D has no zero inside, N / D is
    analytic there, and what bounds it on the ellipse bounds it inside.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        n, d = (Rows.of([series], width=len(series), scale=rho) for series in (numerator, denominator))
        if not (np.isfinite(n.curvature).all() and np.isfinite(d.curvature).all()):
            return np.inf
    count = 4 * (len(denominator) + 3)
    radius = np.pi / (2 * count)
    middle = (2 * np.arange(count) + 1) * radius
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    largest = 0.0
    for _ in range(ROUNDS):
        bottom, slope = _on_ellipse(d, middle, rho)
        away = slope * radius + d.curvature[0] * radius**2 / 2 + d.error[0]
        good = away < np.abs(bottom) / 2
        if good.any():
            top, top_slope = _on_ellipse(n, middle[good], rho)
            above = np.abs(top) + top_slope * radius + n.curvature[0] * radius**2 / 2 + n.error[0]
            largest = max(largest, float((above / (np.abs(bottom[good]) - away[good])).max()))
            kept.append((middle[good], bottom[good]))
        if good.all():
            return largest if _turns(kept) == 0 else np.inf
        if PARTS * np.count_nonzero(~good) > MOST_CELLS:
            break
        _, middle, radius = _divided(np.zeros(np.count_nonzero(~good), dtype=int), middle[~good], radius)
    return np.inf


def _on_ellipse(rows: Rows, middle: np.ndarray, rho: float) -> tuple[np.ndarray, np.ndarray]:
    """The value, and the absolute derivative with respect to t."""
    owner = np.zeros(len(middle), dtype=int)
    outer, outer_slope = rows.at(owner, rho * np.exp(1j * middle))
    inner, inner_slope = rows.at(owner, np.exp(-1j * middle) / rho)
    return (outer + inner) / 2, np.abs(outer_slope - inner_slope) / 2


def _turns(kept: list[tuple[np.ndarray, np.ndarray]]) -> int:
    """How often the argument goes round over the upper half, which the lower half mirrors.

    Within a cell the value stays in a disc about its middle value that leaves zero out, so that the argument changes by
    less than a quarter turn between the middle and an end, and by less than half a turn between neighbours.
    """
    middles, values = (np.concatenate(part) for part in zip(*kept, strict=True))
    values = values[np.argsort(middles)]
    # At t = 0 and t = pi the value is real, with the sign of the nearest cell's real part.
    path = np.concatenate([[np.sign(values[0].real)], values, [np.sign(values[-1].real)]])
    return round(float(np.angle(path[1:] / path[:-1]).sum()) / np.pi)

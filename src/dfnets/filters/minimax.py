"""Minimax design: the feedback-looped filter with the smallest possible largest error.

For a fixed level E the condition |h - N / D| <= E with D > 0 is linear: |h D - N| <= E D. Instead of bisecting on E,
the differential correction algorithm of Barrodale, Powell and Roberts minimises max (|h D - N| - E_k D) / D_k, one
linear program, at the error E_k of the last pair (N_k, D_k); the error falls at every step, and in the end
quadratically.

The bound on the feedback, |P| <= gamma with D = 1 - P, is linear too. Where D is 1 is the centre. When the design may
choose it, D is any polynomial with 1 - gamma <= D <= 1 + gamma, and the centre is where it passes through 1.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial.chebyshev import chebval, chebvander

from dfnets.filters.bounds import range_of
from dfnets.filters.polynomials import Interval, complex_roots, from_unit, in_powers, to_unit
from dfnets.responses import Response

# Without a bound gamma, how close to zero the denominator may come, relative to its largest value.
SMALLEST_DENOMINATOR = 1e-6
POINTS_PER_BAND = 401


def solve(
    response: Response,
    p: int,
    q: int,
    gamma: float | None,
    centre: float | None,
    interval: Interval,
    transition: float,
    near: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """psi, phi, the centre, and the largest error on the grid outside the transition bands.

    Args:
        gamma: the bound on |P|, or None for denominators that are positive only.
        centre: where D = 1, or None to choose it.
        near: D and N to begin with, as Chebyshev coefficients; D may be scaled.
    """
    bands = response.bands(interval, transition)
    if not bands:
        raise ValueError(f"transition={transition:g} leaves nothing of the interval {interval}: make it smaller")
    if transition == 0 and response.jumps:
        raise ValueError("a minimax design of a response that jumps needs transition > 0: at a jump the error is 1/2")
    program = _Program(response, p, q, gamma, centre, interval, bands)
    denominator, numerator, error = program.descend(*near)
    return *_coefficients(denominator, numerator, p, q, centre, interval), error


class _Program:
    """The linear programs of one design, on a grid of Chebyshev points of each band."""

    def __init__(
        self,
        response: Response,
        p: int,
        q: int,
        gamma: float | None,
        centre: float | None,
        interval: Interval,
        bands: list[Interval],
    ) -> None:
        self.p = p
        angles = np.cos(np.linspace(0, np.pi, POINTS_PER_BAND))
        self.points = np.unique(np.concatenate([from_unit(angles, band) for band in bands]))
        self.wanted = response(self.points)
        self.d = chebvander(to_unit(self.points, interval), p)
        self.n = chebvander(to_unit(self.points, interval), q)
        whole = angles
        self.everywhere = chebvander(whole, p)
        low, high = (SMALLEST_DENOMINATOR, 1.0) if gamma is None else (1 - gamma, 1 + gamma)
        # The rows of the variables (D, N, t); D is kept within [low, high] on a grid, and 1 at a given centre. Without
        # gamma any positive D can be scaled to pass through 1 wherever one likes, so the centre says nothing.
        empty = np.zeros((len(self.everywhere), q + 2))
        self.bounds = np.vstack([np.hstack([self.everywhere, empty]), np.hstack([-self.everywhere, empty])])
        self.limits = np.concatenate([np.full(len(whole), high), np.full(len(whole), -low)])
        # Only a few rows bind. Each program starts from these and takes in what it breaks.
        self.rows = np.arange(0, 2 * (len(self.points) + len(whole)), 12)
        self.equal, self.one = None, None
        if centre is not None and gamma is not None:
            self.equal = np.hstack([chebvander(to_unit(centre, interval), p), np.zeros((1, q + 2))]).reshape(1, -1)
            self.one = np.ones(1)

    def descend(self, denominator: np.ndarray, numerator: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """D and N in Chebyshev coefficients, and their largest error, from a pair with D > 0."""
        error = self._error(denominator, numerator)
        for _ in range(60):
            trial = self._correct(denominator, error)
            if trial is None:
                break
            new_error = self._error(*trial)
            if not new_error < error:
                break
            (denominator, numerator), gain, error = trial, error - new_error, new_error
            if gain <= 1e-6 * error:
                break
        return denominator, numerator, error

    def _error(self, denominator: np.ndarray, numerator: np.ndarray) -> float:
        return float(np.abs(self.wanted - self.n @ numerator / (self.d @ denominator)).max())

    def _correct(self, denominator: np.ndarray, error: float) -> tuple[np.ndarray, np.ndarray] | None:
        from scipy.optimize import linprog  # slow to import, and only designs need it

        weight = (self.d @ denominator)[:, None]
        above = np.hstack([(self.wanted - error)[:, None] * self.d, -self.n, -weight])
        below = np.hstack([-(self.wanted + error)[:, None] * self.d, self.n, -weight])
        matrix = np.vstack([above, below, self.bounds])
        right = np.concatenate([np.zeros(2 * len(self.points)), self.limits])
        cost = np.zeros(above.shape[1])
        cost[-1] = 1
        for _ in range(30):
            result = linprog(
                cost,
                A_ub=matrix[self.rows],
                b_ub=right[self.rows],
                A_eq=self.equal,
                b_eq=self.one,
                # t is bounded so that a program of few rows is, too; it is an error of at most a few units.
                bounds=[(None, None)] * (len(cost) - 1) + [(-1e3, None)],
                method="highs-ds",
                options={"presolve": False},  # which takes longer than the program of so few rows itself
            )
            if result.x is None:
                return None
            excess = matrix @ result.x - right
            broken = _peaks(excess, 1e-9)
            if not len(broken):
                break
            self.rows = np.union1d(self.rows, broken)
        return result.x[: self.p + 1], result.x[self.p + 1 : -1]


def _peaks(excess: np.ndarray, most: float) -> np.ndarray:
    """Where a vector is above ``most`` and not below either neighbour."""
    padded = np.pad(excess, 1, constant_values=-np.inf)
    peak = (excess >= padded[:-2]) & (excess >= padded[2:])
    return np.flatnonzero(peak & (excess > most))


def _coefficients(
    denominator: np.ndarray,
    numerator: np.ndarray,
    p: int,
    q: int,
    centre: float | None,
    interval: Interval,
) -> tuple[np.ndarray, np.ndarray, float]:
    """psi, phi and the centre of N / D, scaled so that D is 1 at the centre."""
    if centre is None:
        centre = _where_one(denominator, interval)
    scale = 1 / float(chebval(to_unit(centre, interval), denominator))
    to_powers = in_powers(max(p, q), interval, centre)
    psi = scale * (denominator @ to_powers[: p + 1, 1 : p + 1])
    phi = scale * (numerator @ to_powers[: q + 1, : q + 1])
    return psi, phi, centre


def _where_one(denominator: np.ndarray, interval: Interval) -> float:
    """The frequency at which D is 1 when it is scaled to range evenly about 1, which has the smallest |P|."""
    smallest, most = range_of(denominator)
    level = denominator.copy()
    level[0] -= (smallest + most) / 2
    roots = complex_roots(level)
    real = roots.real[(np.abs(roots.imag) < 1e-7) & (np.abs(roots.real) <= 1)]
    return float(from_unit(real[np.argmin(np.abs(real))] if len(real) else 0.0, interval))

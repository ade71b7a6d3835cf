"""The certificate: what is proved of a feedback-looped filter on an interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.chebyshev import chebval

from dfnets.filters.base import Cost
from dfnets.filters.feedback import FeedbackLoopedFilter
from dfnets.filters.polynomials import Interval, critical_points, from_unit, interpolate, largest, to_unit
from dfnets.responses import Response

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Errors:
    """How far a response is from the one that was wanted, transition bands left out.

    Attributes:
        l2: root mean square over the bands.
        linf: the largest.
        pass_ripple, stop_ripple: the largest where 1 and where 0 is wanted; None when the target is no ideal step.
    """

    l2: float
    linf: float
    pass_ripple: float | None
    stop_ripple: float | None


@dataclass(frozen=True)
class Certificate:
    """What is proved of a feedback-looped filter for every graph whose spectrum lies in ``interval``.

    Attributes:
        contraction: the largest |P|, from the extrema of the polynomial. The recursion's error falls by at least this
            factor an iteration.
        stable: whether it is below 1.
        denominator: the range of 1 - P; a sign change is a pole in the interval.
        poles: the complex zeros of 1 - P, as frequencies; ``pole_margin`` their least distance from the interval.
        gain: the largest |response|.
        errors: against the target, where the filter has one.
        tol: the tolerance that the costs are for.
        costs: iterations and products of each method, or why it cannot be used.
        cheapest: the method with the fewest products.
        polynomial: the errors of the Chebyshev polynomial of the target at that many products.
        float32_contraction: the largest |P| once psi is rounded to float32.
        float32_change: the largest change of the response when psi and phi are rounded to float32.
    """

    interval: Interval
    contraction: float
    stable: bool
    denominator: tuple[float, float]
    poles: np.ndarray
    pole_margin: float
    gain: float
    errors: Errors | None
    tol: float
    costs: Mapping[str, Cost | str]
    cheapest: str | None
    polynomial: Errors | None
    float32_contraction: float
    float32_change: float

    def table(self) -> Table:
        """For a terminal."""
        from rich.table import Table

        table = Table("proved on the interval", f"[{self.interval[0]:.6g}, {self.interval[1]:.6g}]")
        verdict = "the recursion converges" if self.stable else "the recursion diverges"
        table.add_row("largest |P|", f"{self.contraction:.6g} ({verdict})")
        table.add_row("1 - P", f"from {self.denominator[0]:.6g} to {self.denominator[1]:.6g}")
        table.add_row("poles", ", ".join(f"{pole:.3f}" for pole in self.poles) or "none")
        table.add_row("distance of the nearest", f"{self.pole_margin:.4g}")
        table.add_row("largest gain", f"{self.gain:.6g}")
        for name, errors in (("error", self.errors), (f"polynomial of {self._products} products", self.polynomial)):
            if errors is not None:
                table.add_row(f"{name}: L2 / largest", f"{errors.l2:.4g} / {errors.linf:.4g}")
                if errors.pass_ripple is not None and errors.stop_ripple is not None:
                    table.add_row(f"{name}: pass / stop ripple", f"{errors.pass_ripple:.4g} / {errors.stop_ripple:.4g}")
        for method, cost in self.costs.items():
            text = cost if isinstance(cost, str) else f"{cost.products} products ({cost.iterations} iterations)"
            table.add_row(f"{method}, to {self.tol:g}", text + (" *" if method == self.cheapest else ""))
        table.add_row("in float32: largest |P|", f"{self.float32_contraction:.6g}")
        table.add_row("in float32: change of response", f"{self.float32_change:.3g}")
        return table

    @property
    def _products(self) -> int | None:
        cost = self.costs.get(self.cheapest or "")
        return cost.products if isinstance(cost, Cost) else None


def certify(f: FeedbackLoopedFilter, interval: Interval, tol: float) -> Certificate:
    """The certificate of a filter on an interval."""
    ranges = f.ranges(interval)
    poles = f.poles()
    costs = f.costs(tol, interval)
    possible = {name: cost.products for name, cost in costs.items() if isinstance(cost, Cost)}
    cheapest = min(possible, key=lambda name: possible[name]) if possible else None
    errors = polynomial = None
    if f.target is not None and not ranges.has_pole:
        points = critical_points(f.feedforward_polynomial, f.denominator_polynomial, interval)
        errors = measure(f.response, f.target, interval, f.transition, points)
        if cheapest is not None:
            polynomial = measure(
                _polynomial(f.target, interval, possible[cheapest]), f.target, interval, f.transition, np.zeros(0)
            )
    rounded = FeedbackLoopedFilter(
        f.psi.astype(np.float32), f.phi.astype(np.float32), centre=f.centre, interval=f.interval
    )
    return Certificate(
        interval=interval,
        contraction=ranges.contraction,
        stable=ranges.contraction < 1,
        denominator=ranges.denominator,
        poles=poles,
        pole_margin=float(_distance(poles, interval).min(initial=np.inf)),
        gain=ranges.gain,
        errors=errors,
        tol=tol,
        costs=costs,
        cheapest=cheapest,
        polynomial=polynomial,
        float32_contraction=largest(rounded.feedback_polynomial, interval),
        float32_change=_largest_change(f, rounded, interval),
    )


def measure(
    response: object, target: Response, interval: Interval, transition: float, critical: np.ndarray, points: int = 4097
) -> Errors:
    """The errors of a response against a target on the bands of an interval.

    Args:
        response: a callable of the frequency.
        critical: where the response may be extreme; with the band edges these are exactly where the error against an
            ideal step is largest. A fine grid of each band covers targets of other kinds.
        points: of that grid, Chebyshev-spaced.
    """
    assert callable(response)
    squares = length = linf = 0.0
    ripple = {1.0: 0.0, 0.0: 0.0}
    nodes, weights = _clenshaw_curtis(points)
    for low, high in target.bands(interval, transition):
        grid = from_unit(nodes, (low, high))
        # The target's own value at a jump belongs to one side only; the band takes it from its inside.
        wanted = target(np.clip(grid, np.nextafter(low, high), np.nextafter(high, low)))
        error = response(grid) - wanted
        squares += float(weights @ error**2) * (high - low)
        length += high - low
        extra = critical[(critical > low) & (critical < high)]
        worst = max(np.abs(error).max(), np.abs(response(extra) - target(extra)).max(initial=0.0))
        linf = max(linf, float(worst))
        if target.ideal:
            ripple[float(wanted[points // 2])] = max(ripple[float(wanted[points // 2])], float(worst))
    rms = float(np.sqrt(squares / length)) if length else 0.0
    return Errors(rms, linf, *(ripple[1.0], ripple[0.0]) if target.ideal else (None, None))


@cache
def _clenshaw_curtis(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes on [-1, 1] and weights that sum to 1 (the mean of a function).

    Kept between calls: its cosines would be nineteen twentieths of the time that a certificate takes.
    """
    degree = points - 1
    angles = np.pi * np.arange(points) / degree
    even = np.arange(0, degree + 1, 2)
    moments = 2 / (1 - even.astype(float) ** 2)
    moments[[0, -1]] /= 2
    weights = np.cos(np.outer(angles, even)) @ moments / degree
    weights[[0, -1]] /= 2
    return np.cos(angles), weights


def _polynomial(target: Response, interval: Interval, degree: int) -> object:
    coefficients = interpolate(target, interval, degree)
    return lambda frequency: chebval(to_unit(frequency, interval), coefficients)


def _distance(poles: np.ndarray, interval: Interval) -> np.ndarray:
    return np.abs(poles - np.clip(poles.real, *interval))


def _largest_change(f: FeedbackLoopedFilter, rounded: FeedbackLoopedFilter, interval: Interval) -> float:
    if f.ranges(interval).has_pole:
        return np.inf
    grid = np.linspace(*interval, 4097)
    return float(np.abs(f.response(grid) - rounded.response(grid)).max())

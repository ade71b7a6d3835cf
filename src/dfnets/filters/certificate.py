"""The certificate: what is proved of a feedback-looped filter on an interval."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.chebyshev import chebadd, chebmul, chebval

from dfnets.filters import bounds, show
from dfnets.filters.expansion import expand
from dfnets.filters.feedback import FeedbackLoopedFilter
from dfnets.filters.plan import Cost
from dfnets.filters.polynomials import Interval, chebyshev_series, from_unit, interpolate, to_unit
from dfnets.filters.ranges import Series
from dfnets.responses import Response

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

# A target that needs a longer polynomial than this is compared on a grid, and the certificate says so.
LONGEST_TARGET = 400
# The largest number of products for which a polynomial of the same cost is compared.
LONGEST_PEER = 4096


@dataclass(frozen=True)
class Errors:
    """How far a response is from the one that was wanted, transition bands left out.

    Attributes:
        l2: root mean square over the bands, by quadrature at 1,025 points of each band: computed, not proved.
        linf: the largest.
        pass_ripple, stop_ripple: the largest where 1 and where 0 is wanted; None when the target is no ideal step.
        proved: whether ``linf`` and the ripples are proved bounds, or the largest values on a grid. Of a target that is
            an arbitrary Python function nothing can be proved.
    """

    l2: float
    linf: float
    pass_ripple: float | None
    stop_ripple: float | None
    proved: bool = False


@dataclass(frozen=True)
class Certificate:
    """What is proved of a feedback-looped filter for every graph whose spectrum lies in ``interval``.

    Printing it gives a table.

    Attributes:
        contraction: a proved bound on |P|. The recursion's error falls by at least this factor an iteration.
        stable: whether it is below 1.
        denominator: proved bounds on 1 - P; if they differ in sign, there is a pole in the interval.
        gain: a proved bound on |response|.
        errors: against the target, where the filter has one.
        tol: the tolerance that the costs are for.
        costs: iterations and products of each method in exact arithmetic, or why it cannot be used.
        cheapest: the method with the fewest products.
        poles: the complex zeros of 1 - P, as frequencies; ``pole_margin`` their least distance from the interval. They
            are computed to rounding, which is not a proof; that none lies in the interval is proved by ``denominator``.
        polynomial: the errors of the Chebyshev polynomial of the target with as many products as ``cheapest`` takes, on
            a grid; None where that is more than 4,096.
        float32_contraction: a proved bound on |P| once psi is rounded to float32.
        float32_change: a proved bound on the change of the response when psi and phi are rounded to float32.
    """

    interval: Interval
    contraction: float
    stable: bool
    denominator: tuple[float, float]
    gain: float
    errors: Errors | None
    tol: float
    costs: Mapping[str, Cost | str]
    cheapest: str | None
    poles: np.ndarray
    pole_margin: float
    polynomial: Errors | None
    float32_contraction: float
    float32_change: float

    def __str__(self) -> str:
        return show.as_text(self._title, self._sections())

    def _repr_html_(self) -> str:
        return show.as_html(self._title, self._sections())

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Contraction, error and cost as a figure, saved to ``path`` when given."""
        from dfnets import plots

        return plots.certificate_figure(self, path)

    def table(self) -> Table:
        """For a terminal with colours and boxes."""
        from rich.markup import escape
        from rich.table import Table

        table = Table("certificate on the interval", escape(f"[{self.interval[0]:.6g}, {self.interval[1]:.6g}]"))
        for heading, rows in self._sections():
            table.add_section()
            table.add_row(f"[bold]{heading}[/bold]", "")
            for name, value in rows:
                table.add_row(escape(name), escape(value))
        return table

    @property
    def _title(self) -> str:
        return f"Certificate for every graph with frequencies in [{self.interval[0]:.6g}, {self.interval[1]:.6g}]"

    def _sections(self) -> list[show.Section]:
        verdict = "the recursion converges" if self.stable else "the recursion need not converge"
        proved = [
            ("largest |P|", f"{self.contraction:.6g} ({verdict})"),
            ("1 - P", f"from {self.denominator[0]:.6g} to {self.denominator[1]:.6g}"),
            ("largest gain", f"{self.gain:.6g}"),
            ("in float32: largest |P|", f"{self.float32_contraction:.6g}"),
            ("in float32: change of response", f"{self.float32_change:.3g}"),
        ]
        computed = [
            ("poles", ", ".join(f"{pole:.3f}" for pole in self.poles) or "none"),
            ("distance of the nearest", f"{self.pole_margin:.4g}"),
        ]
        if self.errors is not None:
            (proved if self.errors.proved else computed).extend(_largest_rows("error", self.errors))
            computed.append(("error: root mean square", f"{self.errors.l2:.4g}"))
        if self.polynomial is not None:
            computed += _largest_rows(f"polynomial of {self._products} products", self.polynomial)
        work = []
        for method, cost in self.costs.items():
            text = cost if isinstance(cost, str) else f"{cost.products:,} products ({cost.iterations:,} iterations)"
            work.append((method, text + (", the fewest" if method == self.cheapest else "")))
        return [("proved", proved), ("computed", computed), (f"work for a tolerance of {self.tol:g}", work)]

    @property
    def _products(self) -> int | None:
        cost = self.costs.get(self.cheapest or "")
        return cost.products if isinstance(cost, Cost) else None


def _largest_rows(name: str, errors: Errors) -> list[show.Row]:
    rows = [(f"{name}: largest", f"{errors.linf:.4g}")]
    if errors.pass_ripple is not None and errors.stop_ripple is not None:
        rows.append((f"{name}: pass / stop ripple", f"{errors.pass_ripple:.4g} / {errors.stop_ripple:.4g}"))
    return rows


def certify(f: FeedbackLoopedFilter, interval: Interval, tol: float) -> Certificate:
    """The certificate of a filter on an interval."""
    ranges = f.ranges(interval)
    poles = f.poles()
    costs = f.costs(tol, interval)
    possible = {name: cost.products for name, cost in costs.items() if isinstance(cost, Cost)}
    cheapest = min(possible, key=lambda name: possible[name]) if possible else None
    errors = polynomial = None
    if f.target is not None and not ranges.has_pole:
        errors = errors_of(f, f.target, interval)
        if cheapest is not None and possible[cheapest] <= LONGEST_PEER:
            peer = interpolate(f.target, interval, possible[cheapest])
            polynomial = measure(lambda at: chebval(to_unit(at, interval), peer), f.target, interval, f.transition)
    contraction32, change32 = _in_float32(f, interval)
    return Certificate(
        interval=interval,
        contraction=ranges.contraction,
        stable=ranges.contraction < 1,
        denominator=ranges.denominator,
        gain=ranges.gain,
        errors=errors,
        tol=tol,
        costs=costs,
        cheapest=cheapest,
        poles=poles,
        pole_margin=float(np.abs(poles - np.clip(poles.real, *interval)).min(initial=np.inf)),
        polynomial=polynomial,
        float32_contraction=contraction32,
        float32_change=change32,
    )


def errors_of(f: FeedbackLoopedFilter, target: Response, interval: Interval) -> Errors:
    """The errors of a filter against a target: proved where the target is one of :mod:`dfnets.responses`."""
    measured = measure(f.response, target, interval, f.transition)
    bands = target.bands(interval, f.transition)
    try:
        differences = [_difference(f.series(band), target, band) for band in bands]
    except ValueError:
        return measured
    if not differences:
        return measured
    tops, bottoms, slacks, levels = zip(*differences, strict=True)
    low, high = bounds.extremes(list(tops), list(bottoms))
    # Where the filter is close to its target, N - T D is a difference of numbers that were rounded before it was taken.
    rounding = [_rounding(f.series(band), level) for band, level in zip(bands, levels, strict=True)]
    worst = np.maximum(np.abs(low), np.abs(high)) + slacks + np.array(rounding) / f.ranges(interval).weakest
    ripple = {
        level: max((w for w, at in zip(worst, levels, strict=True) if at == level), default=0.0) for level in (1, 0)
    }
    passing, stopping = (float(ripple[1]), float(ripple[0])) if target.ideal else (None, None)
    return Errors(measured.l2, float(worst.max()), passing, stopping, proved=True)


def _rounding(s: Series, level: float) -> float:
    """How far rounding may put the computed N - T D from the exact one, T of the size of its middle value or of 1."""
    sizes = np.abs(s.feedforward).sum(), np.abs(s.denominator).sum()
    return 4 * bounds.EPS * float(sizes[0] + max(1.0, abs(level)) * sizes[1])


def _difference(s: Series, target: Response, band: Interval) -> tuple[np.ndarray, np.ndarray, float, float]:
    """(Q - T (1 - P), 1 - P, how far T is from the target, T's middle value), T a polynomial that stands for it."""
    middle = float(target((band[0] + band[1]) / 2))
    if target.ideal:
        return np.asarray(chebadd(s.feedforward, -middle * s.denominator)), s.denominator, 1e-15, middle
    tail = target.tail(band)
    if tail is None or tail(LONGEST_TARGET) > 1e-9:
        raise ValueError("nothing can be proved of this target")
    found = expand(target, band, 1e-9, tail, 1e-14)
    top = chebadd(s.feedforward, -np.asarray(chebmul(found.coefficients, s.denominator)))
    return np.asarray(top), s.denominator, found.error + 1e-14, middle


def measure(
    response: Callable[[np.ndarray], np.ndarray], target: Response, interval: Interval, transition: float
) -> Errors:
    """The errors of a response against a target on a Chebyshev grid of each band: an estimate, not a bound."""
    squares = length = linf = 0.0
    ripple = {1.0: 0.0, 0.0: 0.0}
    nodes, weights = _clenshaw_curtis(1025)
    for low, high in target.bands(interval, transition):
        grid = from_unit(nodes, (low, high))
        # The target's own value at a jump belongs to one side only; the band takes it from its inside.
        wanted = target(np.clip(grid, np.nextafter(low, high), np.nextafter(high, low)))
        error = response(grid) - wanted
        squares += float(weights @ error**2) * (high - low)
        length += high - low
        worst = float(np.abs(error).max())
        linf = max(linf, worst)
        if target.ideal:
            level = float(wanted[len(wanted) // 2])
            ripple[level] = max(ripple[level], worst)
    rms = float(np.sqrt(squares / length)) if length else 0.0
    return Errors(rms, linf, *(ripple[1.0], ripple[0.0]) if target.ideal else (None, None))


@cache
def _clenshaw_curtis(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes on [-1, 1] and weights that sum to 1 (the mean of a function).

    Kept between calls: its cosines would be most of the time that a certificate takes.
    """
    degree = points - 1
    angles = np.pi * np.arange(points) / degree
    even = np.arange(0, degree + 1, 2)
    moments = 2 / (1 - even.astype(float) ** 2)
    moments[[0, -1]] /= 2
    weights = np.cos(np.outer(angles, even)) @ moments / degree
    weights[[0, -1]] /= 2
    return np.cos(angles), weights


def _in_float32(f: FeedbackLoopedFilter, interval: Interval) -> tuple[float, float]:
    """The largest |P|, and the largest change of the response, once the coefficients are rounded to float32.

    With N, D and their changes n, d: (N + n) / (D + d) - N / D = (n D - N d) / (D (D + d)). The changes are exact in
    float64, so that nothing is lost in a difference of two responses that are nearly the same.
    """
    with np.errstate(over="ignore"):
        psi, phi = (part.astype(np.float32).astype(np.float64) for part in (f.psi, f.phi))
    if not (np.isfinite(psi).all() and np.isfinite(phi).all()):
        return np.inf, np.inf
    s = f.series(interval)
    feedback, n, d = (
        chebyshev_series(part, f.centre, interval)
        for part in (np.concatenate([[0.0], -psi]), phi - f.phi, np.concatenate([[0.0], psi - f.psi]))
    )
    rounded = np.asarray(chebadd(s.denominator, d))
    top = np.asarray(chebadd(chebmul(n, s.denominator), -np.asarray(chebmul(s.feedforward, d))))
    one = np.ones(1)
    low, high = bounds.extremes([feedback, top], [one, np.asarray(chebmul(s.denominator, rounded))])
    change = max(abs(low[1]), abs(high[1]))
    sizes = [float(np.abs(part).sum()) for part in (n, s.denominator, s.feedforward, d)]
    weakest = f.ranges(interval).weakest
    if not weakest:
        return float(max(abs(low[0]), abs(high[0]))), np.inf
    rounding = 8 * bounds.EPS * (sizes[0] * sizes[1] + sizes[2] * sizes[3]) / weakest**2
    return float(max(abs(low[0]), abs(high[0]))), float(change) + rounding

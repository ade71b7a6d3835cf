"""Filter banks that lose nothing: wavelet frames on graphs, analysed and put together again in one chain each.

A frame is J filters g_1 .. g_J. Analysis gives the J signals g_j(L^) x. With A <= sum_j g_j^2 <= B on the spectrum,

    A norm(x)^2 <= sum_j norm(g_j(L^) x)^2 <= B norm(x)^2,

and x comes back from its coefficients. The filters are Chebyshev polynomials, so that the bounds are proved for what is
computed, not only for what was wanted. The frame is tight when A = B = 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebadd, chebmul, chebval

from dfnets import engine
from dfnets.filters.bounds import EPS, largest_on_ellipse, range_of
from dfnets.filters.checks import checked_interval, checked_signal
from dfnets.filters.expansion import ellipse_tail, expand, joukowski
from dfnets.filters.polynomials import Interval, complex_roots, interpolate, sampled_series, to_unit
from dfnets.graph import Graph
from dfnets.shift import Shift

Kernel = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class FrameBounds:
    """A and B with A norm(x)^2 <= sum_j norm(g_j(L^) x)^2 <= B norm(x)^2, proved for every spectrum in the interval."""

    lower: float
    upper: float


class Frame:
    """J polynomial filters on one interval, applied together.

    Args:
        theta: (J, K + 1) Chebyshev coefficients, one filter per row.
        interval: the frequencies that the frame serves; (0, 2) serves every graph.
        name: of the family.

    >>> frame = meyer(scales=3)
    >>> frame
    Frame('meyer', filters=4, degree=60, interval=[0, 2])
    >>> bounds = frame.bounds()
    >>> 0.9 < bounds.lower <= bounds.upper < 1.1
    True
    """

    def __init__(self, theta: Any, interval: Interval = (0.0, 2.0), *, name: str = "frame") -> None:
        self.theta: np.ndarray = np.array(theta, dtype=np.float64)
        if self.theta.ndim != 2 or not self.theta.size or not np.isfinite(self.theta).all():
            raise ValueError(f"theta has shape {self.theta.shape}: it must be (J, K + 1), with finite entries")
        self.theta.flags.writeable = False
        self.interval = checked_interval(interval)
        if self.interval[0] == self.interval[1]:
            raise ValueError(f"interval={interval!r} is a single frequency; it must have a length")
        self.name = name

    @classmethod
    def fit(
        cls,
        kernels: Sequence[Kernel],
        degree: int = 60,
        interval: Interval = (0.0, 2.0),
        *,
        tight: bool = False,
        name: str = "frame",
    ) -> Frame:
        """The truncated Chebyshev series of some gains of the frequency.

        Args:
            kernels: callables on arrays of frequencies.
            tight: divide them by sqrt(sum_j g_j^2) first, which makes any bank without a common zero a tight frame.
        """
        if degree < 1 or not kernels:
            raise ValueError(f"degree={degree} must be at least 1, and there must be a kernel")

        def normalised(kernel: Kernel) -> Kernel:
            if not tight:
                return kernel
            return lambda f: kernel(f) / np.sqrt(np.sum([other(f) ** 2 for other in kernels], axis=0))

        interval = checked_interval(interval)
        return cls([interpolate(normalised(kernel), interval, degree) for kernel in kernels], interval, name=name)

    def __len__(self) -> int:
        return len(self.theta)

    def __repr__(self) -> str:
        low, high = self.interval
        degree = self.theta.shape[1] - 1
        return f"Frame({self.name!r}, filters={len(self)}, degree={degree}, interval=[{low:g}, {high:g}])"

    def response(self, frequency: Any) -> np.ndarray:
        """(J, ...) the gains of all filters at frequencies of L^."""
        return chebval(to_unit(frequency, self.interval), self.theta.T)

    def bounds(self, graph: Graph | Shift | None = None) -> FrameBounds:
        """The frame bounds on the frame's interval, or on that of a graph: proved, and as tight as rounding allows."""
        interval = self.interval if graph is None else self.shift_of(graph).interval
        if interval[0] == interval[1]:
            total = float((self.response(interval[0]) ** 2).sum())
            return FrameBounds(max(0.0, total * (1 - 1e-12)), total * (1 + 1e-12))
        low, high = range_of(self._squares(interval))
        return FrameBounds(max(0.0, low), high)

    def shift_of(self, graph: Graph | Shift) -> Shift:
        """The shift of a graph, refused unless its interval is inside the frame's."""
        shift = graph if isinstance(graph, Shift) else Shift(graph)
        if shift.interval[0] < self.interval[0] - 1e-12 or shift.interval[1] > self.interval[1] + 1e-12:
            raise ValueError(
                f"the frame serves frequencies in [{self.interval[0]:g}, {self.interval[1]:g}], but the graph's lie in "
                f"[0, {shift.interval[1]:.6g}]: make it for that interval, or for (0, 2)"
            )
        return shift

    def analyse(self, graph: Graph | Shift, x: Any) -> np.ndarray:
        """The coefficients g_j(L^) x of a signal (n,) or (n, k), as (J, n) or (J, n, k).

        One chain of K products makes all J of them.
        """
        shift = self.shift_of(graph)
        signal = checked_signal(x, shift.num_nodes).astype(np.float64)
        return engine.analysis(shift, signal, self.theta, interval=self.interval)

    def synthesise(self, graph: Graph | Shift, coefficients: Any) -> np.ndarray:
        """sum_j g_j(L^) c_j of coefficients (J, n) or (J, n, k): the adjoint of analysis, in one chain.

        Of a tight frame this is the signal itself; :meth:`invert` is exact for any frame.
        """
        shift = self.shift_of(graph)
        parts = np.asarray(coefficients, dtype=np.float64)
        if parts.ndim not in (2, 3) or parts.shape[:2] != (len(self), shift.num_nodes) or not np.isfinite(parts).all():
            raise ValueError(
                f"coefficients has shape {parts.shape}: it must be ({len(self)}, {shift.num_nodes}) or "
                f"({len(self)}, {shift.num_nodes}, k), with finite entries"
            )
        columns = np.ascontiguousarray(parts if parts.ndim == 3 else parts[..., None])
        total = engine.clenshaw(shift, columns, self.theta, interval=self.interval)
        return total if parts.ndim == 3 else total[..., 0]

    def invert(self, graph: Graph | Shift, coefficients: Any, *, tol: float = 1e-8) -> np.ndarray:
        """The signal of its coefficients: (sum_j g_j^2)(L^)^-1 sum_j g_j(L^) c_j, the least-squares solution.

        Args:
            tol: of the expansion of 1 / sum_j g_j^2, relative to the norm of the synthesis.
        """
        shift = self.shift_of(graph)
        bounds = self.bounds(shift)
        if bounds.lower <= 0:
            raise ValueError(f"the filters have a common zero in [0, {shift.interval[1]:.6g}]: this bank is no frame")
        y = self.synthesise(shift, coefficients)
        inverse = self._reciprocal(shift.interval, bounds, tol)
        if shift.interval[0] == shift.interval[1]:
            return y * inverse[0]
        return engine.clenshaw(shift, np.ascontiguousarray(y), inverse)

    def _on(self, interval: Interval) -> np.ndarray:
        """(J, K + 1): the coefficients on an interval inside the frame's own."""
        if interval == self.interval:
            return self.theta
        if interval[0] == interval[1]:
            return self.response(interval[0])[:, None]
        degree = self.theta.shape[1]
        return np.array([sampled_series(partial(_one, self, j), interval, degree) for j in range(len(self))])

    def _squares(self, interval: Interval) -> np.ndarray:
        """sum_j g_j^2 as a Chebyshev series on an interval."""
        total = np.zeros(1)
        for row in self._on(interval):
            total = np.asarray(chebadd(total, chebmul(row, row)))
        return total

    def _reciprocal(self, interval: Interval, bounds: FrameBounds, tol: float) -> np.ndarray:
        """The Chebyshev coefficients of 1 / sum_j g_j^2, proved to tol from the zeros of the sum."""
        if interval[0] == interval[1]:
            return np.array([1 / bounds.upper])
        total = self._squares(interval)
        reach = np.abs(joukowski(complex_roots(total))).min(initial=64.0)
        rho = 1 + (reach - 1) * np.array([0.5, 0.8, 0.95])
        largest = [largest_on_ellipse(np.ones(1), total, float(r)) for r in rho]
        noise = 4 * EPS * float(np.abs(total) @ (np.arange(len(total)) + 1.0)) / bounds.lower**2
        tail = ellipse_tail(rho, np.log(largest))
        return expand(lambda f: 1 / chebval(to_unit(f, interval), total), interval, tol, tail, noise).coefficients


def meyer(scales: int = 4, *, degree: int = 60, interval: Interval = (0.0, 2.0)) -> Frame:
    """Meyer wavelets: a low-pass and ``scales`` octave bands that overlap smoothly and make a tight frame."""
    return _octaves("meyer", scales, degree, interval, lambda t: t**4 * (35 - 84 * t + 70 * t**2 - 20 * t**3))


def held(scales: int = 4, *, degree: int = 60, interval: Interval = (0.0, 2.0)) -> Frame:
    """Held's wavelets: as :func:`meyer`, with a transition of degree three between the octaves."""
    return _octaves("held", scales, degree, interval, lambda t: t**2 * (3 - 2 * t))


def heat(times: Sequence[float] = (1.0, 4.0, 16.0), *, degree: int = 60, interval: Interval = (0.0, 2.0)) -> Frame:
    """Heat kernels exp(-t frequency) at several times with their complement, scaled to a tight frame."""
    if not len(times) or min(times) <= 0:
        raise ValueError(f"times={list(times)} must be positive diffusion times, at least one")
    kernels: list[Kernel] = [partial(_decay, t) for t in sorted(times)]
    kernels.append(lambda f: 1 - np.exp(-max(times) * f))
    return Frame.fit(kernels, degree, interval, tight=True, name="heat")


def mexican_hat(scales: int = 4, *, degree: int = 60, interval: Interval = (0.0, 2.0)) -> Frame:
    """Mexican hat wavelets t frequency exp(1 - t frequency) at ``scales`` octaves and a low-pass, made tight."""
    _check_scales(scales)
    times = 2.0 ** np.arange(scales) * 2 / checked_interval(interval)[1]
    kernels: list[Kernel] = [lambda f: np.exp(-((times[-1] * f) ** 4))]
    kernels += [partial(_hat, t) for t in times[::-1]]
    return Frame.fit(kernels, degree, interval, tight=True, name="mexican hat")


def _octaves(name: str, scales: int, degree: int, interval: Interval, rise: Kernel) -> Frame:
    """A low-pass below the first edge, a band for each octave, and the highest band up to the end.

    Between the edges a and 2 a one band falls as cos(pi / 2 v) while the next rises as sin(pi / 2 v), with
    v = rise(f / a - 1), so that their squares always add up to 1.
    """
    _check_scales(scales)
    high = checked_interval(interval)[1]
    edges = [high / 2.0 ** (scales - j) for j in range(scales)]

    def up(f: np.ndarray, edge: float) -> np.ndarray:
        return np.sin(np.pi / 2 * rise(np.clip(f / edge - 1, 0, 1)))

    def down(f: np.ndarray, edge: float) -> np.ndarray:
        return np.cos(np.pi / 2 * rise(np.clip(f / edge - 1, 0, 1)))

    def band(lower: float, upper: float, f: np.ndarray) -> np.ndarray:
        return up(f, lower) * down(f, upper)

    kernels: list[Kernel] = [lambda f: down(f, edges[0])]
    for lower, upper in itertools.pairwise(edges):
        kernels.append(partial(band, lower, upper))
    kernels.append(lambda f: up(f, edges[-1]))
    return Frame.fit(kernels, degree, interval, name=name)


def _one(frame: Frame, j: int, f: np.ndarray) -> np.ndarray:
    return frame.response(f)[j]


def _decay(time: float, f: np.ndarray) -> np.ndarray:
    return np.exp(-time * f)


def _hat(time: float, f: np.ndarray) -> np.ndarray:
    return time * f * np.exp(1 - time * f)


def _check_scales(scales: int) -> None:
    if not isinstance(scales, int | np.integer) or not 1 <= scales <= 12:
        raise ValueError(f"scales={scales!r} must be a whole number from 1 to 12")

"""The feedback-looped filter: a rational function of the shift, run as a recursion or faster."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dfnets.filters import bounds, gradients, rounding
from dfnets.filters.base import Filter
from dfnets.filters.checks import checked_number, checked_vector
from dfnets.filters.expansion import Tail, ellipse_tail, joukowski
from dfnets.filters.plan import Cost
from dfnets.filters.polynomials import Interval, chebyshev_series, complex_roots, evaluate
from dfnets.filters.products import Products
from dfnets.filters.ranges import Ranges, Series
from dfnets.graph import Graph
from dfnets.responses import Response
from dfnets.shift import Shift

if TYPE_CHECKING:
    from dfnets.filters.certificate import Certificate


# Degrees beyond which exact arithmetic for the certificate would take seconds; designs stop at 20.
MOST_ORDER = 64


class FeedbackLoopedFilter(Filter):
    """h(frequency) = Q / (1 - P), P = -sum_{j=1..p} psi_j mu^j, Q = sum_{j=0..q} phi_j mu^j, mu = frequency - centre.

    It is the limit of the recursion x(t) = P(L~) x(t-1) + Q(L~) x with L~ = L^ - centre I (Wijesinghe and Wang, 2019),
    which converges when |P| < 1 on the spectrum. Three ways to apply it, to a tolerance:

    * ``"recursion"``: p products an iteration, Q x computed once; the error falls by max|P| each time;
    * ``"cg"``: conjugate gradients on (I - P) y = Q x, p products an iteration;
    * ``"chebyshev"``: the expansion of Q / (1 - P), one product a degree.

    Args:
        psi: (p,) real coefficients of P, psi_1 first.
        phi: (q + 1,) real coefficients of Q, phi_0 first.
        centre: where P is zero; scaled-normalization is lmax / 2.
        interval: the frequencies that the filter is meant for.
        target, transition: what was wanted, and the half-width about its jumps that does not count.
        provenance: how the coefficients were found.
    """

    kind = "feedback-looped"

    def __init__(
        self,
        psi: Any,
        phi: Any,
        centre: float = 1.0,
        interval: Interval = (0.0, 2.0),
        *,
        target: Response | None = None,
        transition: float = 0.0,
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        self.psi = checked_vector(psi, "psi", 1, most=MOST_ORDER)
        self.phi = checked_vector(phi, "phi", 1, most=MOST_ORDER + 1)
        self.centre = checked_number(centre, "centre")
        super().__init__(interval, target, transition)
        if provenance is not None and not isinstance(provenance, Mapping):
            raise ValueError(f"provenance={provenance!r} must be names and values")
        self.provenance = dict(provenance or {})

    @property
    def p(self) -> int:
        """The degree of the feedback polynomial P."""
        return len(self.psi)

    @property
    def q(self) -> int:
        """The degree of the feedforward polynomial Q."""
        return len(self.phi) - 1

    @property
    def _feedback(self) -> np.ndarray:
        return np.concatenate([[0.0], -self.psi])

    @property
    def _denominator(self) -> np.ndarray:
        return np.concatenate([[1.0], self.psi])

    def series(self, interval: Interval) -> Series:
        """P, Q and 1 - P in the Chebyshev basis of an interval."""

        def compute() -> Series:
            parts = (self._feedback, self.phi, self._denominator)
            return Series(*(chebyshev_series(part, self.centre, interval) for part in parts))

        return self._remembered(("series", interval), compute)

    def feedback(self, frequency: Any) -> np.ndarray:
        """P at frequencies of L^."""
        return self._evaluate(self._feedback, self.series(self.interval).feedback, frequency)

    def feedforward(self, frequency: Any) -> np.ndarray:
        """Q at frequencies of L^."""
        return self._evaluate(self.phi, self.series(self.interval).feedforward, frequency)

    def response(self, frequency: Any) -> np.ndarray:
        """h = Q / (1 - P) at frequencies of L^."""
        denominator = self._evaluate(self._denominator, self.series(self.interval).denominator, frequency)
        with np.errstate(divide="ignore"):
            return self.feedforward(frequency) / denominator

    def _evaluate(self, coefficients: np.ndarray, series: np.ndarray, frequency: Any) -> np.ndarray:
        return evaluate(coefficients, self.centre, series, self.interval, frequency)

    def poles(self) -> np.ndarray:
        """The complex frequencies at which 1 - P is zero, found in the Chebyshev basis of the interval."""
        interval = self.interval if self.interval[0] < self.interval[1] else (self.interval[0], self.interval[0] + 1)
        low, high = interval
        return np.sort_complex((low + high) / 2 + (high - low) / 2 * self._roots(interval))

    def _roots(self, interval: Interval) -> np.ndarray:
        """The zeros of 1 - P in the variable of [-1, 1] that stands for an interval."""
        return self._remembered(("roots", interval), lambda: complex_roots(self.series(interval).denominator))

    def ranges(self, interval: Interval) -> Ranges:
        """Proved bounds on P, 1 - P and the response on an interval."""

        def compute() -> Ranges:
            s = self.series(interval)
            one = np.ones(1)
            low, high = bounds.extremes([s.feedback, s.denominator, s.feedforward], [one, one, s.denominator])
            gain, distance = (max(abs(low[2] - c), abs(high[2] - c)) * (1 + 2 * bounds.EPS) for c in (0.0, 1.0))
            contraction = max(abs(low[0]), abs(high[0]))
            return Ranges(float(contraction), (float(low[1]), float(high[1])), float(gain), float(distance))

        return self._remembered(("ranges", interval), compute)

    def certificate(self, graph: Graph | Shift | None = None, *, tol: float = 1e-6) -> Certificate:
        """What is proved of this filter on its interval, or on the interval of a graph."""
        from dfnets.filters.certificate import certify

        return certify(self, self.interval if graph is None else self.shift_of(graph).interval, tol)

    def gain(self, interval: Interval) -> float:
        """A bound on |h| on an interval."""
        return self.ranges(interval).gain

    def noise(self, interval: Interval) -> float:
        """A bound on the rounding error of a value of the response on an interval."""
        s, r = self.series(interval), self.ranges(interval)
        # Clenshaw's recurrence for a series loses about two units a term.
        top, bottom = (float(np.abs(part) @ (np.arange(len(part)) + 1.0)) for part in (s.feedforward, s.denominator))
        return 2 * bounds.EPS * (top + r.gain * bottom) / r.weakest if r.weakest else math.inf

    def tail(self, interval: Interval) -> Tail | None:
        """From the largest ellipses about the interval that are proved to hold no pole, and |h| on them."""

        def compute() -> Tail:
            s = self.series(interval)
            reach = np.abs(joukowski(self._roots(interval))).min(initial=64.0)
            rho = 1 + (reach - 1) * np.array([0.6, 0.9])
            found = [bounds.largest_on_ellipse(s.feedforward, s.denominator, float(r)) for r in rho]
            return ellipse_tail(rho, np.log(np.maximum(found, 1e-300)))

        return self._remembered(("tail", interval), compute)

    def costs(self, tol: float, interval: Interval) -> Mapping[str, Cost | str]:
        """For each method what it needs for this tolerance on this interval, or why it cannot be used."""
        r = self.ranges(interval)
        if r.has_pole:
            low, high = interval
            pole = f"it has a pole in [{low:.6g}, {high:.6g}], where 1 - P is zero"
            return dict.fromkeys(("recursion", "cg", "chebyshev"), pole)
        recursion: Cost | str
        if r.contraction < 1:
            t = self._recursion_steps(tol, r)
            recursion = Cost(t, self.q + t * self.p)
        else:
            recursion = f"|P| reaches {r.contraction:.4g}, and the recursion converges only below 1"
        k = self._gradient_steps(tol, r)
        # Once more Q x and (I - P) y at the end, for the true residual.
        return {
            "recursion": recursion,
            "cg": Cost(k, 2 * self.q + (k + 1) * self.p),
            "chebyshev": self._expansion_cost(tol, interval),
        }

    def rounding(self, method: str, shift: Shift, tol: float) -> float:
        """How much a method may lose to rounding on a graph, in units of roundoff and relative to norm(x)."""
        if method == "chebyshev":
            return super().rounding(method, shift, tol)
        r = self.ranges(shift.interval)
        once = rounding.of_horner(shift, self.centre, self.phi, shift.interval)
        if method == "cg":
            # What the true residual may be off by; y is at most gain norm(x), and sums of squares are in float64.
            again = rounding.of_horner(shift, self.centre, self._denominator, shift.interval)
            return 2 * (once + (again + 2) * r.gain) / r.weakest
        # Every iteration loses as much again, and what it loses shrinks by |P| an iteration from then on.
        again = rounding.of_horner(shift, self.centre, self._feedback, shift.interval)
        return (2 * once + (again + 2) * (r.gain + r.distance)) / (1 - r.contraction)

    def blocks(self, method: str) -> int:
        """In how many groups of columns a method goes about it."""
        # Conjugate gradients hold five arrays beside the input; of half the columns that is less than three.
        return 2 if method == "cg" else 1

    def run(
        self, method: str, products: Products, x: np.ndarray, tol: float, iterations: int | None
    ) -> tuple[np.ndarray, int, float]:
        """The signal, the iterations and the error bound of one method; x is (n, k) and is not written to."""
        r = self.ranges(products.shift.interval)
        if method == "recursion":
            return self._recursion(products, x, self._recursion_steps(tol, r) if iterations is None else iterations, r)
        if method != "cg":
            return super().run(method, products, x, tol, iterations)
        sign = 1.0 if r.denominator[0] > 0 else -1.0
        system = gradients.System(self.centre, sign * self._denominator, sign * self.phi, r.weakest)
        limit = 4 * self._gradient_steps(tol, r) + 20 if iterations is None else iterations
        return gradients.solve(system, products, x, tol, limit, fixed=iterations is not None)

    def _recursion(
        self, products: Products, x: np.ndarray, iterations: int, r: Ranges
    ) -> tuple[np.ndarray, int, float]:
        """x(t) = P x(t-1) + Q x from x(0) = x: the error is P^t (x - y*), at most max|P|^t max|1 - h| norm(x)."""
        for state in itertools.islice(self.iterates(products, x), iterations + 1):  # noqa: B007
            pass
        return (state.copy() if state is x else state), iterations, r.contraction**iterations * r.distance

    def iterates(self, products: Products, x: np.ndarray) -> Iterator[np.ndarray]:
        """x(0) = x, x(1), x(2), ...: each array is overwritten two iterates later."""
        constant = products.horner(self.centre, self.phi, x, [np.empty_like(x), np.empty_like(x)])
        state, spare = x, [np.empty_like(x), np.empty_like(x), np.empty_like(x)]
        while True:
            yield state
            new = products.horner(self.centre, self._feedback, state, spare[:2], add=constant)
            spare = [array for array in (*spare, state) if array is not new and array is not x]
            state = new

    def _recursion_steps(self, tol: float, r: Ranges) -> int:
        return _iterations(tol / r.distance, r.contraction) if r.distance else 0

    def _gradient_steps(self, tol: float, r: Ranges) -> int:
        """From norm(e_k) <= 2 sqrt(c) ((sqrt(c) - 1) / (sqrt(c) + 1))^k norm(e_0), c the condition number of I - P."""
        root = math.sqrt(max(np.abs(r.denominator)) / r.weakest)
        return _iterations(tol / (2 * root * r.gain), (root - 1) / (root + 1)) if r.gain else 0

    def parameters(self) -> dict[str, Any]:
        """psi, phi, the centre and how they were found, as JSON can hold them."""
        return {
            "psi": self.psi.tolist(),
            "phi": self.phi.tolist(),
            "centre": self.centre,
            "provenance": self.provenance,
        }

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"FeedbackLoopedFilter(p={self.p}, q={self.q}, centre={self.centre:.4g}, "
            f"interval=[{low:.4g}, {high:.4g}], max|P|={self.ranges(self.interval).contraction:.4g})"
        )


def _iterations(goal: float, rate: float) -> int:
    """The fewest k >= 0 with rate^k <= goal."""
    if goal >= 1:
        return 0
    if rate <= 0:
        return 1
    return math.ceil(math.log(goal) / math.log(rate))

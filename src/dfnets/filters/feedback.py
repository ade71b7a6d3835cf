"""The feedback-looped filter: a rational function of the shift, run as a recursion or faster."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial import Polynomial

from dfnets.filters.base import Cost, Filter, checked_vector
from dfnets.filters.polynomials import Interval, critical_points, powers, range_on, significant
from dfnets.filters.products import Products
from dfnets.graph import Graph
from dfnets.responses import Response
from dfnets.shift import Shift

if TYPE_CHECKING:
    from dfnets.filters.certificate import Certificate


@dataclass(frozen=True)
class Ranges:
    """What decides convergence on an interval: the extremes of P, of 1 - P, and of the response."""

    contraction: float
    denominator: tuple[float, float]
    gain: float
    distance: float

    @property
    def has_pole(self) -> bool:
        return self.denominator[0] <= 0 <= self.denominator[1]


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
        self.psi = checked_vector(psi, "psi", 1)
        self.phi = checked_vector(phi, "phi", 1)
        if not np.isfinite(centre):
            raise ValueError(f"centre={centre!r} must be a finite number")
        self.centre = float(centre)
        super().__init__(interval, target, transition)
        self.provenance = dict(provenance or {})

    @property
    def p(self) -> int:
        return len(self.psi)

    @property
    def q(self) -> int:
        return len(self.phi) - 1

    @cached_property
    def feedback_polynomial(self) -> Polynomial:
        return powers(np.concatenate([[0.0], -self.psi]), self.centre)

    @cached_property
    def feedforward_polynomial(self) -> Polynomial:
        return powers(self.phi, self.centre)

    @cached_property
    def denominator_polynomial(self) -> Polynomial:
        return powers(np.concatenate([[1.0], self.psi]), self.centre)

    def feedback(self, frequency: Any) -> np.ndarray:
        """P at frequencies of L^."""
        return self.feedback_polynomial(np.asarray(frequency, dtype=np.float64))

    def feedforward(self, frequency: Any) -> np.ndarray:
        """Q at frequencies of L^."""
        return self.feedforward_polynomial(np.asarray(frequency, dtype=np.float64))

    def response(self, frequency: Any) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return self.feedforward(frequency) / (1 - self.feedback(frequency))

    def poles(self) -> np.ndarray:
        """The complex frequencies at which 1 - P is zero."""
        return np.sort_complex(powers(significant(self.denominator_polynomial.coef), self.centre).roots())

    def ranges(self, interval: Interval) -> Ranges:
        """The extremes on an interval, each from the zeros of a derivative, not from samples."""
        contraction = max(np.abs(range_on(self.feedback_polynomial, interval)))
        denominator = range_on(self.denominator_polynomial, interval)
        if denominator[0] <= 0 <= denominator[1]:
            return Ranges(contraction, denominator, math.inf, math.inf)
        # 1 - h has the same critical points as h.
        points = critical_points(self.feedforward_polynomial, self.denominator_polynomial, interval)
        values = self.response(points)
        return Ranges(contraction, denominator, float(np.abs(values).max()), float(np.abs(1 - values).max()))

    def certificate(self, graph: Graph | Shift | None = None, *, tol: float = 1e-6) -> Certificate:
        """What is proved of this filter on its interval, or on the interval of a graph."""
        from dfnets.filters.certificate import certify

        return certify(self, self.interval if graph is None else self.shift_of(graph).interval, tol)

    def costs(self, tol: float, interval: Interval) -> Mapping[str, Cost | str]:
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

    def rounding(self, method: str, cost: Cost, interval: Interval) -> float:
        if method == "chebyshev":
            return super().rounding(method, cost, interval)
        r = self.ranges(interval)
        reach = max(abs(end - self.centre) for end in interval)
        terms = np.abs(self.psi) @ reach ** np.arange(1, self.p + 1) * r.gain + np.abs(self.phi) @ reach ** np.arange(
            self.q + 1
        )
        # Each iteration makes p rounding errors of the size of its terms; 1 / |1 - P| is how much they are amplified.
        return self.p * float(terms) / min(np.abs(r.denominator))

    def blocks(self, method: str) -> int:
        # Conjugate gradients hold five arrays beside the input; of half the columns that is less than three.
        return 2 if method == "cg" else 1

    def run(
        self, method: str, products: Products, x: np.ndarray, tol: float, iterations: int | None
    ) -> tuple[np.ndarray, int, float]:
        if method == "recursion":
            return self._recursion(products, x, tol, iterations)
        if method == "cg":
            return self._conjugate_gradients(products, x, tol, iterations)
        return super().run(method, products, x, tol, iterations)

    def _recursion(
        self, products: Products, x: np.ndarray, tol: float, iterations: int | None
    ) -> tuple[np.ndarray, int, float]:
        """x(t) = P x(t-1) + Q x from x(0) = x: the error is P^t (x - y*), at most max|P|^t max|1 - h| norm(x)."""
        r = self.ranges(products.shift.interval)
        if iterations is None:
            iterations = self._recursion_steps(tol, r)
        for state in itertools.islice(self.iterates(products, x), iterations + 1):  # noqa: B007
            pass
        return (state.copy() if state is x else state), iterations, r.contraction**iterations * r.distance

    def iterates(self, products: Products, x: np.ndarray) -> Iterator[np.ndarray]:
        """x(0) = x, x(1), x(2), ...: each array is overwritten two iterates later."""
        feedback = np.concatenate([[0.0], -self.psi])
        constant = products.horner(self.centre, self.phi, x, [np.empty_like(x), np.empty_like(x)])
        state, spare = x, [np.empty_like(x), np.empty_like(x), np.empty_like(x)]
        while True:
            yield state
            new = products.horner(self.centre, feedback, state, spare[:2], add=constant)
            spare = [array for array in (*spare, state) if array is not new and array is not x]
            state = new

    def _recursion_steps(self, tol: float, r: Ranges) -> int:
        return _iterations(tol / r.distance, r.contraction) if r.distance else 0

    def _conjugate_gradients(
        self, products: Products, x: np.ndarray, tol: float, iterations: int | None
    ) -> tuple[np.ndarray, int, float]:
        """(I - P) y = Q x, each column with its own step lengths.

        norm(y - y*) <= norm(residual) / min|1 - P|, which is when to stop. The residual of the recurrence drifts from
        the true one, so the true one has the last word; if it is too large, the iteration starts afresh from there.
        """
        r = self.ranges(products.shift.interval)
        weakest = min(np.abs(r.denominator))
        sign = 1.0 if r.denominator[0] > 0 else -1.0
        matrix, right = sign * np.concatenate([[1.0], self.psi]), sign * self.phi
        sizes = _column_norms(x)
        enough = sizes * tol * weakest
        limit = 4 * self._gradient_steps(tol, r) + 20 if iterations is None else iterations
        y, done = np.zeros_like(x), 0
        work = [np.empty_like(x), np.empty_like(x)]
        pair = [np.empty_like(x), np.empty_like(x)]
        residual, direction = _first(products.horner(self.centre, right, x, pair), pair)
        while True:
            direction[...] = residual
            squares = _column_squares(residual)
            while done < limit and (iterations is not None or (np.sqrt(squares) > enough).any()):
                image = products.horner(self.centre, matrix, direction, work)
                curvature = _column_squares(direction, image)
                step = np.divide(squares, curvature, out=np.zeros_like(squares), where=curvature > 0)
                _add(y, step, direction)
                _add(residual, -step, image)
                before, squares = squares, _column_squares(residual)
                direction *= np.divide(squares, before, out=np.zeros_like(squares), where=before > 0).astype(x.dtype)
                direction += residual
                done += 1
            constant = products.horner(self.centre, right, x, work)
            pair = [residual, direction]
            residual, direction = _first(products.horner(self.centre, -matrix, y, pair, add=constant), pair)
            norms = _column_norms(residual)
            if iterations is not None or (norms <= enough).all():
                bounds = np.divide(norms, sizes * weakest, out=np.zeros_like(norms), where=sizes > 0)
                return y, done, float(bounds.max(initial=0.0))
            if done >= limit:
                raise ArithmeticError(
                    f"conjugate gradients did not reach tol={tol:g} in {done} iterations of {x.dtype}"
                )

    def _gradient_steps(self, tol: float, r: Ranges) -> int:
        """From norm(e_k) <= 2 sqrt(c) ((sqrt(c) - 1) / (sqrt(c) + 1))^k norm(e_0), c the condition number of I - P."""
        root = math.sqrt(max(np.abs(r.denominator)) / min(np.abs(r.denominator)))
        return _iterations(tol / (2 * root * r.gain), (root - 1) / (root + 1)) if r.gain else 0

    def parameters(self) -> dict[str, Any]:
        return {
            "psi": self.psi.tolist(),
            "phi": self.phi.tolist(),
            "centre": self.centre,
            "provenance": self.provenance,
        }

    def __repr__(self) -> str:
        low, high = self.interval
        contraction = max(np.abs(range_on(self.feedback_polynomial, self.interval)))
        return (
            f"FeedbackLoopedFilter(p={self.p}, q={self.q}, centre={self.centre:.4g}, "
            f"interval=[{low:.4g}, {high:.4g}], max|P|={contraction:.4g})"
        )


def _iterations(goal: float, rate: float) -> int:
    """The fewest k >= 0 with rate^k <= goal."""
    if goal >= 1:
        return 0
    if rate <= 0:
        return 1
    return math.ceil(math.log(goal) / math.log(rate))


def _first(result: np.ndarray, pair: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The array of the pair that holds the result, and the one that is free."""
    return (result, pair[1]) if result is pair[0] else (result, pair[0])


def _column_squares(x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
    """(k,) inner products of the columns, summed in float64."""
    return np.einsum("ij,ij->j", x, x if y is None else y, dtype=np.float64)


def _column_norms(x: np.ndarray) -> np.ndarray:
    return np.sqrt(_column_squares(x))


def _add(y: np.ndarray, factors: np.ndarray, x: np.ndarray, rows: int = 4096) -> None:
    """y += x * factors, column by column factors, without a temporary of the size of a signal."""
    factors = factors.astype(x.dtype)
    for start in range(0, len(x), rows):
        y[start : start + rows] += x[start : start + rows] * factors

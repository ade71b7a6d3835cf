"""ARMA filters: first-order recursions, one or K in parallel (Isufi et al., 2017; Bianchi et al., 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from dfnets.filters.base import Filter
from dfnets.filters.bounds import EPS
from dfnets.filters.checks import checked_number, checked_vector
from dfnets.filters.counting import fewest
from dfnets.filters.expansion import Tail, poles_tail, polynomial_tail
from dfnets.filters.feedback import FeedbackLoopedFilter
from dfnets.filters.plan import Cost
from dfnets.filters.polynomials import Interval, from_unit, powers
from dfnets.filters.products import Products
from dfnets.filters.rounding import of_product
from dfnets.responses import Response
from dfnets.shift import Shift


class ArmaFilter(Filter):
    """h(frequency) = constant + Re sum_{k=1..K} r_k / (mu - p_k), mu = frequency - centre.

    Each term is the limit of y(t+1) = (1 / p_k) L~ y(t) - (r_k / p_k) x, which converges when |p_k| exceeds the largest
    |mu|. ARMA_1 is one term; K of them run in parallel make ARMA_K. A pair of conjugate poles may be given as one pole
    with twice its residue, since only the real part counts.

    Args:
        residues: (K,) complex r_k.
        poles: (K,) complex p_k: values of mu, not 0.
        centre: what mu is measured from.
        constant: added to the terms; a rational function with q = p has one.
    """

    kind = "arma"

    def __init__(
        self,
        residues: Any,
        poles: Any,
        centre: float = 1.0,
        constant: float = 0.0,
        interval: Interval = (0.0, 2.0),
        *,
        target: Response | None = None,
        transition: float = 0.0,
    ) -> None:
        self.residues = checked_vector(residues, "residues", 1, kind=complex)
        self.poles = checked_vector(poles, "poles", 1, kind=complex)
        if len(self.residues) != len(self.poles):
            raise ValueError(f"there are {len(self.residues)} residues and {len(self.poles)} poles: one each a term")
        if (self.poles == 0).any():
            raise ValueError("poles must not contain 0: the recursion divides by them; move the centre")
        self.centre, self.constant = checked_number(centre, "centre"), checked_number(constant, "constant")
        super().__init__(interval, target, transition)

    @classmethod
    def from_filter(cls, rational: FeedbackLoopedFilter) -> Self:
        """The partial fractions of a feedback-looped filter with q <= p and simple poles."""
        denominator = _significant(rational)
        if rational.q > len(denominator) - 1:
            raise ValueError(
                f"q={rational.q} exceeds the {len(denominator) - 1} poles that count: partial fractions would leave a "
                "polynomial"
            )
        constant = rational.phi[-1] / denominator[-1] if rational.q == len(denominator) - 1 else 0.0
        poles = _poles(rational, len(denominator) - 1)
        apart = np.abs(poles[:, None] - poles) + np.where(np.eye(len(poles)), np.inf, 0)
        if apart.min(initial=np.inf) < 1e-6 * np.abs(poles).max():
            raise ValueError("the filter has a multiple pole, which first-order recursions in parallel cannot make")
        numerator, slope = powers(rational.phi, 0.0), powers(denominator, 0.0).deriv()
        residues = numerator(poles) / slope(poles)
        # Of each conjugate pair one is kept, with twice its residue.
        keep = poles.imag >= -1e-12 * np.abs(poles)
        real = np.abs(poles.imag) <= 1e-12 * np.abs(poles)
        made = cls(
            np.where(real, residues.real, 2 * residues)[keep],
            np.where(real, poles.real, poles)[keep],
            rational.centre,
            constant,
            rational.interval,
            target=rational.target,
            transition=rational.transition,
        )
        made._check_against(rational)
        return made

    def _check_against(self, rational: FeedbackLoopedFilter) -> None:
        """Partial fractions of poles that lie close together, or very far off, cancel: refuse what is lost."""
        grid = from_unit(np.cos(np.linspace(0, np.pi, 257)), self.interval)
        wanted = rational.response(grid)
        off = float(np.abs(self.response(grid) - wanted).max())
        if not off <= 1e-8 * max(1.0, float(np.abs(wanted).max())):
            raise ValueError(
                f"the partial fractions cancel so strongly that they would be off by {off:.2g}: "
                "take the feedback-looped filter as it is, or one of lower order"
            )

    def response(self, frequency: Any) -> np.ndarray:
        """h, the sum of its terms, at frequencies of L^."""
        mu = np.asarray(frequency, dtype=np.float64)[..., None] - self.centre
        with np.errstate(divide="ignore"):
            return self.constant + (self.residues / (mu - self.poles)).sum(axis=-1).real

    def tail(self, interval: Interval) -> Tail | None:
        """From the poles: each term has coefficients that are known exactly."""
        low, high = interval
        if low == high:
            return polynomial_tail(0)
        half = (high - low) / 2
        terms = poles_tail(self.residues / half, (self.poles + self.centre - (low + high) / 2) / half)
        return lambda n: terms(n) + (0.0 if n else abs(self.constant))

    def noise(self, interval: Interval) -> float:
        """A bound on the rounding error of a value of the response on an interval."""
        at = np.clip((self.poles + self.centre).real, *interval)
        distances = np.abs(self.poles + self.centre - at)
        with np.errstate(divide="ignore"):
            sizes = np.abs(self.residues) / distances * (1 + (np.abs(self.poles) + 4) / distances)
        return 8 * EPS * (abs(self.constant) + float(sizes.sum()))

    def costs(self, tol: float, interval: Interval) -> Mapping[str, Cost | str]:
        """For each method what it needs for this tolerance on this interval, or why it cannot be used."""
        recursion: Cost | str
        rates = self._rates(interval)
        if rates.max() < 1:
            t = self._iterations(tol, rates)
            # A complex pole makes a complex signal, which is two real products.
            recursion = Cost(t, t * int(np.where(self.poles.imag == 0, 1, 2).sum()))
        else:
            pole = self.poles[rates.argmax()]
            recursion = (
                f"the pole {pole:.4g} is not further from the centre than the spectrum, "
                f"which reaches {self._reach(interval):.4g}, so its recursion diverges"
            )
        return {"recursion": recursion, **super().costs(tol, interval)}

    def _reach(self, interval: Interval) -> float:
        return max(abs(end - self.centre) for end in interval)

    def _rates(self, interval: Interval) -> np.ndarray:
        return self._reach(interval) / np.abs(self.poles)

    def _iterations(self, tol: float, rates: np.ndarray) -> int:
        return fewest(lambda t: self._error(t, rates), tol)

    def _error(self, iterations: int, rates: np.ndarray) -> float:
        """From y(0) = -(r / p) x, after t steps what is left is the tail of a geometric series."""
        return float(np.sum(np.abs(self.residues / self.poles) * rates ** (iterations + 1) / (1 - rates)))

    def rounding(self, method: str, shift: Shift, tol: float) -> float:
        """How much a method may lose to rounding on a graph, in units of roundoff and relative to norm(x)."""
        if method == "chebyshev":
            return super().rounding(method, shift, tol)
        # The terms may be large and cancel. A state has norm |r / p| / (1 - rate) at most; an iteration loses the
        # rounding of a product of it, divided by |p|, and 1 / (1 - rate) is how much of that adds up. The factor 2 is
        # for complex states, which are two real ones.
        rates = self._rates(shift.interval)
        lost = of_product(shift, self.centre) / np.abs(self.poles) + 8
        return float(2 * np.sum(np.abs(self.residues / self.poles) * lost / (1 - rates) ** 2)) + 4 * abs(self.constant)

    def run(
        self, method: str, products: Products, x: np.ndarray, tol: float, iterations: int | None
    ) -> tuple[np.ndarray, int, float]:
        """The signal, the iterations and the error bound of one method; x is (n, k) and is not written to."""
        if method != "recursion":
            return super().run(method, products, x, tol, iterations)
        rates = self._rates(products.shift.interval)
        if iterations is None:
            iterations = self._iterations(tol, rates)
        shift = products.shift.recentred(self.centre)
        y = x * x.dtype.type(self.constant)
        for residue, pole in zip(self.residues, self.poles, strict=True):
            a, b = 1 / pole, -residue / pole
            if pole.imag == 0 and residue.imag == 0:
                state = x * x.dtype.type(b.real)
                other = np.empty_like(x)
                for _ in range(iterations):
                    products.step(shift, state, scale=a.real, y=x, beta=b.real, out=other)
                    state, other = other, state
            else:
                state = self._complex_recursion(products, x, a, b, iterations)
            y += state
        return y, iterations, self._error(iterations, rates)

    def _complex_recursion(
        self, products: Products, x: np.ndarray, a: complex, b: complex, iterations: int
    ) -> np.ndarray:
        """The real part of y(t+1) = a L~ y(t) + b x: with u, v its real and imaginary parts, four fused steps.

        u' = Re(a) L~ u - Im(a) L~ v + Re(b) x and v' = Im(a) L~ u + Re(a) L~ v + Im(b) x, from two products.
        """
        shift = products.shift.recentred(self.centre)
        u, v = x * x.dtype.type(b.real), x * x.dtype.type(b.imag)
        lu, lv = np.empty_like(x), np.empty_like(x)
        for _ in range(iterations):
            products.step(shift, u, out=lu)
            products.step(shift, v, out=lv)
            np.multiply(x, x.dtype.type(b.real), out=u)
            np.multiply(x, x.dtype.type(b.imag), out=v)
            for target, first, second in ((u, a.real, -a.imag), (v, a.imag, a.real)):
                target += x.dtype.type(first) * lu
                target += x.dtype.type(second) * lv
        return u

    def parameters(self) -> dict[str, Any]:
        """Residues and poles as pairs of real numbers, the centre and the constant."""
        pairs = {name: [[z.real, z.imag] for z in getattr(self, name)] for name in ("residues", "poles")}
        return {**pairs, "centre": self.centre, "constant": self.constant}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], **common: Any) -> Self:
        """The inverse of :meth:`parameters`."""
        pairs = {name: [complex(*pair) for pair in parameters[name]] for name in ("residues", "poles")}
        return cls(**{**parameters, **pairs}, **common)

    def __repr__(self) -> str:
        low, high = self.interval
        return f"ArmaFilter(K={len(self.poles)}, centre={self.centre:.4g}, interval=[{low:g}, {high:g}])"


def _significant(rational: FeedbackLoopedFilter) -> np.ndarray:
    """1, psi_1, psi_2, ... without a leading part that is lost in the rounding of 1 - P on the interval.

    Such a coefficient is a pole so far off that its term would be the difference of two huge numbers.
    """
    coefficients = np.concatenate([[1.0], rational.psi])
    reach = max(abs(end - rational.centre) for end in rational.interval)
    sizes = np.abs(coefficients) * reach ** np.arange(len(coefficients))
    weakest = rational.ranges(rational.interval).weakest
    beyond = np.cumsum(sizes[::-1])[::-1]
    return coefficients[: int(np.max(np.flatnonzero(beyond > 4 * EPS * weakest), initial=1)) + 1]


def _poles(rational: FeedbackLoopedFilter, count: int) -> np.ndarray:
    """The ``count`` nearest zeros of 1 - P, as values of mu."""
    poles = rational.poles() - rational.centre
    middle = sum(rational.interval) / 2 - rational.centre
    return poles[np.argsort(np.abs(poles - middle))[:count]]

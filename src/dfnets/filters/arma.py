"""ARMA filters: first-order recursions, one or K in parallel (Isufi et al., 2017; Bianchi et al., 2019)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from dfnets.filters.base import Cost, Filter, checked_vector
from dfnets.filters.feedback import FeedbackLoopedFilter
from dfnets.filters.polynomials import Interval, significant
from dfnets.filters.products import Products
from dfnets.responses import Response


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
        if not (np.isfinite(centre) and np.isfinite(constant)):
            raise ValueError(f"centre={centre!r} and constant={constant!r} must be finite")
        self.centre, self.constant = float(centre), float(constant)
        super().__init__(interval, target, transition)

    @classmethod
    def from_filter(cls, rational: FeedbackLoopedFilter) -> Self:
        """The partial fractions of a feedback-looped filter with q <= p and simple poles."""
        numerator = np.polynomial.Polynomial(rational.phi)
        denominator = np.polynomial.Polynomial(significant(np.concatenate([[1.0], rational.psi])))
        constant = 0.0
        if numerator.degree() >= denominator.degree():
            quotient, numerator = divmod(numerator, denominator)
            if quotient.trim().degree() > 0:
                raise ValueError(f"q={rational.q} exceeds p={rational.p}: partial fractions would leave a polynomial")
            constant = float(quotient.coef[0])
        poles = denominator.roots().astype(complex)
        apart = np.abs(poles[:, None] - poles) + np.where(np.eye(len(poles)), np.inf, 0)
        if apart.min() < 1e-6 * np.abs(poles).max():
            raise ValueError("the filter has a multiple pole, which first-order recursions in parallel cannot make")
        residues = numerator(poles) / denominator.deriv()(poles)
        # Of each conjugate pair one is kept, with twice its residue.
        keep = poles.imag >= -1e-12 * np.abs(poles)
        real = np.abs(poles.imag) <= 1e-12 * np.abs(poles)
        return cls(
            np.where(real, residues.real, 2 * residues)[keep],
            np.where(real, poles.real, poles)[keep],
            rational.centre,
            constant,
            rational.interval,
            target=rational.target,
            transition=rational.transition,
        )

    def response(self, frequency: Any) -> np.ndarray:
        mu = np.asarray(frequency, dtype=np.float64)[..., None] - self.centre
        with np.errstate(divide="ignore"):
            return self.constant + (self.residues / (mu - self.poles)).sum(axis=-1).real

    def costs(self, tol: float, interval: Interval) -> Mapping[str, Cost | str]:
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
        t = 0
        while self._error(t, rates) > tol:
            t += max(1, math.floor(math.log(tol / self._error(t, rates)) / math.log(rates.max())) // 2)
        return t

    def _error(self, iterations: int, rates: np.ndarray) -> float:
        """From y(0) = -(r / p) x, after t steps what is left is the tail of a geometric series."""
        return float(np.sum(np.abs(self.residues / self.poles) * rates ** (iterations + 1) / (1 - rates)))

    def rounding(self, method: str, cost: Cost, interval: Interval) -> float:
        if method == "chebyshev":
            return super().rounding(method, cost, interval)
        # The terms may be large and cancel; 1 / (1 - rate) is how much a recursion amplifies an error of one step.
        rates = self._rates(interval)
        return 2 * float(np.sum(np.abs(self.residues / self.poles) / (1 - rates) ** 2))

    def run(
        self, method: str, products: Products, x: np.ndarray, tol: float, iterations: int | None
    ) -> tuple[np.ndarray, int, float]:
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
        pairs = {name: [[z.real, z.imag] for z in getattr(self, name)] for name in ("residues", "poles")}
        return {**pairs, "centre": self.centre, "constant": self.constant}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], **common: Any) -> Self:
        pairs = {name: [complex(*pair) for pair in parameters[name]] for name in ("residues", "poles")}
        return cls(**{**parameters, **pairs}, **common)

    def __repr__(self) -> str:
        low, high = self.interval
        return f"ArmaFilter(K={len(self.poles)}, centre={self.centre:.4g}, interval=[{low:g}, {high:g}])"

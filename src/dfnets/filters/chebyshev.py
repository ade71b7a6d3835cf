"""The Chebyshev filter: a polynomial of the shift (Hammond et al., 2011; Defferrard et al., 2016)."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.polynomial.chebyshev import chebval

from dfnets.filters.base import Filter
from dfnets.filters.bounds import EPS
from dfnets.filters.checks import checked_interval, checked_vector
from dfnets.filters.expansion import Tail, polynomial_tail
from dfnets.filters.polynomials import Interval, interpolate, to_unit
from dfnets.responses import Function, Response, as_response


class ChebyshevFilter(Filter):
    """h(frequency) = sum_{k=0..K} theta_k T_k(s), s the frequency mapped from the interval to [-1, 1].

    Applied with K products; a tolerance can only make that fewer.

    Args:
        theta: (K + 1,) coefficients.
        interval: what [-1, 1] stands for.
    """

    kind = "chebyshev"

    def __init__(
        self,
        theta: Any,
        interval: Interval = (0.0, 2.0),
        *,
        target: Response | None = None,
        transition: float = 0.0,
    ) -> None:
        self.theta = checked_vector(theta, "theta", 1)
        super().__init__(interval, target, transition)
        if self.interval[0] == self.interval[1]:
            raise ValueError(f"interval={interval!r} is a single frequency; it must have a length")

    @classmethod
    def fit(
        cls,
        response: Response | Function,
        degree: int,
        interval: Interval = (0.0, 2.0),
        *,
        damping: Literal["none", "jackson"] = "none",
        transition: float = 0.1,
    ) -> Self:
        """The truncated Chebyshev series of a response; Jackson damping trades sharpness for no overshoot at jumps."""
        wanted = as_response(response)
        if degree < 0:
            raise ValueError(f"degree={degree} must not be negative")
        if damping not in ("none", "jackson"):
            raise ValueError(f"damping={damping!r} is not one of 'none', 'jackson'")
        theta = interpolate(wanted, checked_interval(interval), degree)
        if damping == "jackson":
            theta = theta * _jackson(degree)
        return cls(theta, interval, target=wanted, transition=transition)

    def response(self, frequency: Any) -> np.ndarray:
        """h, the Chebyshev series, at frequencies of L^."""
        return chebval(to_unit(frequency, self.interval), self.theta)

    def tail(self, interval: Interval) -> Tail | None:  # noqa: ARG002
        """Nothing after the degree: on any interval inside its own, h is a polynomial of that degree."""
        return polynomial_tail(len(self.theta) - 1)

    def noise(self, interval: Interval) -> float:  # noqa: ARG002
        """A bound on the rounding error of a value of the response."""
        return 4 * EPS * float(np.abs(self.theta) @ (np.arange(len(self.theta)) + 1.0))

    def parameters(self) -> dict[str, Any]:
        """theta, as JSON can hold it."""
        return {"theta": self.theta.tolist()}

    def __repr__(self) -> str:
        return f"ChebyshevFilter(degree={len(self.theta) - 1}, interval=[{self.interval[0]:g}, {self.interval[1]:g}])"


def _jackson(degree: int) -> np.ndarray:
    k, n = np.arange(degree + 1), degree + 2
    angle = np.pi / n
    return ((n - k) * np.cos(k * angle) + np.sin(k * angle) / np.tan(angle)) / n

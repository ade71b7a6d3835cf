"""The Lanczos filter: any response, through the Ritz values of each signal's own Krylov space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import scipy.linalg
from numpy.polynomial.chebyshev import chebval

from dfnets import responses, spectrum
from dfnets.filters import bounds
from dfnets.filters.base import Filter
from dfnets.filters.bounds import EPS
from dfnets.filters.expansion import Tail
from dfnets.filters.plan import Cost
from dfnets.filters.polynomials import Interval, interpolate, sampled_series, to_unit
from dfnets.filters.products import Products
from dfnets.filters.rounding import of_product
from dfnets.responses import Function, Response, as_response
from dfnets.shift import Shift

# What the basis of one signal may take, in bytes: m vectors of n.
LARGEST_BASIS = 4 * 2**30


class LanczosFilter(Filter):
    """h(L^) x ~ norm(x) V U h(R) U^T e_1: V the basis of m Lanczos steps from x, U R U^T its tridiagonal matrix.

    Liao et al. (2019) take one random start for all signals, and so a low-rank operator. Starting at each signal costs
    the same products and has an error bound: twice that of the best polynomial of degree m - 1. One signal at a time,
    the basis holds m vectors of n.

    Args:
        wanted: the response h, from :mod:`dfnets.responses` or any callable.
        steps: m; None: as many as the tolerance asks for, which a response that jumps never meets.
    """

    kind = "lanczos"

    def __init__(
        self,
        wanted: Response | Function,
        steps: int | None = None,
        interval: Interval = (0.0, 2.0),
        *,
        target: Response | None = None,
        transition: float = 0.0,
    ) -> None:
        self.wanted = as_response(wanted)
        if steps is not None and (not isinstance(steps, int | np.integer) or isinstance(steps, bool) or steps < 1):
            raise ValueError(f"steps={steps!r} must be a whole number of at least 1")
        self.steps = steps
        super().__init__(interval, self.wanted if target is None else target, transition)

    def response(self, frequency: Any) -> np.ndarray:
        """h, as wanted, at frequencies of L^."""
        return self.wanted(frequency)

    def tail(self, interval: Interval) -> Tail | None:
        """What is known of the wanted response."""
        return self.wanted.tail(interval)

    def costs(self, tol: float, interval: Interval) -> Mapping[str, Cost | str]:
        """For each method what it needs for this tolerance on this interval, or why it cannot be used."""
        if self.steps is not None:
            return {"ritz": Cost(self.steps, self.steps)}
        half = self._expansion_cost(tol / 2, interval)
        ritz = Cost(half.products + 1, half.products + 1) if isinstance(half, Cost) else half + "; give steps"
        return {"ritz": ritz, **super().costs(tol, interval)}

    def rounding(self, method: str, shift: Shift, tol: float) -> float:
        """How much a method may lose to rounding on a graph, in units of roundoff and relative to norm(x).

        The tridiagonal matrix is that of a shift which is off by a product's rounding, and by 4e-13 where the Krylov
        space counts as exhausted. A polynomial sum c_k T_k multiplies such a change of its argument by sum k^2 |c_k|.
        """
        if method != "ritz":
            return super().rounding(method, shift, tol)
        low, high = shift.interval
        if self.steps is not None or low == high:
            return 8.0 * len(self._series(shift.interval))
        series = self._series(shift.interval, tol)
        k = np.arange(len(series))
        steep = float(np.abs(series) @ k**2.0) / ((high - low) / 2)
        return (of_product(shift, 0.0) + 8 * len(k) + 8e-13 / EPS) * steep + 8 * len(k) * float(np.abs(series).sum())

    def run(
        self, method: str, products: Products, x: np.ndarray, tol: float, iterations: int | None
    ) -> tuple[np.ndarray, int, float]:
        """The signal, the steps and the error bound of one method; x is (n, k) and is not written to."""
        if method != "ritz":
            return super().run(method, products, x, tol, iterations)
        interval = products.shift.interval
        steps = iterations or self.costs(tol, interval)["ritz"].products  # type: ignore[union-attr]
        self._check_basis(steps, len(x))
        shift = products.shift.recentred(0.0)
        y = np.zeros_like(x)
        for column in range(x.shape[1]):
            size = float(np.linalg.norm(x[:, column].astype(np.float64)))
            if size == 0:
                continue
            start = np.ascontiguousarray(x[:, column], dtype=np.float64)
            diagonal, off, basis = spectrum.lanczos(shift.__matmul__, start, steps)
            values, vectors = scipy.linalg.eigh_tridiagonal(diagonal, off)
            gains = self.response(np.clip(values, *interval))
            y[:, column] = size * (basis.T @ (vectors @ (gains * vectors[0])))
            products.count = max(products.count, len(diagonal))
        return y, products.count, tol if self.steps is None and iterations is None else self.bound(steps, interval)

    def bound(self, steps: int, interval: Interval) -> float:
        """The error of m steps: twice that of any polynomial of degree m - 1, here the truncated Chebyshev series.

        Where the response is expanded with a proof, what the truncation leaves off is that error. One that jumps is
        compared with the polynomial on each side of its jumps.
        """
        if self.wanted.ideal:
            series = interpolate(self.wanted, interval, steps - 1)
            worst = 0.0
            for band in self.wanted.bands(interval, 0.0):
                low, high = bounds.range_of(_on(series, interval, band))
                level = float(self.wanted((band[0] + band[1]) / 2))
                worst = max(worst, abs(low - level), abs(high - level))
            # At a jump the response has one of its two values, and the polynomial one between.
            return 2 * worst
        found = self.expansion(1e-10, interval)
        return 2 * (float(np.abs(found.coefficients[steps:]).sum()) + found.error)

    def _series(self, interval: Interval, tol: float = 1e-3) -> np.ndarray:
        try:
            return self.expansion(tol, interval).coefficients
        except ValueError:  # a response that jumps has none
            return np.ones(self.steps or 1)

    def _check_basis(self, steps: int, n: int) -> None:
        size = 8 * min(steps, n) * n
        if size > LARGEST_BASIS:
            raise ValueError(
                f"{steps} Lanczos steps of {n} nodes need a basis of {size / 2**30:.0f} GiB: take method='chebyshev', "
                "which keeps three vectors, or fewer steps"
            )

    def parameters(self) -> dict[str, Any]:
        """The response and the steps, as JSON can hold them."""
        if self.wanted.name not in responses.MAKERS:
            raise ValueError(f"the response {self.wanted.name!r} is a Python function, which a file cannot hold")
        return {"wanted": [self.wanted.name, dict(self.wanted.parameters)], "steps": self.steps}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], **common: Any) -> Self:
        """The inverse of :meth:`parameters`."""
        return cls(responses.make(*parameters["wanted"]), parameters["steps"], **common)

    def __repr__(self) -> str:
        return (
            f"LanczosFilter({self.wanted}, steps={self.steps}, interval=[{self.interval[0]:g}, {self.interval[1]:g}])"
        )


def _on(series: np.ndarray, interval: Interval, band: Interval) -> np.ndarray:
    """A Chebyshev series of the interval as one of a band inside it."""
    return sampled_series(lambda at: chebval(to_unit(at, interval), series), band, len(series))

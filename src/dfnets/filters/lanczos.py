"""The Lanczos filter: any response, through the Ritz values of each signal's own Krylov space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import scipy.linalg

from dfnets import responses, spectrum
from dfnets.filters.base import Cost, Filter
from dfnets.filters.polynomials import Interval, from_unit, interpolate
from dfnets.filters.products import Products
from dfnets.responses import Function, Response, as_response


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
        if steps is not None and steps < 1:
            raise ValueError(f"steps={steps} must be at least 1")
        self.steps = steps
        super().__init__(interval, self.wanted if target is None else target, transition)

    def response(self, frequency: Any) -> np.ndarray:
        return self.wanted(frequency)

    def costs(self, tol: float, interval: Interval) -> Mapping[str, Cost | str]:
        if self.steps is not None:
            return {"ritz": Cost(self.steps, self.steps)}
        half = self._expansion_cost(tol / 2, interval)
        ritz = Cost(half.products + 1, half.products + 1) if isinstance(half, Cost) else half + "; give steps"
        return {"ritz": ritz, **super().costs(tol, interval)}

    def run(
        self, method: str, products: Products, x: np.ndarray, tol: float, iterations: int | None
    ) -> tuple[np.ndarray, int, float]:
        if method != "ritz":
            return super().run(method, products, x, tol, iterations)
        interval = products.shift.interval
        steps = iterations or self.costs(tol, interval)["ritz"].products  # type: ignore[union-attr]
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
        return y, products.count, tol if self.steps is None and iterations is None else self._bound(steps, interval)

    def _bound(self, steps: int, interval: Interval) -> float:
        """Twice the error of one polynomial of degree steps - 1, the truncated Chebyshev series, on a fine grid."""
        nodes = np.cos(np.linspace(0, np.pi, 8193))
        gains = self.response(from_unit(nodes, interval))
        series = interpolate(self.response, interval, steps - 1)
        return 2 * float(np.abs(np.polynomial.chebyshev.chebval(nodes, series) - gains).max())

    def parameters(self) -> dict[str, Any]:
        if self.wanted.name not in responses.MAKERS:
            raise ValueError(f"the response {self.wanted.name!r} is a Python function, which a file cannot hold")
        return {"wanted": [self.wanted.name, dict(self.wanted.parameters)], "steps": self.steps}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], **common: Any) -> Self:
        return cls(responses.make(*parameters["wanted"]), parameters["steps"], **common)

    def __repr__(self) -> str:
        return (
            f"LanczosFilter({self.wanted}, steps={self.steps}, interval=[{self.interval[0]:g}, {self.interval[1]:g}])"
        )

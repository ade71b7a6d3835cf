"""The Cayley filter: powers of the Cayley transform of the Laplacian (Levie et al., 2017)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

from dfnets.filters.base import Filter
from dfnets.filters.bounds import EPS
from dfnets.filters.checks import checked_interval, checked_number, checked_vector
from dfnets.filters.counting import fewest
from dfnets.filters.expansion import Tail, ellipse_tail, joukowski, polynomial_tail
from dfnets.filters.plan import Cost
from dfnets.filters.polynomials import Interval
from dfnets.filters.products import Products
from dfnets.filters.rounding import of_product
from dfnets.responses import Function, Response, as_response
from dfnets.shift import Shift


class CayleyFilter(Filter):
    """h(frequency) = theta_0 + 2 Re sum_{j=1..r} theta_j C^j, C = (z frequency - i) / (z frequency + i), z the zoom.

    Ways to apply it: ``"jacobi"``, r sparse solves of (z L^ + i) y = (z L^ - i) x by Jacobi iterations, as the paper
    does; ``"exact"``, the same solves by a sparse factorisation (which fills in on large graphs); and the Chebyshev
    expansion of h.

    Args:
        theta: (r + 1,) complex coefficients; the first must be real.
        zoom: z > 0; a large one spreads the low frequencies out.
    """

    kind = "cayley"
    direct = frozenset({"exact"})

    def __init__(
        self,
        theta: Any,
        zoom: float = 1.0,
        interval: Interval = (0.0, 2.0),
        *,
        target: Response | None = None,
        transition: float = 0.0,
    ) -> None:
        self.theta = checked_vector(theta, "theta", 1, kind=complex)
        if self.theta[0].imag != 0:
            raise ValueError(f"theta[0]={self.theta[0]} must be real")
        self.zoom = checked_number(zoom, "zoom")
        if not self.zoom > 0:
            raise ValueError(f"zoom={zoom!r} must be positive and finite")
        super().__init__(interval, target, transition)

    @classmethod
    def fit(
        cls,
        response: Response | Function,
        order: int,
        zoom: float = 1.0,
        interval: Interval = (0.0, 2.0),
        *,
        samples: int = 200,
        transition: float = 0.1,
    ) -> Self:
        """The least-squares coefficients of a response at evenly spaced frequencies."""
        wanted = as_response(response)
        if order < 0 or samples <= 2 * order + 1:
            raise ValueError(f"order={order} must not be negative, and samples={samples} must exceed 2 order + 1")
        frequencies = np.linspace(*checked_interval(interval), samples)
        transform = _transform(frequencies, zoom)[:, None] ** np.arange(1, order + 1)
        columns = np.hstack([np.ones((samples, 1)), 2 * transform.real, -2 * transform.imag])
        found = np.linalg.lstsq(columns, wanted(frequencies), rcond=None)[0]
        theta = np.concatenate([found[:1], found[1 : order + 1] + 1j * found[order + 1 :]])
        return cls(theta, zoom, interval, target=wanted, transition=transition)

    def response(self, frequency: Any) -> np.ndarray:
        """h, the sum of powers of the transform, at frequencies of L^."""
        transform = _transform(np.asarray(frequency, dtype=np.float64), self.zoom)
        return (
            self.theta[0].real
            + 2 * np.polynomial.polynomial.polyval(transform, np.concatenate([[0], self.theta[1:]])).real
        )

    def tail(self, interval: Interval) -> Tail | None:
        """From the two poles -i / z and i / z, of order r, and how large |C| gets on ellipses that leave them out.

        C = 1 - (2 i / z) / (frequency + i / z), and a point w is at least (|w| - rho) (1 - 1 / (rho |w|)) / 2 away from
        the ellipse rho, as the Joukowski map shows.
        """
        low, high = interval
        if low == high:
            return polynomial_tail(0)
        half = (high - low) / 2
        reach = float(np.abs(joukowski(np.array([(1j / self.zoom - (low + high) / 2) / half])))[0]) * (1 - 1e-12)
        rho = 1 + (reach - 1) * np.linspace(0.02, 0.98, 49)
        away = half * (reach - rho) * (1 - 1 / (rho * reach)) / 2
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            transform = 1 + 2 / (self.zoom * away)
            powers = transform[:, None] ** np.arange(1, len(self.theta))
            largest = np.abs(self.theta[0]) + 2 * (powers * np.abs(self.theta[1:])).sum(axis=1)
        return ellipse_tail(rho, np.log(np.maximum(largest, 1e-300)))

    def noise(self, interval: Interval) -> float:  # noqa: ARG002
        """A bound on the rounding error of a value of the response."""
        return 16 * EPS * float(np.abs(self.theta) @ (np.arange(len(self.theta)) + 1.0))

    def costs(self, tol: float, interval: Interval) -> Mapping[str, Cost | str]:
        """For each method what it needs for this tolerance on this interval, or why it cannot be used."""
        order = len(self.theta) - 1
        # For any graph of the interval: no diagonal entry of L^ exceeds its largest eigenvalue, nor 1.
        jacobi = self._jacobi_iterations(tol, _rate(self.zoom, min(interval[1], 1.0)))
        return {
            **super().costs(tol, interval),
            "jacobi": Cost(jacobi, 2 * order * (jacobi + 1)),
            "exact": Cost(order, order),
        }

    def rounding(self, method: str, shift: Shift, tol: float) -> float:
        """How much a method may lose to rounding on a graph, in units of roundoff and relative to norm(x)."""
        if method == "chebyshev":
            return super().rounding(method, shift, tol)
        # The powers have norm 1, but their coefficients may be large and cancel. One transform loses z times what a
        # product loses; Jacobi iterations lose that each, and what they lose adds up to 1 / (1 - rate) of it.
        once = self.zoom * of_product(shift, 0.0) + 16
        if method == "jacobi":
            once *= (1 + self.zoom**2) ** 0.25 / (1 - _contraction(shift, self.zoom)) + 1
        return 2 * once * float(np.abs(self.theta) @ (np.arange(len(self.theta)) + 1.0))

    def run(
        self, method: str, products: Products, x: np.ndarray, tol: float, iterations: int | None
    ) -> tuple[np.ndarray, int, float]:
        """The signal, the iterations and the error bound of one method; x is (n, k) and is not written to."""
        if method == "chebyshev":
            return super().run(method, products, x, tol, iterations)
        shift = products.shift.recentred(0.0)
        y = x * x.dtype.type(self.theta[0].real)
        power = x.astype(np.result_type(x.dtype, np.complex64))
        if method == "exact":
            return self._exact(products, shift, x, y)
        rate = _contraction(shift, self.zoom)
        if iterations is None:
            iterations = self._jacobi_iterations(tol, rate)
        for coefficient in self.theta[1:]:
            power = self._jacobi(products, shift, power, iterations)
            y += 2 * (coefficient * power).real
        return y, iterations, self._jacobi_error(iterations, rate)

    def _exact(self, products: Products, shift: Shift, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, int, float]:
        """Sparse solves; norm((z L^ + i)^-1) <= 1, so the residual of each bounds its error."""
        products.count = len(self.theta) - 1
        laplacian = shift.tocsr().tocsc()
        matrix = (self.zoom * laplacian + 1j * sp.eye_array(shift.num_nodes, format="csc")).astype(complex)
        solve = scipy.sparse.linalg.splu(sp.csc_matrix(matrix)).solve
        power, error, bound = x.astype(complex), np.zeros(x.shape[1]), np.zeros(x.shape[1])
        for coefficient in self.theta[1:]:
            right = self.zoom * (laplacian @ power) - 1j * power
            power = solve(right)
            error += np.linalg.norm(right - matrix @ power, axis=0)
            bound += 2 * abs(coefficient) * error
            y += 2 * (coefficient * power).real
        sizes = np.linalg.norm(x.astype(np.float64), axis=0)
        relative = np.divide(bound, sizes, out=np.zeros_like(bound), where=sizes > 0)
        return y, len(self.theta) - 1, float(relative.max(initial=0.0))

    def _jacobi(self, products: Products, shift: Shift, x: np.ndarray, iterations: int) -> np.ndarray:
        """y <- D^-1 (b - O y), from y = D^-1 b, where z L^ + i = D + O (D the diagonal) and b = (z L^ - i) x."""
        inverse = (1 / (self.zoom * shift.diagonal + 1j)).astype(x.dtype)[:, None]
        right = self.zoom * _multiply(products, shift, x) - 1j * x
        y = inverse * right
        for _ in range(iterations):
            off = _multiply(products, shift, y) - shift.diagonal[:, None].astype(y.real.dtype) * y
            y = inverse * (right - self.zoom * off)
        return y

    def _jacobi_iterations(self, tol: float, rate: float) -> int:
        return fewest(lambda iterations: self._jacobi_error(iterations, rate), tol)

    def _jacobi_error(self, iterations: int, rate: float) -> float:
        """The bound on norm(y - y*) / norm(x).

        The start D^-1 b is itself one iteration from zero. In the norm weighted by sqrt|z L^_ii + i| an iteration
        contracts by ``rate``; going to the plain norm and back costs (1 + z^2)^(1/4) at the most. The exact transform
        has norm 1, so a transform with error e has (1 + e)^j - 1 in its j-th power.
        """
        one = (1 + self.zoom**2) ** 0.25 * rate ** (iterations + 1)
        powers = np.arange(1, len(self.theta))
        with np.errstate(over="ignore"):
            return float(2 * np.abs(self.theta[1:]) @ np.expm1(powers * math.log1p(one)))

    def parameters(self) -> dict[str, Any]:
        """theta as pairs of real numbers, and the zoom."""
        return {"theta": [[value.real, value.imag] for value in self.theta], "zoom": self.zoom}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], **common: Any) -> Self:
        """The inverse of :meth:`parameters`."""
        return cls([complex(*pair) for pair in parameters["theta"]], parameters["zoom"], **common)

    def __repr__(self) -> str:
        low, high = self.interval
        return f"CayleyFilter(order={len(self.theta) - 1}, zoom={self.zoom:g}, interval=[{low:g}, {high:g}])"


def _transform(frequency: np.ndarray, zoom: float) -> np.ndarray:
    return (zoom * frequency - 1j) / (zoom * frequency + 1j)


def _rate(zoom: float, off: float) -> float:
    return zoom * off / math.hypot(zoom * off, 1)


def _contraction(shift: Shift, zoom: float) -> float:
    """The contraction of a Jacobi iteration: max_i z a_i / |z a_i + i| with a_i = L^_ii.

    O has the weights -z w_ij / sqrt(d_i d_j), so with |D| the absolute diagonal, |D|^-1/2 |O| |D|^-1/2 is similar to a
    non-negative matrix whose rows sum to z (1 - (1 + w_ii) / d_i) / |D_i| = z a_i / |D_i|, which bound its norm.
    """
    return _rate(zoom, float(shift.diagonal.max()))


def _multiply(products: Products, shift: Shift, x: np.ndarray) -> np.ndarray:
    """L^ x for a complex x: two products, of the real and the imaginary part side by side."""
    k = x.shape[1]
    both = products.step(shift, np.concatenate([x.real, x.imag], axis=1))
    products.count += 1
    return both[:, :k] + 1j * both[:, k:]

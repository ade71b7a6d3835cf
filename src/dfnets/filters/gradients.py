"""Conjugate gradients for a polynomial of the shift, each column with its own step lengths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfnets.filters.products import Products


@dataclass(frozen=True)
class System:
    """M(L~) y = R(L~) x, with M positive on the spectrum.

    Attributes:
        centre: what L~ is measured from.
        matrix, right: the coefficients of M and R in powers of L~.
        weakest: a bound below the smallest eigenvalue of M, so that norm(y - y*) <= norm(residual) / weakest.
    """

    centre: float
    matrix: np.ndarray
    right: np.ndarray
    weakest: float


def solve(
    system: System, products: Products, x: np.ndarray, tol: float, limit: int, *, fixed: bool
) -> tuple[np.ndarray, int, float]:
    """y, the iterations and the bound on norm(y - y*) / norm(x), for x (n, k).

    The residual of the recurrence drifts from the true one, so the true one has the last word; if it is too large, the
    iteration starts afresh from there. How far rounding may put the computed residual from the true one is the caller's
    to add.

    Args:
        limit: iterations at the most; all of them are made if ``fixed``.
    """
    centre, matrix = system.centre, system.matrix
    sizes = _column_norms(x)
    enough = sizes * (tol * system.weakest)
    y, done = np.zeros_like(x), 0
    work = [np.empty_like(x), np.empty_like(x)]
    pair = [np.empty_like(x), np.empty_like(x)]
    residual, direction = _first(products.horner(centre, system.right, x, pair), pair)
    while True:
        direction[...] = residual
        squares = _column_squares(residual)
        while done < limit and (fixed or (np.sqrt(squares) > enough).any()):
            image = products.horner(centre, matrix, direction, work)
            curvature = _column_squares(direction, image)
            step = np.divide(squares, curvature, out=np.zeros_like(squares), where=curvature > 0)
            _add(y, step, direction)
            _add(residual, -step, image)
            before, squares = squares, _column_squares(residual)
            direction *= np.divide(squares, before, out=np.zeros_like(squares), where=before > 0).astype(x.dtype)
            direction += residual
            done += 1
        constant = products.horner(centre, system.right, x, work)
        pair = [residual, direction]
        residual, direction = _first(products.horner(centre, -matrix, y, pair, add=constant), pair)
        norms = _column_norms(residual)
        if fixed or (norms <= enough).all():
            bounds = np.divide(norms, sizes * system.weakest, out=np.zeros_like(norms), where=sizes > 0)
            return y, done, float(bounds.max(initial=0.0))
        if done >= limit:
            raise ArithmeticError(f"conjugate gradients did not reach tol={tol:g} in {done} iterations of {x.dtype}")


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

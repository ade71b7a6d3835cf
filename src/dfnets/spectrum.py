"""What can be said of a spectrum from a few products: Lanczos, a bound on the largest eigenvalue, the density."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

Multiply = Callable[[np.ndarray], np.ndarray]


def lanczos(multiply: Multiply, start: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The Lanczos process with full reorthogonalisation: V^T M V = T, tridiagonal, V[:, 0] = start / |start|.

    It stops early when the Krylov space is exhausted, so k may be less than ``steps``.

    Args:
        multiply: x -> M x for a symmetric M, on (n,) vectors.
        start: (n,), not zero.

    Returns:
        diagonal (k,) and off-diagonal (k - 1,) of T, and V as (k, n), one basis vector a row.
    """
    n = len(start)
    steps = min(steps, n)
    basis = np.empty((steps, n))
    diagonal, off = np.empty(steps), np.empty(steps)
    basis[0] = start / np.linalg.norm(start)
    scale = 0.0
    for k in range(steps):
        w = multiply(basis[k])
        diagonal[k] = basis[k] @ w
        # Twice is enough (Kahan, Parlett): one pass of Gram-Schmidt leaves what cancellation hid from it.
        for _ in range(2):
            w -= basis[: k + 1].T @ (basis[: k + 1] @ w)
        off[k] = np.linalg.norm(w)
        scale = max(scale, abs(diagonal[k]) + off[k])
        if off[k] <= 1e-13 * scale or k + 1 == steps:
            return diagonal[: k + 1], off[:k], basis[: k + 1]
        basis[k + 1] = w / off[k]
    raise AssertionError("steps is at least 1")


def random_start(n: int, seed: int) -> np.ndarray:
    """(n,) uniform on the unit sphere."""
    v = np.random.default_rng(seed).standard_normal(n)
    return v / np.linalg.norm(v)


def largest_eigenvalue(multiply: Multiply, n: int, *, steps: int, failure: float, seed: int = 0) -> tuple[float, float]:
    """(Ritz value, upper bound) of the largest eigenvalue of a positive semidefinite n x n operator.

    The Ritz value never exceeds the largest eigenvalue, however small its residual. For a start drawn uniformly from
    the sphere, Kuczynski and Wozniakowski (1992, theorem 4.2) show for k steps and any 0 < e < 1::

        P(lmax - ritz > e lmax) <= 1.648 sqrt(n) exp(-(2 k - 1) sqrt(e))

    so ``ritz / (1 - e)`` bounds lmax with probability at least ``1 - failure`` for the e that makes the right side
    equal to it; infinity when k is too small for any e < 1. A Krylov space that is exhausted, or that is the whole
    space, needs no such allowance: it holds a component of every eigenvector with probability one.
    """
    diagonal, off, basis = lanczos(multiply, random_start(n, seed), steps)
    ritz = float(scipy.linalg.eigh_tridiagonal(diagonal, off, eigvals_only=True)[-1])
    k = len(basis)
    if k < steps or k == n:
        return ritz, ritz * (1 + 1e-10)
    error = (np.log(1.648 * np.sqrt(n) / failure) / (2 * k - 1)) ** 2
    return ritz, ritz / (1 - error) if error < 1 else np.inf


def density(
    multiply: Multiply, n: int, *, probes: int = 8, steps: int = 60, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """The spectral density by stochastic Lanczos quadrature: atoms at Ritz values, with weights that sum to 1.

    Each probe is a random start; the squared first components of the eigenvectors of T are the weights that Gauss
    quadrature gives to its Ritz values. With ``steps >= n`` the atoms are the eigenvalues.
    """
    atoms, weights = [], []
    for probe in range(probes):
        diagonal, off, _ = lanczos(multiply, random_start(n, seed + probe), steps)
        values, vectors = scipy.linalg.eigh_tridiagonal(diagonal, off)
        atoms.append(values)
        weights.append(vectors[0] ** 2 / probes)
    return np.concatenate(atoms), np.concatenate(weights)

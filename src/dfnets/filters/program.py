"""The convex program behind every design: least squares with one block of unknowns bounded.

    minimise over a, b   | r + M a - B b |_2     subject to   | G a |_inf <= gamma

b is free, so it is projected out; a QR decomposition of what remains turns the program into the least distance problem
min |t| subject to E t >= e, which Lawson and Hanson solve exactly through non-negative least squares. That is a matter
of a handful of unknowns and a fraction of a millisecond; squaring the problem in monomials loses the answer.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

# Beyond this condition number the triangular factor no longer determines a, and the interior point method decides.
WORST_CONDITION = 1e10


class Program:
    """One objective |r + m a - b b'|, reduced once, to be solved under any bounded rows.

    Args:
        r: (s,).
        m: (s, p).
        b: (s, q + 1).
    """

    def __init__(self, r: np.ndarray, m: np.ndarray, b: np.ndarray) -> None:
        self.r, self.m = r, m
        basis, self.corner = np.linalg.qr(b)
        self.basis = basis
        reduced = np.column_stack([m, r])
        reduced -= basis @ (basis.T @ reduced)
        upper: np.ndarray = np.linalg.qr(reduced, mode="r")  # type: ignore[assignment]
        p = m.shape[1]
        self.triangle, self.target = upper[:p, :p], upper[:p, p]
        self.inverse = None
        if np.linalg.cond(self.triangle) < WORST_CONDITION:
            self.inverse = np.linalg.inv(self.triangle)

    def bounded(self, g: np.ndarray, gamma: float) -> np.ndarray:
        """The optimal a (p,) under |g a| <= gamma; g is (c, p)."""
        if self.inverse is not None:
            # The search of SciPy 1.13 squares the system, and gives up on some: too many rounds, or singular.
            with suppress(RuntimeError, np.linalg.LinAlgError):
                return self.inverse @ (_least_distance(g @ self.inverse, self.target, gamma) - self.target)
        return _interior_point(self.triangle, self.target, g, gamma)

    def free(self, a: np.ndarray) -> np.ndarray:
        """The optimal b (q + 1,) for this a."""
        return np.linalg.lstsq(self.corner, self.basis.T @ (self.r + self.m @ a), rcond=None)[0]


def _least_distance(rows: np.ndarray, target: np.ndarray, gamma: float) -> np.ndarray:
    """The shortest t with -gamma <= rows (t - target) <= gamma."""
    from scipy.optimize import nnls  # slow to import, and only designs need it

    free = rows @ target
    e_rows = np.concatenate([-rows, rows])
    e = np.concatenate([-gamma - free, -gamma + free])
    if (e <= 0).all():  # t = 0 is feasible: the bound does not bind
        return np.zeros_like(target)
    system = np.vstack([e_rows.T, e])
    unit = np.zeros(len(system))
    unit[-1] = 1
    multipliers, _ = nnls(system, unit)
    active = multipliers > 0
    # The active rows hold with equality at the optimum; solving for t on them removes what nnls' stopping rule left.
    return np.linalg.lstsq(e_rows[active], e[active], rcond=None)[0]


def _interior_point(triangle: np.ndarray, target: np.ndarray, g: np.ndarray, gamma: float) -> np.ndarray:
    """The same program by Clarabel, in (a, t) so that the triangle is never squared."""
    import clarabel
    import scipy.sparse as sp

    p = len(target)
    quadratic = sp.block_diag([sp.csc_matrix((p, p)), sp.identity(p)], format="csc")
    equal = sp.csc_matrix(np.hstack([triangle, -np.eye(p)]))
    bounded = sp.csc_matrix(np.vstack([g, -g]))
    rows = sp.vstack([equal, sp.hstack([bounded, sp.csc_matrix((2 * len(g), p))])], format="csc")
    right = np.concatenate([-target, np.full(2 * len(g), gamma)])
    cones = [clarabel.ZeroConeT(p), clarabel.NonnegativeConeT(2 * len(g))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solution = clarabel.DefaultSolver(quadratic, np.zeros(2 * p), rows, right, cones, settings).solve()
    a = np.asarray(solution.x)[:p]
    if not np.isfinite(a).all():
        raise ArithmeticError(f"the design program has no numerical solution (solver status {solution.status})")
    excess = np.abs(g @ a).max(initial=0.0) / gamma
    return a / max(excess, 1.0)

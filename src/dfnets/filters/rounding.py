"""How far rounding may carry a computed polynomial of the shift from the exact one.

Every figure is a bound, relative to the norm of the signal and in units of roundoff u (half the distance of 1 from the
next number). A row with d entries is summed one after the other, which is off by (d + 1) u times the sum of absolute
terms at the worst; on a hub that worst case is real, because the terms of a smooth signal are all alike.
"""

from __future__ import annotations

import numpy as np

from dfnets.filters.polynomials import Interval
from dfnets.shift import Shift

# Up to this degree the size of Clenshaw's vectors is bounded on a grid, which is tight; beyond it by a sum.
LARGEST_GRID = 1024


def unit(dtype: np.dtype | type) -> float:
    """u: the largest relative error of one rounded operation."""
    return float(np.finfo(dtype).eps) / 2


def of_product(shift: Shift, centre: float) -> float:
    """One product (L^ - centre I) x: the longest sum of a row, times the norm of the absolute values of the operator.

    The entries off the diagonal have absolute values w_ij / sqrt(d_i d_j), whose norm is below 1; eight more roundings
    are those of the stored entries, of the diagonal and of what is added in the same step.
    """
    return (shift.longest_row + 8) * (1 + max(abs(end - centre) for end in shift.diagonal_range))


def of_horner(shift: Shift, centre: float, coefficients: np.ndarray, interval: Interval) -> float:
    """sum_j c_j (L^ - centre I)^j x by Horner's rule: what step j loses grows by the j-th power of the reach."""
    product, reach = of_product(shift, centre), max(abs(end - centre) for end in interval)
    sizes = np.abs(np.asarray(coefficients, dtype=np.float64))
    total = running = 0.0
    for j in range(len(sizes) - 1, -1, -1):
        lost = product * running + 4 * sizes[j]
        running = running * reach + sizes[j]
        total += lost * reach**j
    return total


def of_clenshaw(shift: Shift, coefficients: np.ndarray, interval: Interval) -> float:
    """sum_k c_k T_k(S) x by Clenshaw's recurrence b_k = c_k x + 2 S b_{k+1} - b_{k+2}.

    What step k loses reaches the result as T_k(S) times it, because S U_{k-1} - U_{k-2} = T_k, and |T_k| <= 1.
    """
    low, high = interval
    sizes = np.abs(coefficients)
    if len(sizes) == 1 or low == high:
        return 4 * float(sizes.sum())
    # S itself is (L^ - middle) / half; the ends of the interval are only known to u as well.
    product = 2 * (of_product(shift, (low + high) / 2) + 4) / ((high - low) / 2)
    vectors = _clenshaw_sizes(coefficients)
    return float(product * vectors[1:].sum() + 4 * sizes.sum() + 3 * vectors.sum() + 3 * vectors[2:].sum())


def _clenshaw_sizes(coefficients: np.ndarray) -> np.ndarray:
    """(K + 1,) bounds on the norm of b_k = sum_j c_{k+j} U_j(S) x."""
    sizes = np.abs(coefficients)
    if len(sizes) > LARGEST_GRID:  # |U_j| <= j + 1
        return np.cumsum(np.cumsum(sizes[::-1]))[::-1]
    count = 4 * len(sizes)
    s = np.cos(np.pi * (np.arange(count) + 0.5) / count)
    now, before = np.zeros(count), np.zeros(count)
    largest = np.empty(len(sizes))
    for k in range(len(sizes) - 1, -1, -1):
        now, before = coefficients[k] + 2 * s * now - before, now
        largest[k] = np.abs(now).max()
    # A polynomial of degree K exceeds its values on 4 K Chebyshev points by 1 / cos(pi / 8) at most (Ehlich, Zeller).
    return 1.09 * largest

"""How many iterations a bound needs."""

from __future__ import annotations

from collections.abc import Callable

# Where a count is so large that nobody would wait for it, there is no point in knowing it exactly.
MOST_ITERATIONS = 2**62


def fewest(error: Callable[[int], float], tol: float) -> int:
    """The fewest k >= 0 with error(k) <= tol, for an error that falls with k: by doubling, then by bisection."""
    if error(0) <= tol:
        return 0
    high = 1
    while error(high) > tol and high < MOST_ITERATIONS:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error(middle) <= tol else (middle, high)
    return high

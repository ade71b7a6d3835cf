"""Products with a shift, counted, and the two ways of evaluating a polynomial with them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dfnets import engine
from dfnets.shift import Shift


class Products:
    """Steps of the engine on one shift; ``count`` is how many products with L~ they took; ``report`` hears of each."""

    def __init__(self, shift: Shift, report: Callable[[int], None] | None = None) -> None:
        self.shift = shift
        self.count = 0
        self.report = report

    def step(self, shift: Shift, x: np.ndarray, **terms: object) -> np.ndarray:
        self.count += 1
        if self.report is not None:
            self.report(self.count)
        return engine.step(shift, x, **terms)  # type: ignore[arg-type]

    def horner(
        self,
        centre: float,
        coefficients: np.ndarray,
        x: np.ndarray,
        spare: list[np.ndarray],
        add: np.ndarray | None = None,
    ) -> np.ndarray:
        """sum_j coefficients[j] (L^ - centre I)^j x + add, with as many products as the degree.

        Args:
            x, add: (n, k); neither is written to.
            spare: two (n, k) arrays to work in; the result is one of them.
        """
        shift = self.shift.recentred(centre)
        result, other = spare
        *lower, top = (float(c) for c in coefficients)
        if not lower:
            np.multiply(x, x.dtype.type(top), out=result)
            if add is not None:
                result += add
            return result
        # The first step starts from x itself, scaled, so that no array is spent on top * x.
        current, scale = x, top
        for power in range(len(lower) - 1, -1, -1):
            terms: dict[str, object] = {"scale": scale}
            if lower[power] != 0:
                terms |= {"y": x, "beta": lower[power]}
            if power == 0 and add is not None:
                terms |= {"z": add}
            current, scale = self.step(shift, current, out=result, **terms), 1.0
            result, other = other, result
        return current

    def clenshaw(self, coefficients: np.ndarray, x: np.ndarray) -> np.ndarray:
        """sum_k coefficients[k] T_k(S) x, S the shift mapped from its interval to [-1, 1]."""
        self.count += len(coefficients) - 1
        return engine.clenshaw(self.shift, x, coefficients)

"""What a feedback-looped filter is on an interval: its polynomials as Chebyshev series, and proved bounds on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Ranges:
    """What decides convergence on an interval, each a proved bound.

    Attributes:
        contraction: |P| is at most this.
        denominator: 1 - P lies between these two.
        gain: |h| is at most this.
        distance: |1 - h| is at most this: how far the recursion starts from its limit.
    """

    contraction: float
    denominator: tuple[float, float]
    gain: float
    distance: float

    @property
    def has_pole(self) -> bool:
        """Whether 1 - P cannot be shown to have one sign."""
        return self.denominator[0] <= 0 <= self.denominator[1]

    @property
    def weakest(self) -> float:
        """|1 - P| is at least this."""
        return 0.0 if self.has_pole else min(abs(self.denominator[0]), abs(self.denominator[1]))


@dataclass(frozen=True)
class Series:
    """P, Q and 1 - P as Chebyshev series on an interval, each coefficient rounded once."""

    feedback: np.ndarray
    feedforward: np.ndarray
    denominator: np.ndarray

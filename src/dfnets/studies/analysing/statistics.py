"""Means and paired differences, each with an interval that says what varies in it.

Over seeds (or draws of splits, where the protocol has them): Student's t at 95 %, runs paired by seed. Over test nodes
and seeds together: :mod:`dfnets.studies.analysing.bootstrap`. Several comparisons are corrected together by Holm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval.

    Attributes:
        std: of the values (n - 1 in the denominator); NaN for a single one, and then the interval is unbounded.
        count: of the runs.
        p: two-sided, that the mean is zero; None where it cannot be said.
        varies: what the interval lets vary, in words.
    """

    mean: float
    std: float
    low: float
    high: float
    count: int
    p: float | None = None
    varies: str = "seeds"

    def minus(self, constant: float) -> Estimate:
        """The estimate of the difference to a constant; ``p`` is left out."""
        return replace(self, mean=self.mean - constant, low=self.low - constant, high=self.high - constant, p=None)

    def __str__(self) -> str:
        text = f"{self.mean:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"
        return text if self.p is None else f"{text}, p = {self.p:.2g}"


def mean(values: Sequence[float] | np.ndarray) -> Estimate:
    """The mean of values, its interval, and the p-value of the t-test against zero.

    >>> estimate = mean([1.0, 2.0, 3.0])
    >>> round(estimate.low, 2), estimate.mean, round(estimate.high, 2)
    (-0.48, 2.0, 4.48)
    """
    from scipy.stats import t

    array = np.asarray(values, dtype=float)
    count, centre = len(array), float(array.mean())
    if count < 2:
        return Estimate(centre, float("nan"), -np.inf, np.inf, count)
    std = float(array.std(ddof=1))
    error = std / np.sqrt(count)
    half = float(t.ppf((1 + LEVEL) / 2, count - 1) * error)
    p = float(2 * t.sf(abs(centre) / error, count - 1)) if error else float(centre == 0)
    return Estimate(centre, std, centre - half, centre + half, count, p)


def paired(one: Mapping[int, float], other: Mapping[int, float]) -> Estimate | None:
    """``one`` minus ``other`` over the seeds that both have; None where there are none.

    >>> paired({0: 2.0, 1: 3.0, 7: 9.0}, {0: 1.0, 1: 2.0}).mean
    1.0
    """
    seeds = sorted(one.keys() & other.keys())
    return mean([one[seed] - other[seed] for seed in seeds]) if seeds else None


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """p-values adjusted for all of them being looked at together (Holm, 1979); gaps stay gaps.

    The k-th smallest of m is multiplied by m - k + 1, and none may be smaller than the one before it. Rejecting what is
    below .05 then errs anywhere with a probability of at most .05, however the comparisons depend on each other.

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, i) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[i] = largest
    return adjusted


def slope(x: Sequence[float], y: Sequence[float]) -> Estimate:
    """The exponent e of y ~ x^e by least squares on logarithms, with its interval."""
    from scipy.stats import linregress, t

    fit = linregress(np.log(x), np.log(y))
    # A quantity that does not change at all has no residual to speak of.
    error = float(np.nan_to_num(fit.stderr))
    half = float(t.ppf((1 + LEVEL) / 2, max(1, len(x) - 2))) * error
    return Estimate(float(fit.slope), error, float(fit.slope) - half, float(fit.slope) + half, len(x), varies="points")

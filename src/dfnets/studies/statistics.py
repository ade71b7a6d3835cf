"""Means with their intervals, and differences with theirs.

The choice: Student's t at 95 % for intervals; runs are paired by seed, and so by draw where there are draws; beside a
paired difference stands the p of the paired t-test, two-sided, which agrees with the interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval; ``p`` of the paired test where there is one.

    Attributes:
        std: of the values (n - 1 in the denominator); NaN for a single one, and then the interval is unbounded.
    """

    mean: float
    std: float
    low: float
    high: float
    count: int
    p: float | None = None

    @property
    def positive(self) -> bool:
        """Above zero beyond doubt, at this level."""
        return self.low > 0

    def __str__(self) -> str:
        text = f"{self.mean:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"
        return text if self.p is None else f"{text}, p = {self.p:.2g}"


def mean(values: Sequence[float] | np.ndarray) -> Estimate:
    """The mean of values and its interval.

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
    half = float(t.ppf((1 + LEVEL) / 2, count - 1) * std / np.sqrt(count))
    return Estimate(centre, std, centre - half, centre + half, count)


def paired(one: Mapping[int, float], other: Mapping[int, float]) -> Estimate | None:
    """``one`` minus ``other`` over the seeds that both have; None where there are none.

    >>> paired({0: 2.0, 1: 3.0, 7: 9.0}, {0: 1.0, 1: 2.0}).mean
    1.0
    """
    from scipy.stats import t

    seeds = sorted(one.keys() & other.keys())
    if not seeds:
        return None
    differences = np.array([one[seed] - other[seed] for seed in seeds])
    estimate = mean(differences)
    if len(seeds) < 2 or not estimate.std:
        return estimate
    size = abs(estimate.mean) / (estimate.std / np.sqrt(len(seeds)))
    return replace(estimate, p=float(2 * t.sf(size, len(seeds) - 1)))


def slope(x: Sequence[float], y: Sequence[float]) -> Estimate:
    """The exponent e of y ~ x^e by least squares on logarithms, with its interval."""
    from scipy.stats import linregress, t

    fit = linregress(np.log(x), np.log(y))
    # A quantity that does not change at all has no residual to speak of.
    error = float(np.nan_to_num(fit.stderr))
    half = float(t.ppf((1 + LEVEL) / 2, max(1, len(x) - 2))) * error
    return Estimate(float(fit.slope), error, float(fit.slope) - half, float(fit.slope) + half, len(x))

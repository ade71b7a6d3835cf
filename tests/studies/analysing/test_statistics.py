"""Intervals and p-values: against SciPy, by brute force, and by how often they are right."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from dfnets.studies.analysing import statistics
from dfnets.studies.analysing.comparison import Comparison, adjust
from dfnets.studies.analysing.statistics import Estimate


@pytest.mark.parametrize("count", [2, 5, 20])
def test_the_mean_is_that_of_a_t_test(count: int) -> None:
    values = np.random.default_rng(count).normal(0.7, 1.0, count)
    found, test = statistics.mean(values), stats.ttest_1samp(values, 0.0)
    interval = test.confidence_interval(0.95)
    assert found.p == pytest.approx(test.pvalue, rel=1e-12)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-12)
    assert found.std == pytest.approx(values.std(ddof=1))


def test_the_paired_difference_is_that_of_a_paired_t_test() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.normal(82, 1, 10), rng.normal(81.5, 1, 10)
    found = statistics.paired(dict(enumerate(one)), dict(enumerate(other)))
    test = stats.ttest_rel(one, other)
    assert found is not None
    assert found.p == pytest.approx(test.pvalue, rel=1e-12)
    assert (found.low, found.high) == pytest.approx(tuple(test.confidence_interval()), rel=1e-12)
    assert found.count == 10
    assert statistics.paired({0: 1.0}, {1: 1.0}) is None


def test_runs_are_paired_by_seed_whatever_their_order() -> None:
    found = statistics.paired({3: 5.0, 0: 1.0, 4: 100.0}, {4: 99.0, 0: 0.5})
    assert found is not None
    assert (found.mean, found.count) == (0.75, 2)
    assert found.std == pytest.approx(0.125**0.5)


def test_one_value_says_nothing_and_equal_values_everything() -> None:
    single = statistics.mean([3.0])
    assert (single.low, single.high, single.p) == (-np.inf, np.inf, None)
    assert statistics.mean([2.0, 2.0]).p == 0.0
    assert statistics.mean([0.0, 0.0]).p == 1.0


def brute_holm(p_values: list[float]) -> list[float]:
    """Holm's adjusted p-value from closed testing: the largest Bonferroni p of any set of hypotheses with it."""
    found = []
    for i in range(len(p_values)):
        sets = [
            chosen
            for size in range(1, len(p_values) + 1)
            for chosen in itertools.combinations(range(len(p_values)), size)
            if i in chosen
        ]
        found.append(min(1.0, max(len(chosen) * min(p_values[j] for j in chosen) for chosen in sets)))
    return found


def test_holm_is_closed_testing_with_bonferroni() -> None:
    for seed in range(20):
        p_values = list(np.random.default_rng(seed).uniform(0, 0.2, 6))
        assert statistics.holm(p_values) == pytest.approx(brute_holm(p_values), rel=1e-12)
    assert statistics.holm([]) == []
    assert statistics.holm([None, 0.2]) == [None, 0.2]


def test_holm_errs_anywhere_in_one_table_of_twenty() -> None:
    p_values = np.random.default_rng(0).uniform(size=(4000, 12))
    errs = [any(p is not None and p < 0.05 for p in statistics.holm(list(table))) for table in p_values]
    assert 0.03 < np.mean(errs) < 0.055
    assert np.mean((p_values < 0.05).any(axis=1)) > 0.4  # without the correction


def comparison(seeds: float, nodes: float | None, p: float = 0.001) -> Comparison:
    def estimate(low: float) -> Estimate:
        return Estimate(low + 1.0, 1.0, low, low + 2.0, 10, p)

    return Comparison(estimate(seeds), None if nodes is None else estimate(nodes))


def test_the_larger_p_value_of_a_comparison_counts() -> None:
    sure, unsure = Estimate(2.0, 1.0, 1.0, 3.0, 10, 0.001), Estimate(2.0, 1.0, 1.0, 3.0, 10, 0.2)
    for found in (Comparison(sure, unsure), Comparison(unsure, sure)):
        assert found.p == 0.2
    assert Comparison(sure, Estimate(2.0, 1.0, 1.0, 3.0, 10)).p is None


def test_a_comparison_needs_every_interval() -> None:
    def signs(found: Comparison) -> tuple[bool, bool]:
        adjusted = adjust([found])[0]
        assert adjusted is not None
        return adjusted.above, adjusted.below

    assert signs(comparison(0.5, 0.2)) == (True, False)
    assert signs(comparison(-3.0, -2.5)) == (False, True)
    assert signs(comparison(0.5, -0.2)) == (False, False)
    assert signs(comparison(-0.2, 0.5)) == (False, False)
    assert signs(comparison(0.5, None)) == (False, False)
    # Clear alone, but not among many comparisons.
    many = adjust([comparison(0.5, 0.2, p=0.02), *[comparison(-1.0, -1.0, p=0.9)] * 4])
    assert many[0] is not None
    assert not many[0].above
    assert many[0].adjusted == pytest.approx(0.1)
    assert adjust([None]) == [None]

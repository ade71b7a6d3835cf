"""Schedules take every row once, whatever the graph looks like."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from dfnets.engine import schedules


def lengths_with_hubs(seed: int, n: int = 5000, largest: int = 200_000) -> np.ndarray:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 9, n)
    lengths[rng.integers(0, n, 5)] = rng.integers(0, largest, 5)
    return lengths


@pytest.mark.parametrize("seed", range(3))
def test_rows_by_length_is_a_permutation_within_windows(seed):
    indptr = np.concatenate([[0], lengths_with_hubs(seed, largest=100).cumsum()])
    (order,) = schedules.rows_by_length(indptr)
    for first in range(0, len(order), schedules.WINDOW):
        window = order[first : first + schedules.WINDOW]
        assert set(window) == set(range(first, first + len(window)))
        assert (np.diff(np.diff(indptr)[window]) >= 0).all()


def test_regular_small_and_dense_graphs_need_no_order():
    assert schedules.rows_by_length(np.arange(0, 4 * 10_001, 4)) == ()
    assert schedules.rows_by_length(np.concatenate([[0], lengths_with_hubs(0, n=1000).cumsum()])) == ()
    assert schedules.rows_by_length(np.concatenate([[0], (50 * lengths_with_hubs(0)).cumsum()])) == ()


@pytest.mark.parametrize("lengths", [lengths_with_hubs(1), lengths_with_hubs(2), np.zeros(7, int), np.full(40, 3)])
@pytest.mark.parametrize("short", [16, None])
def test_levels_sum_every_row_once(lengths, short):
    indptr = np.concatenate([[0], lengths.cumsum()]).astype(np.int32)
    source = np.random.default_rng(0).integers(-5, 5, indptr[-1]).astype(float)
    wanted = [source[start:stop].sum() for start, stop in pairwise(indptr)]
    found = np.full(len(lengths), np.nan)
    counts, *levels = schedules.levels(indptr, short=short)
    for count, (starts, stops, targets) in zip(counts, levels, strict=True):
        sums = np.full(count, np.nan)
        for start, stop, target in zip(starts, stops, targets, strict=True):
            into, at = (found, target) if target >= 0 else (sums, -1 - target)
            assert np.isnan(into[at])
            into[at] = source[start:stop].sum()
        source = sums
    assert not len(source)
    np.testing.assert_array_equal(found, wanted)


def test_no_piece_is_longer_than_a_tile_should_wait_for():
    indptr = np.concatenate([[0], lengths_with_hubs(3).cumsum()])
    _, first, *others = schedules.levels(indptr, short=64)
    assert (first[1] - first[0]).max() <= 64
    assert all((level[1] - level[0]).max() <= schedules.JOINED for level in others)

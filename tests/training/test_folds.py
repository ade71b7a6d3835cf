"""Folds: every label held out in each repeat, as many of a class in every fold, rare classes kept."""

from __future__ import annotations

import numpy as np
import pytest

from dfnets.training import folds as module
from dfnets.training.folds import fold_count, make_folds


def labels(*counts: int, unknown: int = 30) -> np.ndarray:
    known = np.repeat(np.arange(len(counts)), counts)
    return np.random.default_rng(0).permutation(np.concatenate([known, np.full(unknown, -1)]))


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("counts", [(2, 2), (5, 5, 5), (20, 3, 7)])
def test_every_label_is_held_out_in_each_repeat(counts: tuple[int, ...], count: int) -> None:
    y = labels(*counts)
    made = make_folds(y, count, 3)
    for r in range(3):
        parts = list(made)[count * r : count * (r + 1)]
        held = np.unique(np.concatenate([made.held[out] for _, out in parts]))
        assert np.array_equal(held, np.flatnonzero(y >= 0))
        for train, out in parts:
            assert not np.intersect1d(train, made.held[out]).size
            assert len(train) + len(out) == (y >= 0).sum()
    assert np.array_equal(made.times, np.bincount(np.concatenate([out for _, out in made])))


def test_every_fold_lacks_as_many_labels_of_a_class() -> None:
    """So that no fold has fewer labels of the classes that it is asked about than of the others."""
    y = labels(20, 13, 7, 2)
    made = make_folds(y, 5, 2)
    for train, out in made:
        assert np.bincount(y[made.held[out]], minlength=4).tolist() == [4, 3, 2, 1]
        assert np.bincount(y[train], minlength=4).tolist() == [16, 10, 5, 1]
    assert made.times.min() == 2
    assert made.times.max() <= 6


def test_groups_divide_the_held_out_nodes_by_the_folds_that_hold_them_out() -> None:
    made = make_folds(labels(9, 5), 4, 2)
    for node, group in enumerate(made.groups):
        assert made.out[0, group, node]
    assert set(made.groups) == {0, 1, 2, 3}


def test_a_class_with_one_label_is_in_every_training_part() -> None:
    y = labels(6, 1)
    made = make_folds(y, 3, 2)
    only = np.flatnonzero(y == 1)
    assert only not in made.held
    assert all(np.isin(only, train).all() for train, _ in made)


def test_repeats_differ_and_the_seed_decides() -> None:
    y = labels(10, 10)
    made = make_folds(y, 5, 2, seed=1)
    assert not np.array_equal(made.out[0], made.out[1])
    assert np.array_equal(made.out, make_folds(y, 5, 2, seed=1).out)


def test_nothing_to_hold_out_is_said() -> None:
    with pytest.raises(ValueError, match="label at least two nodes of one class"):
        make_folds(labels(1, 1, 1), 2, 1)


def test_of_very_many_labels_some_are_always_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_HELD_OUT", 20)
    y = labels(40, 40)
    made = make_folds(y, 5, 1)
    assert len(made.held) == 20
    assert all(len(train) >= 76 for train, _ in made)


def test_folds_are_as_many_as_a_typical_class_has_labels() -> None:
    assert fold_count(labels(2, 2, 2), 5) == 2
    assert fold_count(labels(3, 4, 1), 5) == 3
    assert fold_count(labels(20, 20), 5) == 5
    assert fold_count(labels(20, 20), 10) == 10

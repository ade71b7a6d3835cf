from __future__ import annotations

import numpy as np
import pytest

from dfnets.training.selection import Accuracy, better, check_rule, last_record, seed_words


def test_accuracy_always_says_what_it_is() -> None:
    accuracy = Accuracy(np.array([80.0, 82.0]), "validation", "dfnet", "cora", "planetoid", (3, 4))
    assert repr(accuracy) == (
        "81.00 ± 1.41 % (dfnet on cora, preset default, protocol planetoid, rule validation, 2 runs, seeds 3-4)"
    )
    assert (accuracy.mean, accuracy.std) == (81.0, pytest.approx(np.sqrt(2)))
    single = Accuracy(np.array([80.0]), "final", "dfnet", "cora", "planetoid", (7,))
    assert (
        repr(single) == "80.00 ± 0.00 % (dfnet on cora, preset default, protocol planetoid, rule final, 1 run, seed 7)"
    )


def test_seeds_that_do_not_follow_one_another_are_listed() -> None:
    assert seed_words((1, 5)) == "seeds 1, 5"


def test_of_equal_accuracies_the_lower_loss_wins_and_then_the_first() -> None:
    accuracies, losses = np.array([80.0, 80.0, 81.0, np.nan]), np.array([0.5, 0.6, 0.9, np.nan])
    now = better("accuracy", accuracies, losses, np.full(4, 80.0), np.full(4, 0.6))
    assert now.tolist() == [True, False, True, False]


def test_a_model_may_be_judged_by_its_loss_alone() -> None:
    accuracies, losses = np.array([80.0, 70.0, 81.0, np.nan]), np.array([0.6, 0.5, 0.9, np.nan])
    now = better("loss", accuracies, losses, np.full(4, 80.0), np.full(4, 0.6))
    assert now.tolist() == [False, True, False, False]


def test_by_both_an_epoch_must_equal_both_records() -> None:
    accuracies, losses = np.array([80.0, 81.0, 79.0, np.nan]), np.array([0.6, 0.9, 0.5, np.nan])
    now = better("both", accuracies, losses, np.full(4, 80.0), np.full(4, 0.6))
    assert now.tolist() == [True, False, False, False]


def test_the_last_record_is_that_of_a_loop() -> None:
    rng = np.random.default_rng(0)
    epochs = np.arange(2, 62, 2)
    accuracy, loss = rng.integers(60, 90, (30, 3)).astype(float), rng.random((30, 3))
    accuracy[20:, 1] = loss[20:, 1] = np.nan
    for r in range(3):
        highest, lowest, last = -np.inf, np.inf, 0
        for epoch, one, other in zip(epochs, accuracy[:, r], loss[:, r], strict=True):
            if one >= highest or other <= lowest:
                last = epoch
            highest, lowest = np.fmax(highest, one), np.fmin(lowest, other)
        assert last_record(epochs, accuracy, loss)[r] == last
    assert last_record(epochs, np.full((30, 1), np.nan), np.full((30, 1), np.nan)).tolist() == [0]


def test_unknown_rule_lists_the_choices() -> None:
    with pytest.raises(ValueError, match="rule='best' is not one of 'final', 'validation', 'oracle'"):
        check_rule("best")

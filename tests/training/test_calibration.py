"""Temperatures and calibration errors, against scikit-learn and against probabilities that are right by making."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import log_loss

from dfnets.training.calibration import (
    CONFIDENCE,
    TEMPERATURES,
    calibrated_across,
    calibration_error,
    expected_accuracy,
    matching_temperature,
    penalised,
    tempered,
    tempered_losses,
)


@pytest.fixture
def drawn() -> tuple[np.ndarray, np.ndarray]:
    """(2000, 3) probabilities, and classes drawn from them."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 2000)
    return p, np.array([rng.choice(3, p=row) for row in p])


def test_losses_are_those_of_scikit_learn(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    p, labels = drawn
    losses = tempered_losses(p, labels)
    for t in (0, 12, 24):
        expected = log_loss(labels, tempered(p, TEMPERATURES[t]))
        assert losses[t].mean() == pytest.approx(expected, rel=1e-6)


def test_a_temperature_is_found_again(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    p, labels = drawn
    sharp = tempered(p, 1 / 3)
    found = TEMPERATURES[int(penalised(tempered_losses(sharp, labels)).argmin())]
    assert 2.5 < found < 3.6
    assert calibration_error(sharp, labels) > 0.1
    assert calibration_error(tempered(sharp, found), labels) < 0.04


def test_a_handful_of_right_answers_does_not_make_a_network_sure() -> None:
    p = np.array([[0.6, 0.4]] * 4)
    found = TEMPERATURES[int(penalised(tempered_losses(p, np.zeros(4, dtype=int))).argmin())]
    assert 0.5 < found < 1


def test_tempering_keeps_the_order_and_the_sum() -> None:
    p = np.array([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0]])
    flat = tempered(p, 5.0)
    assert np.allclose(flat.sum(axis=1), 1)
    assert (flat.argmax(axis=1) == p.argmax(axis=1)).all()
    assert np.allclose(tempered(p, 1.0), p)


def test_calibration_error_of_wrong_confidence() -> None:
    p = np.tile([0.9, 0.1], (100, 1))
    labels = np.arange(100) % 2
    assert calibration_error(p, labels) == pytest.approx(0.4)


def test_a_matched_temperature_makes_confidence_the_accuracy(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    p, labels = drawn
    sharp = tempered(p, 1 / 3)
    accuracy = float(np.mean(sharp.argmax(axis=1) == labels))
    found = matching_temperature(sharp, accuracy)
    assert tempered(sharp, found).max(axis=1).mean() == pytest.approx(accuracy, abs=1e-6)
    assert 2.5 < found < 3.6


def test_an_accuracy_out_of_reach_gives_the_nearest_temperature() -> None:
    p = np.array([[0.6, 0.4]])
    assert matching_temperature(p, 0.2) > 20
    assert matching_temperature(p, 1.0) < 0.05


def test_few_nodes_leave_the_confidence_as_it_is_and_many_decide() -> None:
    assert expected_accuracy(0.9, 0.5, 0) == pytest.approx(0.9)
    assert expected_accuracy(0.9, 0.5, CONFIDENCE) == pytest.approx(0.7)
    assert expected_accuracy(0.9, 0.5, 1e9) == pytest.approx(0.5)


def test_groups_are_calibrated_by_the_others(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    p, labels = drawn
    sharp, groups = tempered(p, 1 / 3), np.arange(2000) % 4
    found = calibrated_across(sharp, labels, groups)
    assert calibration_error(found, labels) < 0.05 < calibration_error(sharp, labels)
    # What a group is given does not depend on its own labels.
    other = np.where(groups == 0, (labels + 1) % 3, labels)
    assert np.array_equal(calibrated_across(sharp, other, groups)[groups == 0], found[groups == 0])

"""Accuracies with intervals, against statsmodels' formula written out and against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, precision_score, recall_score

from dfnets.training.assessment import GAIN, OVERLAP, Assessment, wilson


def assessment(shares: tuple[float, ...] | None = None) -> Assessment:
    """Of 60 nodes; the classes have the shares that they have among these, unless others are given."""
    rng = np.random.default_rng(0)
    p, labels = rng.dirichlet([1, 1, 1], 60), rng.integers(0, 3, 60)
    weights = np.bincount(labels) / 60 if shares is None else np.array(shares)
    return Assessment(p, labels, ("a", "b", "c"), weights, 5)


def test_tables_are_those_of_scikit_learn() -> None:
    own = assessment()
    predicted = own.probabilities.argmax(axis=1)
    assert np.array_equal(own.confusion, confusion_matrix(own.labels, predicted))
    assert np.allclose(own.recall, recall_score(own.labels, predicted, average=None))
    assert np.allclose(own.precision, precision_score(own.labels, predicted, average=None))
    assert own.accuracy == pytest.approx(100 * np.mean(predicted == own.labels))


def test_classes_are_weighted_by_shares() -> None:
    own = assessment((0.5, 0.3, 0.2))
    assert own.accuracy == pytest.approx(100 * own.recall @ own.shares)
    even = assessment((0.98, 0.01, 0.01))
    assert even.worth < own.worth
    assert np.ptp(even.interval) > np.ptp(own.interval)


def test_the_interval_knows_that_folds_overlap_and_lack_labels() -> None:
    """60 nodes in the shares of their classes are worth 60 / OVERLAP; the error may fall by (4 / 5)^GAIN."""
    own = assessment()
    assert own.worth == pytest.approx(60 / OVERLAP)
    low, high = wilson(own.accuracy / 100, 60 / OVERLAP)
    assert own.interval == pytest.approx((low, 100 - (100 - high) * 0.8**GAIN))
    assert own.accuracy / 100 < own.expected < own.interval[1] / 100


def test_a_class_that_was_never_held_out_counts_nothing() -> None:
    p = np.eye(3)[[0, 0, 1, 1]]
    own = Assessment(p, np.array([0, 0, 1, 0]), ("a", "b", "c"), np.array([0.4, 0.4, 0.2]), folds=2)
    assert np.isnan(own.recall[2])
    assert own.accuracy == pytest.approx(50 * (2 / 3 + 1))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_wilson_covers_a_binomial_share(share: float) -> None:
    rng = np.random.default_rng(0)
    seen = rng.binomial(40, share, 2000) / 40
    covered = [low <= 100 * share <= high for low, high in (wilson(p, 40) for p in seen)]
    assert 0.85 < np.mean(covered) < 0.95


def test_wilson_by_hand() -> None:
    """z = 1.6449: centre (0.8 + z^2 / 20) / (1 + z^2 / 10), and the half width."""
    low, high = wilson(0.8, 10)
    assert (low, high) == (pytest.approx(54.08, abs=0.01), pytest.approx(93.14, abs=0.01))


def test_it_is_described_by_plain_values() -> None:
    described = assessment().describe()
    assert described["held_out_nodes"] == 60
    assert described["interval"][0] < described["accuracy"] < described["interval"][1]
    assert described["recall"].keys() == {"a", "b", "c"}


def test_the_interval_holds_the_accuracy_however_it_rounds() -> None:
    """All right or all wrong, with shares that add up to one only nearly."""
    rng = np.random.default_rng(1)
    labels = np.arange(24) % 3
    for _ in range(200):
        shares = rng.dirichlet([1, 1, 1])
        for guess, expected in ((labels, 100), ((labels + 1) % 3, 0)):
            own = Assessment(np.eye(3)[guess], labels, ("a", "b", "c"), shares, 5)
            low, high = own.interval
            assert 0 <= low <= own.accuracy <= high <= 100
            assert own.accuracy == pytest.approx(expected)

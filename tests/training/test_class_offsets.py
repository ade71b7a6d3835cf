"""Offsets of classes against a general optimiser, a search over shares, and classes drawn as the predictions say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from dfnets.training import class_offsets as module
from dfnets.training.class_offsets import (
    PENALTY,
    WORTH,
    class_offsets,
    drawn_by_class,
    held_out_offsets,
    offsets_by_labels,
    offsets_by_predictions,
    shifted,
    shifted_across,
)
from dfnets.training.objective import Nodes

CLASSES = 4


def drawn(count: int, bias: np.ndarray, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(count, classes) log p, and labels drawn from softmax(log p + bias)."""
    rng = np.random.default_rng(seed)
    log_p = log_softmax(2 * rng.standard_normal((count, len(bias))), axis=1)
    p = softmax(log_p + bias, axis=1)
    return log_p, (p.cumsum(axis=1) > rng.random((count, 1))).argmax(axis=1)


def evenly(count: int, seed: int, spread: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Log p of nodes of which each class has as many, and their labels: what is seen of a class is Gaussian."""
    labels = np.repeat(np.arange(CLASSES), count // CLASSES)
    return seen(labels, np.full(CLASSES, 1 / CLASSES), seed, spread), labels


def seen(labels: np.ndarray, shares: np.ndarray, seed: int, spread: float = 1.0) -> np.ndarray:
    """The posterior of each node's class under these shares, of a point beside the corner of its class."""
    rng = np.random.default_rng(seed)
    points = np.eye(CLASSES)[labels] + spread * rng.standard_normal((len(labels), CLASSES))
    distances = ((points[:, None] - np.eye(CLASSES)) ** 2).sum(axis=2)
    return log_softmax(-distances / (2 * spread**2) + np.log(shares), axis=1)


def test_labels_give_the_optimum_as_far_as_it_is_evident() -> None:
    log_p, labels = drawn(400, np.array([1.0, -0.5, 0.0, -0.5]))

    def loss(b: np.ndarray) -> float:
        return float(-log_softmax(log_p + b, axis=1)[np.arange(400), labels].sum())

    best = minimize(lambda b: loss(b) + PENALTY * b @ b, np.zeros(CLASSES), method="BFGS", tol=1e-9).x
    gained = 2 * (loss(np.zeros(CLASSES)) - loss(best))
    assert gained > 3 * (CLASSES - 1)
    expected = (1 - (CLASSES - 1) / gained) * best
    np.testing.assert_allclose(offsets_by_labels(log_p, labels), expected, atol=1e-4)


def test_labels_as_frequent_as_predicted_shift_little() -> None:
    """Without the factor, the offsets would be those of a sample; with it half of all samples shift nothing."""
    largest = [np.abs(offsets_by_labels(*drawn(100, np.zeros(CLASSES), seed))).max() for seed in range(40)]
    assert np.mean(np.array(largest) == 0) > 0.4
    assert np.median(largest) < 0.05


def test_a_class_without_validation_nodes_keeps_a_finite_offset() -> None:
    log_p, labels = drawn(200, np.array([0.0, 0.0, 0.0, -30.0]))
    assert 3 not in labels
    offsets = offsets_by_labels(log_p, labels)
    assert np.isfinite(offsets).all()
    assert offsets[3] == offsets.min() < -1


def test_predictions_give_the_most_likely_shares() -> None:
    """Of two classes by a search over all shares."""
    rng = np.random.default_rng(1)
    even, other = (log_softmax(rng.normal(m, 1, (300, 1)) * [1.0, -1.0], axis=1) for m in (0.0, 0.7))
    usual, p = softmax(even, axis=1).mean(axis=0), softmax(other, axis=1)
    grid = np.linspace(1e-3, 1 - 1e-3, 20_000)
    shares = np.stack([grid, 1 - grid])
    score = np.log(p @ (shares / usual[:, None])).sum(axis=0) + WORTH * len(p) * usual @ np.log(shares)
    expected = np.log(shares[:, score.argmax()] / usual)
    np.testing.assert_allclose(offsets_by_predictions(even, other), expected, atol=2e-3)


def test_shares_of_other_nodes_are_found_by_what_is_predicted_for_them() -> None:
    shares = np.array([0.7, 0.2, 0.08, 0.02])
    log_p, labels = evenly(4000, 0, 0.5)
    others = np.random.default_rng(1).choice(CLASSES, 3000, p=shares)
    rows = seen(others, np.full(CLASSES, 1 / CLASSES), 2, 0.5)
    offsets = offsets_by_predictions(log_p, rows)
    # A class's share among the seen, a quarter, counts for a tenth of the others.
    drawn = np.bincount(others) / len(others)
    expected = np.log((drawn + WORTH / CLASSES) / (1 + WORTH) * CLASSES)
    np.testing.assert_allclose(offsets, expected, atol=0.35)
    before, after = (np.mean((rows + b).argmax(axis=1) == others) for b in (0, offsets))
    best = np.mean((rows + np.log(shares)).argmax(axis=1) == others)
    assert after > before + 0.04
    assert after > best - 0.01
    assert drawn_by_class(labels, CLASSES)


def test_without_other_nodes_nothing_is_shifted() -> None:
    log_p, _ = evenly(40, 0)
    np.testing.assert_array_equal(offsets_by_predictions(log_p, log_p[:0]), np.zeros(CLASSES))


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([30, 30, 30, 30], True),
        ([30, 30, 30, 12], True),  # a class that has no more nodes
        ([30, 30, 12, 12], False),
        ([4, 4, 4, 4], False),  # too few to tell
        ([120, 0, 0, 0], False),
        ([26, 31, 29, 34], False),
    ],
)
def test_equal_numbers_tell_that_nodes_were_drawn_class_by_class(counts: list[int], expected: bool) -> None:
    assert drawn_by_class(np.repeat(np.arange(CLASSES), counts), CLASSES) is expected


def test_one_class_alone_was_not_drawn_by_class() -> None:
    assert not drawn_by_class(np.zeros(30, dtype=np.int64), 1)


def case(seed: int, *, by_class: bool) -> tuple[np.ndarray, np.ndarray, Nodes]:
    """Log p of 1000 nodes of very unlike classes, predicted as if these were alike, and a split of them."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(CLASSES, 1000, p=[0.6, 0.2, 0.15, 0.05])
    log_p = seen(labels, np.full(CLASSES, 1 / CLASSES), seed + 100, 0.7)
    some = [np.flatnonzero(labels == c)[:15] for c in range(CLASSES)]
    validation = np.sort(np.concatenate(some)) if by_class else np.arange(200)
    rest = np.setdiff1d(np.arange(1000), validation)
    return log_p, labels, Nodes(rest[:20], validation, rest[20:])


@pytest.mark.parametrize("by_class", [True, False])
def test_offsets_make_predictions_better_whatever_validation_nodes_are(by_class: bool) -> None:
    log_p, labels, nodes = case(0, by_class=by_class)
    offsets = class_offsets(torch.tensor(log_p)[:, None], labels, [nodes])[0]
    before, after = (np.mean((log_p + b)[nodes.test].argmax(axis=1) == labels[nodes.test]) for b in (0, offsets))
    assert after > before + 0.03
    assert offsets[0] == offsets.max()


@pytest.mark.parametrize("by_class", [True, False])
def test_labels_of_test_nodes_are_not_looked_at(by_class: bool) -> None:
    log_p, labels, nodes = case(1, by_class=by_class)
    logits = torch.tensor(log_p)[:, None]
    expected = class_offsets(logits, labels, [nodes])
    labels[nodes.test] = -1
    np.testing.assert_array_equal(class_offsets(logits, labels, [nodes]), expected)


def test_each_replica_is_shifted_by_its_own_nodes() -> None:
    cases = [case(seed, by_class=by_class) for seed, by_class in ((2, True), (3, False))]
    labels = cases[0][1]
    own = [cases[0][2], Nodes(np.arange(10), np.arange(10, 300), np.arange(300, 1000))]
    logits = torch.tensor(np.stack([one[0] for one in cases], axis=1))
    both = class_offsets(logits, labels, own)
    for r in range(2):
        np.testing.assert_array_equal(class_offsets(logits[:, r : r + 1], labels, own[r : r + 1])[0], both[r])


def test_predictions_that_are_mostly_wrong_shift_nothing() -> None:
    log_p, labels, nodes = case(4, by_class=True)
    noise = np.random.default_rng(5).permutation(log_p)
    np.testing.assert_array_equal(class_offsets(torch.tensor(noise)[:, None], labels, [nodes]), 0)


def test_of_very_many_nodes_some_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    log_p, labels, nodes = case(6, by_class=False)
    whole = class_offsets(torch.tensor(log_p)[:, None], labels, [nodes])
    monkeypatch.setattr(module, "MOST_NODES", 100)
    some = class_offsets(torch.tensor(log_p)[:, None], labels, [nodes])
    assert not np.array_equal(some, whole)
    np.testing.assert_allclose(some, whole, atol=0.8)


def test_a_class_that_was_never_held_out_is_not_shifted() -> None:
    log_p, labels, nodes = case(0, by_class=False)
    p = softmax(log_p, axis=1)
    held = nodes.validation[labels[nodes.validation] != 2]
    offsets = held_out_offsets(p[held], labels[held], p[nodes.test])
    assert offsets[2] == 0
    assert np.abs(offsets[[0, 1, 3]]).min() > 0
    # The others are shifted as if there were no such class.
    rows = log_softmax(log_p[:, [0, 1, 3]], axis=1)
    expected = offsets_by_labels(rows[held], np.searchsorted([0, 1, 3], labels[held]))
    np.testing.assert_allclose(offsets[[0, 1, 3]], expected, atol=1e-12)


@pytest.mark.parametrize("by_class", [True, False])
def test_each_group_is_shifted_by_what_the_others_call_for(by_class: bool) -> None:
    log_p, labels, nodes = case(1, by_class=by_class)
    p, held = softmax(log_p, axis=1), nodes.validation
    groups = np.arange(len(held)) % 3
    result = shifted_across(p[held], labels[held], groups, p[nodes.test])
    for group in range(3):
        rest, own = held[groups != group], held[groups == group]
        offsets = held_out_offsets(p[rest], labels[rest], p[nodes.test])
        np.testing.assert_allclose(result[groups == group], softmax(log_p[own] + offsets, axis=1), atol=1e-12)
    changed = labels[held].copy()
    changed[groups == 0] = 3
    # What its own labels are is nothing to a group.
    again = shifted_across(p[held], changed, groups, p[nodes.test])
    np.testing.assert_array_equal(again[groups == 0], result[groups == 0])


@pytest.mark.parametrize(("per_class", "share"), [(5, 0.0), (10, 0.5), (15, 1.0), (40, 1.0)])
def test_a_handful_of_nodes_per_class_shifts_little(per_class: int, share: float) -> None:
    """Their mean probabilities are not the usual shares, so what differs from them says little."""
    labels = np.repeat(np.arange(CLASSES), per_class)
    log_p = seen(labels, np.full(CLASSES, 1 / CLASSES), 3, 0.3)
    others = seen(np.random.default_rng(4).choice(CLASSES, 500, p=[0.7, 0.1, 0.1, 0.1]), np.full(4, 0.25), 5, 0.3)
    found = held_out_offsets(softmax(log_p, axis=1), labels, softmax(others, axis=1))
    np.testing.assert_allclose(found, share * offsets_by_predictions(log_p, others), atol=1e-9)


def test_shifted_probabilities_are_those_of_shifted_logarithms() -> None:
    log_p = log_softmax(np.random.default_rng(0).standard_normal((5, 7, CLASSES)), axis=-1)
    offsets = np.array([900.0, 899.0, 0.0, -900.0])
    np.testing.assert_allclose(shifted(np.exp(log_p), offsets), softmax(log_p + offsets, axis=-1), atol=1e-12)

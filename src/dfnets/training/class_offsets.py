"""What is added to the logarithm of each class's probability, so that classes are as frequent as where they are used.

Predictions lean towards the shares that classes have among the labelled nodes. Where the same number of nodes of each
class was labelled, most other nodes are of the large classes, and a rare class is predicted too often.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp, softmax
from torch import Tensor

from dfnets.training.calibration import TINY
from dfnets.training.objective import Nodes

# Validation nodes were drawn class by class where that share of the classes has as many of them as the largest has,
# and so many at least: of nodes drawn at random no two classes of several have the same number.
EQUAL_SHARE, LEAST_PER_CLASS = 0.75, 5
# More nodes than that say nothing new about the shares of a few classes.
MOST_NODES = 2000
# What the shares of the validation nodes count for against those of the other nodes, as a part of these.
WORTH = 0.1
# How much better than guessing the predictions are, from 0 to 1, where the shares of what they predict begin to tell
# anything, and where they tell all.
LEAST_SKILL, FULL_SKILL = 0.3, 0.6
# With so many of them per class, what they say of the usual shares counts in full; with the fewest that are looked at,
# it is chance.
FULL_PER_CLASS = 15
# The penalty on squared offsets that are fitted to validation nodes, in nodes: it keeps them finite.
PENALTY = 1.0
# Steps at most, and the change of a share or an offset at which they end.
STEPS, ENOUGH = 100, 1e-5


def class_offsets(log_p: Tensor, labels: np.ndarray, nodes: Sequence[Nodes]) -> np.ndarray:
    """(R, classes) offsets of the logarithms of each replica's probabilities.

    Validation nodes that were drawn at random show by their labels which classes are predicted too often
    (:func:`offsets_by_labels`). Where they were drawn class by class, their labels say nothing of that, and what is
    predicted for the nodes without label does (:func:`offsets_by_predictions`).

    Args:
        log_p: (n, R, classes) logarithms of probabilities.
        labels: (n,) classes; only those of validation nodes are looked at.
        nodes: of each replica.
    """
    rows = []
    for r, own in enumerate(nodes):
        validation = own.validation[_evenly(len(own.validation))]
        others = _others(len(labels), own)
        others = others[_evenly(len(others))]
        rows.append(found_offsets(_rows(log_p, validation, r), labels[validation], _rows(log_p, others, r)))
    return np.stack(rows)


def found_offsets(seen: np.ndarray, labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(classes,) offsets by the labels of nodes that were drawn at random, or by predictions for others.

    Args:
        seen: (m, classes) logarithms of probabilities of nodes that were not trained on.
        labels: (m,) their classes.
        others: (k, classes) logarithms of probabilities of nodes without a label.
    """
    if drawn_by_class(labels, seen.shape[1]):
        return _trust(seen, labels) * offsets_by_predictions(seen, others)
    return offsets_by_labels(seen, labels)


def held_out_offsets(held: np.ndarray, labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(classes,) offsets by predictions for labelled nodes that were held out, and for nodes without a label.

    A class that was never held out is left as it is: nothing is known of how it is predicted.

    Args:
        held: (H, classes) probabilities.
        labels: (H,) the true classes.
        others: (k, classes) probabilities.
    """
    told = np.flatnonzero(np.bincount(labels, minlength=held.shape[1]))
    some, rest = _evenly(len(held)), _evenly(len(others))
    rows = [_normalised(np.log(np.maximum(p[:, told], TINY))) for p in (held[some], others[rest])]
    offsets = np.zeros(held.shape[1])
    offsets[told] = found_offsets(rows[0], np.searchsorted(told, labels[some]), rows[1])
    return offsets


def shifted_across(held: np.ndarray, labels: np.ndarray, groups: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(H, classes) held-out predictions, each group shifted by what the other groups call for.

    Args:
        groups: (H,) the number of each node's group.
    """
    result = held.copy()
    for group in np.unique(groups):
        rest = groups != group
        if rest.any():
            result[~rest] = shifted(held[~rest], held_out_offsets(held[rest], labels[rest], others))
    return result


def shifted(probabilities: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """p exp(b), scaled to sum to 1 over the last axis.

    >>> shifted(np.array([0.5, 0.5]), np.log([3.0, 1.0]))
    array([0.75, 0.25])
    """
    moved = probabilities * np.exp(offsets - offsets.max())
    return moved / moved.sum(axis=-1, keepdims=True)


def drawn_by_class(labels: np.ndarray, classes: int) -> bool:
    """Whether nodes with these labels look as if a number of each class had been asked for.

    >>> drawn_by_class(np.repeat([0, 1, 2], 30), 3), drawn_by_class(np.repeat([0, 1, 2], [31, 40, 19]), 3)
    (True, False)
    """
    counts = np.bincount(labels, minlength=classes)
    equal = np.count_nonzero(counts == counts.max())
    return bool(classes > 1 and counts.max() >= LEAST_PER_CLASS and equal >= max(2, EQUAL_SHARE * classes))


def offsets_by_labels(log_p: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(classes,) offsets b that minimise the cross-entropy of softmax(log p + b), as far as there is evidence for them.

    With the temperatures of the members this is temperature scaling with corrected bias (Alexandari et al., 2020). The
    minimum, with ``PENALTY`` times the squares, is multiplied by max(0, 1 - d / s), the factor of James and Stein
    (1961): s is twice what the log-likelihood gains, and about d = classes - 1 where the predicted shares were right
    and b follows the noise only. Each step is half of Newton's for every offset by itself: the curvature of the loss is
    at most twice its diagonal.

    Args:
        log_p: (m, classes) logarithms of probabilities.
        labels: (m,).

    >>> evenly = np.log(np.full((90, 3), 1 / 3))
    >>> offsets_by_labels(evenly, np.repeat([0, 1, 2], [31, 30, 29])).round(2) + 0
    array([0., 0., 0.])
    >>> offsets_by_labels(evenly, np.repeat([0, 1, 2], [60, 20, 10])).round(2)
    array([ 0.85, -0.15, -0.7 ])
    """
    counts = np.bincount(labels, minlength=log_p.shape[1])
    offsets = np.zeros(log_p.shape[1])
    for _ in range(STEPS):
        p = softmax(log_p + offsets, axis=1)
        slope = p.sum(axis=0) - counts + 2 * PENALTY * offsets
        change = slope / (2 * ((p * (1 - p)).sum(axis=0) + 2 * PENALTY))
        # The loss does not depend on their mean, and the penalty is least where that is 0.
        change = change - change.mean()
        offsets = offsets - change
        if np.abs(change).max() < ENOUGH:
            break
    gained = 2 * float((offsets * counts).sum() - logsumexp(log_p + offsets, axis=1).sum())
    return max(0.0, 1 - (len(offsets) - 1) / gained) * offsets if gained > 0 else 0 * offsets


def offsets_by_predictions(seen: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(classes,) log(share among the others / share among the seen), by expectation maximisation.

    The shares under which what is predicted for the other nodes is most likely, if a node of a class looks the same in
    both sets (Saerens et al., 2002). A class's share among the seen is its mean probability there, and counts for
    ``WORTH`` of the others beforehand.

    Args:
        seen: (m, classes) logarithms of probabilities.
        others: (k, classes).

    >>> evenly, mostly_the_first = np.log([[0.9, 0.1], [0.1, 0.9]]), np.log([[0.9, 0.1]] * 9 + [[0.1, 0.9]])
    >>> offsets_by_predictions(evenly, mostly_the_first).round(2)
    array([ 0.59, -1.6 ])
    """
    if not len(others):
        return np.zeros(seen.shape[1])
    usual = softmax(seen, axis=1).mean(axis=0)
    p = softmax(others, axis=1)
    shares = usual
    for _ in range(STEPS):
        likely = p * (shares / usual)
        found = (likely / likely.sum(axis=1, keepdims=True)).sum(axis=0)
        before, shares = shares, (found + WORTH * len(others) * usual) / ((1 + WORTH) * len(others))
        if np.abs(shares - before).max() < ENOUGH:
            break
    return np.log(shares / usual)


def _trust(log_p: np.ndarray, labels: np.ndarray) -> float:
    """From 0 to 1: where most predictions are wrong, the most frequent errors would be taken for a frequent class.

    And with a handful of nodes per class their mean probabilities are not the usual shares.
    """
    guess = 1 / log_p.shape[1]
    skill = (np.mean(log_p.argmax(axis=1) == labels) - guess) / (1 - guess)
    told = (np.bincount(labels).max() - LEAST_PER_CLASS) / (FULL_PER_CLASS - LEAST_PER_CLASS)
    return float(np.clip((skill - LEAST_SKILL) / (FULL_SKILL - LEAST_SKILL), 0, 1) * np.clip(told, 0, 1))


def _others(count: int, own: Nodes) -> np.ndarray:
    rest = np.ones(count, dtype=bool)
    rest[own.train] = rest[own.validation] = False
    return np.flatnonzero(rest)


def _evenly(count: int) -> np.ndarray:
    return np.linspace(0, count - 1, min(count, MOST_NODES)).astype(np.int64)


def _rows(log_p: Tensor, nodes: np.ndarray, r: int) -> np.ndarray:
    return _normalised(log_p[nodes, r].double().cpu().numpy())


def _normalised(log_p: np.ndarray) -> np.ndarray:
    return log_p - logsumexp(log_p, axis=1, keepdims=True)

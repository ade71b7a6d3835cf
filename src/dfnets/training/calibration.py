"""Probabilities that mean what they say: temperatures by held-out nodes, and how far off they are."""

from __future__ import annotations

import numpy as np

# What is tried: from twice as sharp to ten times as flat.
TEMPERATURES = np.geomspace(0.4, 10.0, 25)
TINY = 1e-12
# A temperature that is matched to an accuracy is between 1 / RANGE and RANGE, found by that many halvings.
RANGE, HALVINGS = 50.0, 40
# What the probabilities count for against held-out nodes where the expected accuracy is asked for, in nodes.
CONFIDENCE = 2.0


def tempered(probabilities: np.ndarray, temperature: float) -> np.ndarray:
    """p^(1 / temperature), scaled to sum to 1 over the last axis.

    >>> tempered(np.array([0.8, 0.2]), 2.0).round(3)
    array([0.667, 0.333])
    """
    powers = (np.maximum(probabilities, TINY) / probabilities.max(axis=-1, keepdims=True)) ** (1 / temperature)
    return powers / powers.sum(axis=-1, keepdims=True)


def tempered_losses(
    probabilities: np.ndarray, labels: np.ndarray, temperatures: np.ndarray = TEMPERATURES
) -> np.ndarray:
    """(temperatures, H) the cross-entropy of each node's true class at each of the temperatures.

    Args:
        probabilities: (H, classes).
        labels: (H,) the true classes.
    """
    log_p = np.log(np.maximum(probabilities, TINY))
    rows = np.arange(len(labels))
    result = np.empty((len(temperatures), len(labels)))
    for t, temperature in enumerate(temperatures):
        scaled = log_p / temperature
        top = scaled.max(axis=1)
        result[t] = np.log(np.exp(scaled - top[:, None]).sum(axis=1)) + top - scaled[rows, labels]
    return result


def penalised(losses: np.ndarray, temperatures: np.ndarray = TEMPERATURES) -> np.ndarray:
    """(..., temperatures) mean losses of (..., temperatures, H), with a little against leaving temperature 1.

    (log T)^2 / H is worth one node: of a handful of nodes that all are right, the sharpest temperature would be best.
    """
    return losses.mean(axis=-1) + np.log(temperatures) ** 2 / losses.shape[-1]


def matching_temperature(probabilities: np.ndarray, accuracy: float) -> float:
    """The temperature at which the mean top probability is the accuracy that is to be expected.

    The mean falls as the temperature rises, so the interval of temperatures is halved until it is found; an accuracy
    that no temperature reaches, below that of a guess, gives the nearest.

    Args:
        probabilities: (n, classes).
        accuracy: between 0 and 1.

    >>> round(matching_temperature(np.array([[0.8, 0.2]]), 2 / 3), 2)
    2.0
    """
    low, high = np.log(1 / RANGE), np.log(RANGE)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if tempered(probabilities, float(np.exp(middle))).max(axis=1).mean() > accuracy:
            low = middle
        else:
            high = middle
    return float(np.exp((low + high) / 2))


def expected_accuracy(confidence: float, accuracy: float, worth: float) -> float:
    """What held-out nodes say of the accuracy, and the probabilities themselves for as much as ``CONFIDENCE`` nodes.

    A handful of held-out nodes is right or wrong by luck; probabilities have been seen on every node.

    Args:
        confidence: the mean top probability.
        accuracy: on held-out nodes.
        worth: how many nodes drawn at random would say as much as these.
    """
    return (worth * accuracy + CONFIDENCE * confidence) / (worth + CONFIDENCE)


def calibrated_across(probabilities: np.ndarray, labels: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """(H, classes) held-out predictions, each group at the temperature that the other groups call for.

    Args:
        groups: (H,) the number of each node's group, two of them at least.
    """
    result = probabilities.copy()
    for group in np.unique(groups):
        other = groups != group
        if other.any():
            seen = probabilities[other]
            accuracy = expected_accuracy(
                seen.max(axis=1).mean(), np.mean(seen.argmax(axis=1) == labels[other]), other.sum()
            )
            result[~other] = tempered(probabilities[~other], matching_temperature(seen, accuracy))
    return result


def calibration_error(probabilities: np.ndarray, labels: np.ndarray, bins: int = 10) -> float:
    """The expected calibration error: mean |accuracy - confidence| over bins of equal count, each by its share.

    Args:
        probabilities: (H, classes).
        labels: (H,) the true classes.

    >>> calibration_error(np.array([[0.75, 0.25]] * 4), np.array([0, 0, 0, 1]))
    0.0
    """
    confidence = probabilities.max(axis=1)
    correct = probabilities.argmax(axis=1) == labels
    order = np.argsort(confidence, kind="stable")
    parts = np.array_split(order, min(bins, max(1, len(order) // 10)))
    gaps = [len(part) * abs(correct[part].mean() - confidence[part].mean()) for part in parts if len(part)]
    return float(sum(gaps) / len(order))

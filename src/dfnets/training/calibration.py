"""Probabilities that mean what they say: a temperature fitted on held-out nodes, and how far off they are."""

from __future__ import annotations

import numpy as np

# What is tried: from twice as sharp to ten times as flat.
TEMPERATURES = np.geomspace(0.4, 10.0, 25)
TINY = 1e-12


def tempered(probabilities: np.ndarray, temperature: float) -> np.ndarray:
    """p^(1 / temperature), scaled to sum to 1 over the last axis.

    >>> tempered(np.array([0.8, 0.2]), 2.0).round(3)
    array([0.667, 0.333])
    """
    powers = (np.maximum(probabilities, TINY) / probabilities.max(axis=-1, keepdims=True)) ** (1 / temperature)
    return powers / powers.sum(axis=-1, keepdims=True)


def tempered_losses(probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(temperatures, H) the cross-entropy of each node's true class at each of ``TEMPERATURES``.

    Args:
        probabilities: (H, classes).
        labels: (H,) the true classes.
    """
    log_p = np.log(np.maximum(probabilities, TINY))
    rows = np.arange(len(labels))
    result = np.empty((len(TEMPERATURES), len(labels)))
    for t, temperature in enumerate(TEMPERATURES):
        scaled = log_p / temperature
        top = scaled.max(axis=1)
        result[t] = np.log(np.exp(scaled - top[:, None]).sum(axis=1)) + top - scaled[rows, labels]
    return result


def penalised(losses: np.ndarray) -> np.ndarray:
    """(..., temperatures) mean losses of (..., temperatures, H), with a little against leaving temperature 1.

    (log T)^2 / H is worth one node: of a handful of nodes that all are right, the sharpest temperature would be best.
    """
    return losses.mean(axis=-1) + np.log(TEMPERATURES) ** 2 / losses.shape[-1]


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

"""How good a predictor is, from nodes that neither trained nor chose it: accuracy with its interval, class by class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import norm

from dfnets.training.calibration import calibration_error

LEVEL = 0.9


@dataclass(frozen=True)
class Assessment:
    """Held-out predictions, and what follows from them.

    Attributes:
        probabilities: (H, classes) of each held-out node, by networks that did not train on it, at the epoch, by the
            model and with the temperature that other nodes chose.
        labels: (H,) their true classes.
        classes: names of the classes.
        shares: (classes,) the share that each class is taken to have among the nodes to be predicted.
        per_class: whether the labels look drawn class by class, so that ``shares`` come from predictions.
        folds: k, how many there were; networks that predicted a held-out node had 1 - 1 / k of the labels.
    """

    probabilities: np.ndarray
    labels: np.ndarray
    classes: tuple[str, ...]
    shares: np.ndarray
    per_class: bool
    folds: int

    @cached_property
    def confusion(self) -> np.ndarray:
        """(classes, classes) counts: true class by predicted class."""
        table = np.zeros((len(self.classes),) * 2, dtype=np.int64)
        np.add.at(table, (self.labels, self.probabilities.argmax(axis=1)), 1)
        return table

    @property
    def recall(self) -> np.ndarray:
        """(classes,) the share of a class that is found; NaN for a class that was never held out."""
        return _ratio(np.diag(self.confusion), self.confusion.sum(axis=1))

    @property
    def precision(self) -> np.ndarray:
        """(classes,) the share of the predictions of a class that is right; NaN where there are none."""
        return _ratio(np.diag(self.confusion), self.confusion.sum(axis=0))

    @cached_property
    def _weights(self) -> np.ndarray:
        """(classes,) what the recall of each class counts; classes that were never held out count nothing."""
        counts = self.confusion.sum(axis=1)
        weights = np.where(counts > 0, self.shares if self.per_class else counts, 0.0)
        if not weights.sum():
            weights = counts.astype(np.float64)
        return weights / weights.sum()

    @property
    def accuracy(self) -> float:
        """In percent: the recall of each class, weighted by its share."""
        return float(100 * (self._weights @ np.nan_to_num(self.recall)))

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of the accuracy in percent, at 90 %.

        Labels drawn class by class are worth as many nodes as 1 / sum_c share_c^2 / count_c, those drawn at random as
        many as there are. Held-out predictions of overlapping folds vary together, which a count of nodes does not
        know: with k folds the variance is (2 k - 1) / (k - 1) times as large (Nadeau and Bengio, 2003), so the nodes
        are worth that much less.
        """
        counts = np.maximum(self.confusion.sum(axis=1), 1)
        overlap = (2 * self.folds - 1) / (self.folds - 1)
        worth = float(1 / (self._weights**2 / counts).sum()) / overlap
        return wilson(self.accuracy / 100, worth)

    @property
    def calibration_error(self) -> float:
        return calibration_error(self.probabilities, self.labels)

    def describe(self) -> dict[str, Any]:
        """Everything above, as plain values."""
        low, high = self.interval
        return {
            "accuracy": self.accuracy,
            "interval": [low, high],
            "level": LEVEL,
            "held_out_nodes": len(self.labels),
            "calibration_error": self.calibration_error,
            "labels_drawn_per_class": self.per_class,
            "class_shares": dict(zip(self.classes, self.shares.tolist(), strict=True)),
            "precision": _named(self.classes, self.precision),
            "recall": _named(self.classes, self.recall),
            "confusion": self.confusion.tolist(),
        }


def wilson(share: float, count: float) -> tuple[float, float]:
    """Wilson's score interval in percent, for a share seen in so many nodes.

    >>> wilson(0.5, 10)
    (26.927..., 73.072...)
    """
    z = float(norm.ppf((1 + LEVEL) / 2))
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z * np.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2) / (1 + z**2 / count)
    return 100 * max(0.0, float(middle - half)), 100 * min(1.0, float(middle + half))


def drawn_per_class(labels: np.ndarray) -> bool:
    """Whether at least half of the classes have the same, largest number of labels: a draw at random hardly does that.

    >>> drawn_per_class(np.array([0, 0, 1, 1, 2])), drawn_per_class(np.array([0, 0, 0, 1, 2]))
    (True, False)
    """
    counts = np.bincount(labels[labels >= 0])
    counts = counts[counts > 0]
    return len(counts) > 1 and bool(2 * (counts == counts.max()).sum() >= len(counts))


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)


def _named(names: tuple[str, ...], values: np.ndarray) -> dict[str, float | None]:
    return {name: None if np.isnan(value) else float(value) for name, value in zip(names, values, strict=True)}

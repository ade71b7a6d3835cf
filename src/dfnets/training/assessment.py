"""How good a predictor is, from nodes that neither trained nor chose it: accuracy with its interval, class by class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import norm

from dfnets.training.calibration import calibration_error

LEVEL = 0.9
# Held-out predictions of folds that share training nodes vary together: their variance, against independent nodes.
OVERLAP = 1.4
# The error falls with the number of labels to the power of at most that; half of it is what is expected.
GAIN = 0.8


@dataclass(frozen=True)
class Assessment:
    """Held-out predictions, and what follows from them.

    Attributes:
        probabilities: (H, classes) of each held-out node, by networks that did not train on it, by the models, at the
            epoch and with the temperature that other nodes chose.
        labels: (H,) their true classes.
        classes: names of the classes.
        shares: (classes,) the share that each class is taken to have among the nodes to be predicted.
        folds: k, how many there were; networks that predicted a held-out node had 1 - 1 / k of the labels.
    """

    probabilities: np.ndarray
    labels: np.ndarray
    classes: tuple[str, ...]
    shares: np.ndarray
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
        weights = np.where(counts > 0, self.shares, 0.0)
        if not weights.sum():
            weights = counts.astype(np.float64)
        return weights / weights.sum()

    @property
    def accuracy(self) -> float:
        """In percent: the recall of each class, weighted by its share."""
        return min(100.0, float(100 * (self._weights @ np.nan_to_num(self.recall))))

    @cached_property
    def worth(self) -> float:
        """How many nodes drawn at random would say as much: 1 / sum_c share_c^2 / count_c, less for the overlap."""
        counts = np.maximum(self.confusion.sum(axis=1), 1)
        return float(1 / (self._weights**2 / counts).sum()) / OVERLAP

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Of the accuracy of the predictor on all labels, in percent, at 90 %.

        Wilson's interval for as many nodes as the held-out ones are worth says where the accuracy of networks on
        1 - 1 / k of the labels lies. The predictor has all of them: the lower end is as if these gained nothing, the
        upper one as if the error fell with the number of labels to the power ``GAIN``.
        """
        low, high = wilson(self.accuracy / 100, self.worth)
        return low, 100 - (100 - high) * (1 - 1 / self.folds) ** GAIN

    @property
    def expected(self) -> float:
        """The accuracy to be expected of the predictor on all labels, between 0 and 1."""
        return 1 - (1 - self.accuracy / 100) * (1 - 1 / self.folds) ** (GAIN / 2)

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
    # It holds the share itself, also where rounding would leave it just outside, as at 1.
    return 100 * max(0.0, min(share, float(middle - half))), 100 * min(1.0, max(share, float(middle + half)))


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)


def _named(names: tuple[str, ...], values: np.ndarray) -> dict[str, float | None]:
    return {name: None if np.isnan(value) else float(value) for name, value in zip(names, values, strict=True)}

"""The loss of each replica on its own training nodes, and the scores of its predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from scipy.special import logsumexp
from torch import Tensor
from torch.nn import functional

Weighting = Literal["balanced", "shifted"] | None


@dataclass(frozen=True)
class Nodes:
    """Which nodes one replica trains on, and which choose and test it; validation and test may be empty."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


class Objective:
    """factor * mean over the training nodes of weight(class) * cross-entropy, for every replica.

    Args:
        labels: (n,) classes.
        nodes: R sets of training nodes; each replica may have its own.
        classes: how many there are.
        factor: of the whole.
        weighting: see :class:`dfnets.models.Config`.
    """

    def __init__(
        self,
        labels: np.ndarray,
        nodes: Sequence[np.ndarray],
        classes: int,
        *,
        factor: float = 1.0,
        weighting: Weighting = None,
        device: torch.device | str = "cpu",
    ) -> None:
        count = len(nodes)
        self.sizes = [len(part) for part in nodes]
        # Logits are (n, R, classes): entry (i, r) is row i R + r once the first two dimensions are one.
        rows = np.concatenate([part * count + r for r, part in enumerate(nodes)])
        self.rows = torch.as_tensor(rows, device=device)
        self.targets = torch.as_tensor(np.concatenate([labels[part] for part in nodes]), device=device)
        weights = [class_weights(labels[part], classes, len(labels), weighting)[labels[part]] for part in nodes]
        self.weights = torch.as_tensor(factor * np.concatenate(weights), device=device, dtype=torch.float32)

    def __call__(self, logits: Tensor) -> Tensor:
        """(R,) losses of (n, R, classes) logits."""
        picked = logits.flatten(0, 1)[self.rows]
        entropy = functional.cross_entropy(picked, self.targets, reduction="none") * self.weights
        # A loop, because a replica's sum must not depend on the others.
        return torch.stack([part.mean() for part in entropy.split(self.sizes)])


def class_weights(labels: np.ndarray, classes: int, num_nodes: int, weighting: Weighting) -> np.ndarray:
    """(classes,) weights for training nodes of these classes; a class without nodes has weight 0.

    >>> class_weights(np.array([0, 0, 1]), 2, 10, "balanced")
    array([0.75, 1.5 ])
    >>> class_weights(np.repeat(np.arange(7), 20), 7, 2708, "shifted").round(2)  # Cora
    array([ 0.13, 16.92, 16.92, 16.92, 16.92, 16.92, 16.92])
    """
    if weighting is None:
        return np.ones(classes)
    counts = np.bincount(labels, minlength=classes).astype(np.float64)
    total = float(len(labels))
    if weighting == "shifted":
        # The authors number the classes from 1 and let 0 stand for "unlabelled", but look weights up from 0.
        counts = np.concatenate([[num_nodes - total], counts])
        total = float(num_nodes)
    weights = np.divide(total, len(counts) * counts, out=np.zeros_like(counts), where=counts > 0)
    return weights[:classes]


@dataclass(frozen=True)
class Scores:
    """(R,) accuracies in percent, and the mean cross-entropy on validation nodes; NaN where there are no nodes."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    validation_loss: np.ndarray


@torch.no_grad()
def scores(logits: Tensor, labels: np.ndarray, nodes: Sequence[Nodes]) -> Scores:
    """How good (n, R, classes) logits are, for (n,) labels."""
    right = (logits.argmax(dim=-1).cpu().numpy() == labels[:, None]).T
    columns = {
        part: [_percent(row[getattr(own, part)]) for row, own in zip(right, nodes, strict=True)]
        for part in ("train", "validation", "test")
    }
    # Only the rows that are asked for leave the device: NELL's logits are hundreds of megabytes.
    picked = [logits[torch.tensor(own.validation, device=logits.device), r] for r, own in enumerate(nodes)]
    losses = [_entropy(part.cpu().numpy(), labels[own.validation]) for part, own in zip(picked, nodes, strict=True)]
    return Scores(**{name: np.array(values) for name, values in columns.items()}, validation_loss=np.array(losses))


def _percent(right: np.ndarray) -> float:
    return 100 * float(right.mean()) if len(right) else np.nan


def _entropy(logits: np.ndarray, labels: np.ndarray) -> float:
    wanted = logits[np.arange(len(labels)), labels]
    return float(np.mean(logsumexp(logits, axis=1) - wanted)) if len(labels) else np.nan

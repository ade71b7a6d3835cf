"""The loss of each replica on its own training nodes, and the scores of its predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from scipy.special import logsumexp
from torch import Tensor
from torch.nn import functional

from dfnets.models.base import ClassWeights
from dfnets.models.label_evidence import are_few


@dataclass(frozen=True)
class Nodes:
    """Which nodes one replica trains on, and which choose and test it; validation and test may be empty."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


class Examples(NamedTuple):
    """The training nodes of one replica: (t,) numbers of the nodes, their classes, and their weights in the loss."""

    nodes: Tensor
    targets: Tensor
    weights: Tensor


class Objective:
    """factor * mean over the training nodes of weight(class) * cross-entropy, for every replica.

    Attributes:
        examples: what each replica learns from, for a model that draws some of it in a step.
        num_nodes: n.

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
        weighting: ClassWeights | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        self.num_nodes = len(labels)
        weights = [class_weights(labels[part], classes, len(labels), weighting)[labels[part]] for part in nodes]
        self.examples = [
            Examples(
                torch.tensor(part, device=device),
                torch.tensor(labels[part], device=device),
                torch.as_tensor(factor * own, device=device, dtype=torch.float32),
            )
            for part, own in zip(nodes, weights, strict=True)
        ]
        self._replica = torch.cat([torch.full_like(own.nodes, r) for r, own in enumerate(self.examples)])
        self._all = Examples(*(torch.cat(parts) for parts in zip(*self.examples, strict=True)))

    def __call__(self, logits: Tensor) -> Tensor:
        """(R,) losses of (n, R, classes) logits."""
        picked = logits[self._all.nodes, self._replica]
        entropy = functional.cross_entropy(picked, self._all.targets, reduction="none") * self._all.weights
        # A loop, because a replica's sum must not depend on the others.
        return torch.stack([part.mean() for part in entropy.split([len(own.nodes) for own in self.examples])])


def class_weights(labels: np.ndarray, classes: int, num_nodes: int, weighting: ClassWeights | None) -> np.ndarray:
    """(classes,) weights for training nodes of these classes; a class without nodes has weight 0.

    >>> class_weights(np.array([0, 0, 1]), 2, 10, "balanced")
    array([0.75, 1.5 ])
    >>> class_weights(np.repeat(np.arange(7), 20), 7, 2708, "shifted").round(2)  # Cora
    array([ 0.13, 16.92, 16.92, 16.92, 16.92, 16.92, 16.92])
    """
    if weighting is None or (weighting == "balanced-if-few" and not are_few(len(labels), classes)):
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

"""Which model, epoch and temperature: chosen on held-out nodes, and scored on nodes that had no part in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import binomtest

from dfnets.training.calibration import TEMPERATURES, penalised, tempered, tempered_losses

# How likely a lead of a simpler model may be by chance, if the two were equally good, for it to be taken.
BY_CHANCE = 0.1


@dataclass(frozen=True)
class Candidate:
    """Held-out predictions of a model in several versions: epochs of one training, or settings.

    Attributes:
        name: of the model.
        versions: what to call each, an epoch or a setting.
        probabilities: (V, H, classes) of each version for each held-out node, by networks that did not train on it.
        labels: (H,) the true classes.
    """

    name: str
    versions: Sequence[object]
    probabilities: np.ndarray
    labels: np.ndarray

    @cached_property
    def losses(self) -> np.ndarray:
        """(V, temperatures, H) cross-entropies."""
        return np.stack([tempered_losses(p, self.labels) for p in self.probabilities])

    @cached_property
    def correct(self) -> np.ndarray:
        """(V, H) whether the most probable class is right."""
        return self.probabilities.argmax(axis=2) == self.labels

    def best(self, nodes: np.ndarray) -> tuple[int, int]:
        """The version and the temperature, by number, with the least cross-entropy on some of the held-out nodes.

        With its temperature fitted, the cross-entropy does not punish a network for being too sure of itself, and
        says more than the accuracy does when there are few nodes.
        """
        means = penalised(self.losses[:, :, nodes])
        version, temperature = np.unravel_index(int(means.argmin()), means.shape)
        return int(version), int(temperature)


@dataclass(frozen=True)
class Choice:
    """A candidate's number, its version's and its temperature's; and why, in words."""

    candidate: int
    version: int
    temperature: int
    why: str


def choose(candidates: Sequence[Candidate], nodes: np.ndarray) -> Choice:
    """The first candidate, unless another is right on these held-out nodes more often, by more than chance.

    Args:
        candidates: the one to prefer first.
        nodes: (m,) places of the held-out nodes that choose.
    """
    best = [candidate.best(nodes) for candidate in candidates]
    correct = [candidate.correct[version][nodes] for candidate, (version, _) in zip(candidates, best, strict=True)]
    chosen, why = 0, f"no simpler model is better by more than chance on {len(nodes)} held-out nodes"
    for other in np.argsort([-row.mean() for row in correct], kind="stable"):
        ahead, behind = int((correct[other] & ~correct[0]).sum()), int((correct[0] & ~correct[other]).sum())
        # The sign test: of the nodes that only one of the two has right, each has either with probability 1/2.
        if ahead > behind and binomtest(ahead, ahead + behind, alternative="greater").pvalue <= BY_CHANCE:
            chosen = int(other)
            why = (
                f"right on {correct[chosen].sum()} of {len(nodes)} held-out nodes, "
                f"{candidates[0].name} on {correct[0].sum()}: more than chance"
            )
            break
    return Choice(chosen, *best[chosen], why if len(candidates) > 1 else "asked for")


def cross_fitted(candidates: Sequence[Candidate], groups: np.ndarray) -> np.ndarray:
    """(H, classes) predictions for each held-out node by what the nodes of the other groups choose.

    So the model, the epoch and the temperature that a node is scored with were chosen by nodes other than itself, and
    the accuracy of these predictions has no optimism of selection in it.

    Args:
        groups: (H,) the number of each node's group, its fold in the first repeat.
    """
    result = np.empty(candidates[0].probabilities.shape[1:])
    for group in np.unique(groups):
        own = np.flatnonzero(groups == group)
        choice = choose(candidates, np.flatnonzero(groups != group))
        version = candidates[choice.candidate].probabilities[choice.version, own]
        result[own] = tempered(version, float(TEMPERATURES[choice.temperature]))
    return result

"""Which models, at which epoch and temperature, and how much each counts: by held-out nodes, and scored on others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dfnets.training.calibration import TEMPERATURES, TINY, penalised, tempered, tempered_losses

# What the first model and every other count for before any held-out node has spoken, in nodes.
FIRST, OTHERS = 9.0, 0.5
# A model with a smaller share than that is left out: it changes no prediction.
LEAST_SHARE = 0.02
# The shares settle within a few dozen steps, and more of them are cheap.
STEPS = 200


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

    def best(self, nodes: np.ndarray) -> tuple[int, int]:
        """The version and the temperature, by number, with the least cross-entropy on some of the held-out nodes.

        With its temperature fitted, the cross-entropy does not punish a network for being too sure of itself, and
        says more than the accuracy does when there are few nodes.
        """
        means = penalised(self.losses[:, :, nodes])
        version, temperature = np.unravel_index(int(means.argmin()), means.shape)
        return int(version), int(temperature)

    def at(self, version: int, temperature: int, nodes: np.ndarray) -> np.ndarray:
        """(m, classes) of some of the held-out nodes, by a version at one of ``TEMPERATURES``."""
        return tempered(self.probabilities[version, nodes], float(TEMPERATURES[temperature]))


@dataclass(frozen=True)
class Part:
    """A candidate's number, its version's and its temperature's, and its share in the prediction."""

    candidate: int
    version: int
    temperature: int
    share: float


@dataclass(frozen=True)
class Choice:
    """The models that predict together, the largest share first; and why, in words."""

    parts: tuple[Part, ...]
    why: str

    def at(self, candidates: Sequence[Candidate], nodes: np.ndarray) -> np.ndarray:
        """(m, classes) what they say together of some of the held-out nodes."""
        parts = [
            part.share * candidates[part.candidate].at(part.version, part.temperature, nodes) for part in self.parts
        ]
        return np.sum(parts, axis=0)


def choose(candidates: Sequence[Candidate], nodes: np.ndarray) -> Choice:
    """Each candidate at its best version and temperature, and the shares under which the true classes are most likely.

    The first counts for ``FIRST`` nodes beforehand and the others for ``OTHERS``, so with few labels the first predicts
    almost alone, and the more held-out nodes there are the more they decide.

    Args:
        candidates: the one to prefer first.
        nodes: (m,) places of the held-out nodes that choose.
    """
    best = [candidate.best(nodes) for candidate in candidates]
    if len(candidates) == 1:
        return Choice((Part(0, *best[0], 1.0),), "asked for")
    labels = candidates[0].labels[nodes]
    said = [candidate.at(*own, nodes) for candidate, own in zip(candidates, best, strict=True)]
    likely = np.stack([p[np.arange(len(nodes)), labels] for p in said])
    prior = np.array([FIRST] + [OTHERS] * (len(candidates) - 1))
    shares = mixture_shares(likely, prior)
    shares = np.where(shares >= LEAST_SHARE, shares, 0.0)
    shares /= shares.sum()
    order = [int(c) for c in np.argsort(-shares, kind="stable") if shares[c]]
    words = ", ".join(f"{candidates[c].name} {100 * shares[c]:.0f} %" for c in order)
    why = f"{words}: the shares under which {len(nodes)} held-out nodes are most likely"
    if order == [0]:
        why = f"{len(nodes)} held-out nodes give no other model a say"
    return Choice(tuple(Part(c, *best[c], float(shares[c])) for c in order), why)


def mixture_shares(likely: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """(M,) shares w, at least 0 and of sum 1, that maximise sum_i log sum_m w_m p_im + sum_m prior_m log w_m.

    By expectation maximisation: every node is divided among the models by how likely each makes its class.

    Args:
        likely: (M, m) the probability that each model gives to the true class of each node.
        prior: (M,) in nodes.

    >>> mixture_shares(np.array([[0.9] * 90, [0.1] * 90]), np.array([5.0, 5.0])).round(2)
    array([0.94, 0.06])
    """
    likely = np.maximum(likely, TINY)
    shares = prior / prior.sum()
    for _ in range(STEPS):
        parts = shares[:, None] * likely
        shares = prior + (parts / parts.sum(axis=0)).sum(axis=1)
        shares = shares / shares.sum()
    return shares


def cross_fitted(candidates: Sequence[Candidate], groups: np.ndarray) -> np.ndarray:
    """(H, classes) predictions for each held-out node by what the nodes of the other groups choose.

    So the models, their shares, epochs and temperatures that a node is scored with were chosen by nodes other than
    itself, and the accuracy of these predictions has no optimism of selection in it.

    Args:
        groups: (H,) the number of each node's group.
    """
    result = np.empty(candidates[0].probabilities.shape[1:])
    for group in np.unique(groups):
        own = np.flatnonzero(groups == group)
        result[own] = choose(candidates, np.flatnonzero(groups != group)).at(candidates, own)
    return result

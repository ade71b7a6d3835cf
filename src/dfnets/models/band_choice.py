"""Which band of frequencies the classes live in, read off the training labels before training.

Each labelled node is predicted from the others by a ridge regression on filtered features, in closed form. So one
configuration serves graphs whose edges join like with like, and others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from dfnets.models.leave_one_out import leave_one_out, leave_one_out_errors
from dfnets.nn import rows
from dfnets.nn.features import Features
from dfnets.nn.filter_bank import FilterBank

# More labelled nodes than that say nothing new about which band to take, and their Gram matrix is dense.
MAX_NODES = 500
# Where the low band's error is above that share of the error of guessing, the neighbours say too little of a class.
MAX_ERROR_OF_GUESSING = 0.85
# The share of labelled nodes that the low band predicts right from the others: from the first on, predictions are worth
# agreeing on, from the second on fully. A target that is wrong half of the time teaches the wrong class.
MIN_ACCURACY, FULL_ACCURACY = 0.5, 0.65
# Agreement may count fully up to the first number of classes, and from the second on not at all: the more there are,
# the more small ones are given up for others, on which predictions agree just as well.
FULL_CLASSES, MAX_CLASSES = 10, 25
# Fewer labelled nodes than that whose class has another one say nothing about a band.
MIN_NODES = 10
# Another band than the low one must be better by more than that many standard errors of the difference: of a handful of
# nodes any band may be the best by chance.
STANDARD_ERRORS = 1.0


@dataclass(frozen=True)
class BandChoice:
    """What the labelled nodes say.

    Attributes:
        band: ``"low"``, ``"all"`` or ``"high"``.
        error: the leave-one-out error of the low band, as a share of the error of guessing.
        accuracy: the share of labelled nodes that the low band predicts right, each from the others.
    """

    band: str
    error: float
    accuracy: float

    @property
    def informative(self) -> bool:
        """Whether the neighbours of a node tell its class clearly better than a guess."""
        return self.band == "low" and self.error < MAX_ERROR_OF_GUESSING

    @property
    def trust(self) -> float:
        """From 0 to 1, how far predictions for unlabelled nodes can be taken as targets."""
        return float(np.clip((self.accuracy - MIN_ACCURACY) / (FULL_ACCURACY - MIN_ACCURACY), 0, 1))


def trust_with_classes(classes: int) -> float:
    """From 1 to 0, how far predictions can be taken as targets with so many classes.

    >>> trust_with_classes(7), trust_with_classes(40)
    (1.0, 0.0)
    """
    return float(np.clip((MAX_CLASSES - classes) / (MAX_CLASSES - FULL_CLASSES), 0, 1))


def choose_band(
    grams_at: Callable[[np.ndarray], np.ndarray],
    bands: Mapping[str, Sequence[int]],
    nodes: np.ndarray,
    labels: np.ndarray,
) -> BandChoice:
    """The low band, unless another has a leave-one-out error that is clearly smaller.

    A node that has the only label of its class cannot be predicted from the others, and the band that says least would
    be wrong about it the least: such nodes have no say, and with few others (``MIN_NODES``) the band is the low one.

    Args:
        grams_at: the (K, t, t) Gram matrices of t nodes, one for each of the K responses.
        bands: places of the responses, by the name of the band.
        nodes: (t,) labelled nodes.
        labels: (t,) their classes.
    """
    some = np.linspace(0, len(nodes) - 1, min(len(nodes), MAX_NODES)).astype(np.int64)
    classes = labels[some]
    told = np.bincount(classes)[classes] > 1
    if told.sum() < MIN_NODES:
        return BandChoice("low", 1.0, 0.0)
    grams = grams_at(nodes[some])
    sums = {band: grams[list(places)].sum(axis=0) for band, places in bands.items()}
    errors = {band: leave_one_out_errors(gram, classes)[told] for band, gram in sums.items()}
    guess = leave_one_out_errors(np.zeros_like(grams[0]), classes)[told].mean()
    right = leave_one_out(sums["low"], classes).argmax(axis=1) == classes
    return decide(errors, float(guess), float(right[told].mean()))


def choose_bands(
    grams_at: Callable[[np.ndarray], np.ndarray],
    bands: Mapping[str, Sequence[int]],
    training_labels: Sequence[tuple[np.ndarray, np.ndarray]],
) -> list[BandChoice]:
    """The choice of each replica by its labelled nodes and their classes, made once for those with the same nodes."""
    chosen: dict[bytes, BandChoice] = {}
    for nodes, labels in training_labels:
        if nodes.tobytes() not in chosen:
            chosen[nodes.tobytes()] = choose_band(grams_at, bands, nodes, labels)
    return [chosen[nodes.tobytes()] for nodes, _ in training_labels]


def decide(errors: Mapping[str, np.ndarray], guess: float, accuracy: float) -> BandChoice:
    """The choice that follows from each band's (t,) errors, the mean error of guessing, and the low band's accuracy.

    >>> decide({"low": np.array([1.0, 0.8]), "high": np.array([0.5, 0.4])}, 1.0, 0.6).band
    'high'
    """
    gaps = {band: errors["low"] - own for band, own in errors.items()}
    better = [band for band, gap in gaps.items() if gap.mean() > STANDARD_ERRORS * gap.std() / np.sqrt(len(gap))]
    band = min(better, key=lambda name: errors[name].mean(), default="low")
    return BandChoice(band, float(errors["low"].mean() / max(guess, np.finfo(np.float64).tiny)), accuracy)


def gram_matrices(features: Features, bank: FilterBank, nodes: np.ndarray) -> np.ndarray:
    """(K, t, t) inner products of the rows of h_k(L^) X at t nodes, each matrix of trace 1."""
    picked = rows.indicators(bank.shift, nodes, features.device)
    # Rows of a symmetric filter are its columns; X comes last, so that only t of its filtered rows are ever made.
    columns = bank.apply_each(picked).transpose(0, 1).contiguous()
    filtered = columns.new_empty(features.shape[1], *columns.shape[1:])
    features.transposed_times(columns, out=filtered)
    return grams_of_rows(rows.total(bank.shift, filtered).permute(1, 2, 0))


def grams_of_rows(filtered: torch.Tensor) -> np.ndarray:
    """(K, t, t) inner products of (K, t, f) rows, each matrix of trace 1."""
    values = filtered.double()
    grams = (values @ values.transpose(1, 2)).cpu().numpy()
    traces = np.trace(grams, axis1=1, axis2=2)
    return grams / np.maximum(traces, np.finfo(np.float64).tiny)[:, None, None]

"""Repeated stratified folds over the labelled nodes, for as few as two labels of a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Held-out nodes beyond these sharpen no choice and no interval; they stay in the training part of every fold.
MOST_HELD_OUT = 5000
# With fewer folds, the networks of a fold lack so many of the labels that they neither predict nor tell when to stop:
# then those on every label predict alone, and train to the end.
FOLDS_THAT_TELL = 4


@dataclass(frozen=True)
class Folds:
    """Which labelled nodes each network trains on, and which are held out from it.

    Attributes:
        labelled: (N,) all nodes with a label, sorted.
        held: (H,) those that are held out once in every repeat, sorted; the others are trained on in every fold.
        fold: (repeats, H) the number of the fold that holds each of them out.
        count: folds of one repeat.
    """

    labelled: np.ndarray
    held: np.ndarray
    fold: np.ndarray
    count: int

    @property
    def repeats(self) -> int:
        return len(self.fold)

    def __iter__(self):  # type: ignore[no-untyped-def]
        """(training nodes, places in ``held`` of the nodes held out) of every fold of every repeat."""
        for row in self.fold:
            for number in range(self.count):
                out = np.flatnonzero(row == number)
                yield np.setdiff1d(self.labelled, self.held[out]), out

    def __len__(self) -> int:
        return self.repeats * self.count


def fold_count(labels: np.ndarray, most: int) -> int:
    """How many folds: as many as the typical class has labels, between 2 and ``most``.

    >>> fold_count(np.array([0, 0, 1, 1, -1]), 5)
    2
    """
    counts = np.bincount(labels[labels >= 0])
    counts = counts[counts > 1]
    return int(np.clip(np.median(counts), 2, most)) if len(counts) else 2


def make_folds(labels: np.ndarray, count: int, repeats: int, *, seed: int = 0) -> Folds:
    """Folds in which every class is spread as evenly as it can be.

    A class with a single label is in the training part of every fold: held out, there would be nothing to learn it
    from. The nodes of a class take the folds in turn, in an order drawn anew in each repeat; a class begins where the
    one before it ended, so that folds are equally large.

    Args:
        labels: (n,) classes, -1 = unknown.
        count: folds of one repeat, at least 2.
    """
    labelled = np.flatnonzero(labels >= 0)
    counts = np.bincount(labels[labelled])
    held = labelled[counts[labels[labelled]] > 1]
    if not len(held):
        raise ValueError(
            "no class has two labelled nodes, so nothing can be held out: label at least two nodes of one class"
        )
    rng = np.random.default_rng((seed, 0))
    if len(held) > MOST_HELD_OUT:
        held = np.sort(rng.choice(held, MOST_HELD_OUT, replace=False))
    fold = np.empty((repeats, len(held)), dtype=np.int64)
    for r in range(repeats):
        order = rng.permutation(len(held))
        order = order[np.argsort(labels[held[order]], kind="stable")]
        fold[r, order] = (np.arange(len(held)) + rng.integers(count)) % count
    return Folds(labelled, held, fold, count)

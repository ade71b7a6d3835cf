"""How much the labelled nodes can teach: with few of each class, classes and weights need a hand."""

from __future__ import annotations

# Labelled nodes per class, on the mean, from which on they are many.
MANY_LABELS = 100


def are_few(labelled: int, classes: int) -> bool:
    """Whether there are so few labelled nodes that the large classes would crowd out the small ones.

    >>> are_few(140, 7), are_few(7000, 7)
    (True, False)
    """
    return labelled < MANY_LABELS * classes


def penalty_share(labelled: int, classes: int) -> float:
    """What is left of a penalty: all of it with few labelled nodes, and with more in inverse proportion to them.

    A penalty is what is believed of the weights before any label is seen, and counts as much as so many labels.

    >>> penalty_share(140, 7), penalty_share(7000, 7)
    (1.0, 0.1)
    """
    return min(1.0, MANY_LABELS * classes / max(1, labelled))

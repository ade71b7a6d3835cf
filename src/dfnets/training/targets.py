"""What can be learned from: one class per node. Everything else is refused in words."""

from __future__ import annotations

import numpy as np

from dfnets.graph import Graph

# More classes than that share of the labels, all of them numbers with a decimal point, are measurements.
DISTINCT = 0.5
SEPARATORS = (";", "|", ",")


def check_targets(graph: Graph) -> tuple[str, ...]:
    """What a person should know about the labels, in whole sentences; raises where nothing can be learned."""
    if graph.labels is None or not (graph.labels >= 0).any():
        raise ValueError(f"{graph.name} has no labels: give the class of at least two nodes of each class")
    counts = np.bincount(graph.labels[graph.labels >= 0], minlength=graph.num_classes)
    names = graph.label_names or tuple(map(str, range(graph.num_classes)))
    _refuse_numbers(graph, names, int(counts.sum()))
    _refuse_lists(graph, names)
    if (counts > 0).sum() < 2:
        only = names[int(counts.argmax())]
        raise ValueError(f"{graph.name}: all {counts.sum()} labels are {only!r}; give nodes of two classes at least")
    single = [names[c] for c in np.flatnonzero(counts == 1)]
    warnings = []
    if single:
        listed = ", ".join(map(repr, single[:5])) + (f" and {len(single) - 5} more" if len(single) > 5 else "")
        warnings.append(
            f"{len(single)} of {(counts > 0).sum()} classes have a single label ({listed}). It is trained on in every "
            "fold, so how well these classes are found is not known; the accuracy is that of the other classes."
        )
    if counts.sum() < 20:
        warnings.append(f"There are {counts.sum()} labels: the accuracy can only be known roughly.")
    return tuple(warnings)


def _refuse_numbers(graph: Graph, names: tuple[str, ...], count: int) -> None:
    """Measurements are no classes: a model for regression is needed."""
    fractions = [name for name in names if _is_fraction(name)]
    if len(fractions) > DISTINCT * count and len(names) > 2:
        raise ValueError(
            f"{graph.name}: the labels are numbers such as {fractions[0]!r}, nearly all different, so this is "
            "a regression; dfnets predicts classes. Put the numbers into a few ranges, and give these as labels"
        )


def _refuse_lists(graph: Graph, names: tuple[str, ...]) -> None:
    """'a;b' beside 'a' and 'b' is a node with several labels."""
    known = set(names)
    for separator in SEPARATORS:
        lists = [name for name in names if separator in name and set(name.split(separator)) <= known]
        if lists:
            raise ValueError(
                f"{graph.name}: the label {lists[0]!r} lists several classes; dfnets predicts one class per node. "
                "Keep one of them, or train one model for each class with the labels yes and no"
            )


def _is_fraction(text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return not value.is_integer()

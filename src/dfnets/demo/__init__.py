"""The demo: a certified filter, then few labels on handwritten digits, and a page that shows all of it.

The images come with scikit-learn and their graph joins each to its nearest neighbours, so that no network is needed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from dfnets import datasets
from dfnets.datasets.splits import Split
from dfnets.demo.story import make_page
from dfnets.graph import Graph

LABELS_PER_CLASS = 5
VALIDATION_PER_CLASS = 10
EPOCHS = 300


def run(
    folder: str | os.PathLike[str] = "reports", *, replicas: int = 3, epochs: int | None = None
) -> tuple[dict[str, np.ndarray], Path]:
    """Trains, compares, and writes ``demo.html`` into ``folder``.

    Args:
        replicas: draws of the labelled images; each method sees the same ones.
        epochs: of DFNetPlus; 300 when left out, which is enough for these images.

    Returns:
        test accuracies in percent, one per draw, by method; and the path of the page.
    """
    from dfnets.training import fit

    started = time.perf_counter()
    graph = datasets.load("digits")
    draws = datasets.splits.make(
        graph, "random", draws=replicas, per_class=LABELS_PER_CLASS, validation_per_class=VALIDATION_PER_CLASS
    )
    result = fit("dfnet-plus", graph, protocol=draws, replicas=replicas, epochs=EPOCHS if epochs is None else epochs)
    accuracies = {
        "DFNetPlus": result.accuracy("validation").values,
        "label propagation": _chosen_on_validation(_label_propagation, (0.2, 0.5, 0.8, 0.95), graph, draws),
        "logistic regression": _chosen_on_validation(_logistic, (0.1, 1.0, 10.0, 100.0), graph, draws),
    }
    return accuracies, make_page(graph, result, accuracies, started).write(Path(folder) / "demo.html")


def _chosen_on_validation(
    method: Callable[[Graph, Split, float], np.ndarray],
    values: Sequence[float],
    graph: Graph,
    draws: Sequence[Split],
) -> np.ndarray:
    """Test accuracy in percent of each draw, with the value that is best on the draw's validation nodes."""
    assert graph.labels is not None
    accuracies = []
    for draw in draws:
        guesses = [method(graph, draw, value) for value in values]
        scores = [np.mean(guess[draw.validation] == graph.labels[draw.validation]) for guess in guesses]
        best = guesses[int(np.argmax(scores))]
        accuracies.append(100 * np.mean(best[draw.test] == graph.labels[draw.test]))
    return np.array(accuracies)


def _label_propagation(graph: Graph, draw: Split, alpha: float) -> np.ndarray:
    from sklearn.semi_supervised import LabelSpreading

    assert graph.labels is not None
    known = np.full(graph.num_nodes, -1)
    known[draw.train] = graph.labels[draw.train]
    spread = LabelSpreading(kernel="knn", n_neighbors=10, alpha=alpha, max_iter=200)
    return spread.fit(graph.features, known).transduction_


def _logistic(graph: Graph, draw: Split, strength: float) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression

    assert graph.labels is not None
    assert isinstance(graph.features, np.ndarray)
    scaled = graph.features / 16
    model = LogisticRegression(C=strength, max_iter=5000)
    return model.fit(scaled[draw.train], graph.labels[draw.train]).predict(scaled)

"""Iterative classification against scikit-learn in a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from dfnets import Graph
from dfnets.datasets.splits import Split
from dfnets.models.logistic import ABSENT, logistic
from dfnets.training import fit


def blocks(n: int = 60) -> Graph:
    """Three classes, weighted edges mostly within a class, weak features, and a node on its own."""
    rng = np.random.default_rng(0)
    labels = np.arange(n) % 3
    near = rng.random((n, n)) < np.where(labels[:, None] == labels, 0.2, 0.02)
    weights = np.triu(near * rng.uniform(0.5, 2, (n, n)), 1)
    weights[0] = weights[:, 0] = 0
    return Graph(weights + weights.T, features=rng.random((n, 6)) + np.eye(3)[labels].repeat(2, axis=1), labels=labels)


SPLIT = Split(np.arange(15), np.arange(15, 30), np.arange(30, 60), "mine")


@pytest.mark.parametrize("aggregate", ["count", "proportion"])
@pytest.mark.parametrize("labels", ["hard", "soft"])
def test_it_is_two_regressions_and_a_loop(aggregate: str, labels: str) -> None:
    graph = blocks()
    settings = {"aggregate": aggregate, "labels": labels, "l2": 0.5, "iterations": 3, "features": "none"}
    found = fit("ica", graph, protocol=SPLIT, replicas=1, progress=False, **settings).predict().probabilities
    mixing = graph.adjacency.toarray()
    if aggregate == "proportion":
        mixing = mixing / np.maximum(mixing.sum(axis=1, keepdims=True), 1e-300)
    x, train, y = graph.features, SPLIT.train, graph.labels[SPLIT.train]

    def label(probabilities: np.ndarray) -> np.ndarray:
        return probabilities if labels == "soft" else np.eye(3)[probabilities.argmax(axis=1)]

    first = LogisticRegression(C=2, tol=1e-8, max_iter=5000).fit(x[train], y)
    guess = label(first.predict_proba(x))
    guess[train] = np.eye(3)[y]
    second = LogisticRegression(C=2, tol=1e-8, max_iter=5000).fit(np.hstack([x, mixing @ guess])[train], y)
    probabilities = first.predict_proba(x)
    for _ in range(3):
        probabilities = second.predict_proba(np.hstack([x, mixing @ label(probabilities)]))
    np.testing.assert_allclose(found, probabilities, atol=2e-3)


def test_sparse_features_give_what_dense_ones_do() -> None:
    graph = blocks()
    sparse = graph.with_(features=sp.csr_array(graph.features))
    one, two = (
        fit("ica", g, protocol=SPLIT, replicas=2, progress=False).predict().per_replica for g in (graph, sparse)
    )
    np.testing.assert_allclose(one, two, atol=1e-5)


def test_replicas_of_two_splits_equal_single_runs() -> None:
    other = Split(np.arange(45, 60), np.arange(30), np.arange(30, 45), "mine")
    both = fit("ica", blocks(), protocol=[SPLIT, other], replicas=2, progress=False).predict().per_replica
    alone = fit("ica", blocks(), protocol=other, replicas=1, progress=False).predict().per_replica
    np.testing.assert_array_equal(both[1], alone[0])


def test_logistic_regression_of_one_and_of_two_classes() -> None:
    x = np.random.default_rng(0).normal(size=(20, 3))
    y = (x[:, 0] > 0).astype(int) * 2
    kernel, bias = logistic(x, y, 4, 0.1)
    expected = LogisticRegression(C=10).fit(x, y).decision_function(x)
    scores = x @ kernel + bias
    np.testing.assert_allclose(scores[:, 2] - scores[:, 0], expected, rtol=1e-6)
    assert (bias[[1, 3]] == ABSENT).all()
    kernel, bias = logistic(x, np.ones(20, dtype=int), 3, 0.1)
    assert not kernel.any()
    assert bias.argmax() == 1

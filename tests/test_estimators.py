"""The estimators as scikit-learn's own users would use and check them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dfnets import Graph, datasets, design, responses
from dfnets.estimators import DFNetClassifier, GraphFilter

pytestmark = pytest.mark.usefixtures("one_thread")
QUICK: dict[str, Any] = {"epochs": 30, "settings": {"units": (8, 16), "dropout": 0.5, "learning_rate": 0.02}}


def expected_failures(_: Any) -> dict[str, str]:
    return {"check_classifiers_classes": "labels -1 and 1: here -1 is what unlabelled is called"}


@parametrize_with_checks([DFNetClassifier(**QUICK)], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def few_labels(y: np.ndarray, count: int) -> np.ndarray:
    keep = np.concatenate([np.flatnonzero(y == c)[:count] for c in np.unique(y)])
    return np.where(np.isin(np.arange(len(y)), keep), y, -1)


def test_digits_from_few_labels() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    classifier = DFNetClassifier(epochs=80).fit(X, few_labels(y, 5))
    assert np.mean(classifier.transduction_ == y) > 0.88
    assert classifier.label_distributions_.shape == (600, 10)
    np.testing.assert_allclose(classifier.label_distributions_.sum(axis=1), 1)


def test_new_rows_do_not_see_one_another() -> None:
    X, y = make_blobs(120, centers=3, random_state=0)
    classifier = DFNetClassifier(**QUICK).fit(X[:90], few_labels(y[:90], 5))
    together = classifier.predict_proba(X[90:])
    alone = np.vstack([classifier.predict_proba(row[None]) for row in X[90:]])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    assert np.mean(classifier.predict(X[90:]) == y[90:]) > 0.75


def test_attaching_is_a_row_of_the_grown_graphs_laplacian() -> None:
    """A new row reads its neighbours as a node of the grown graph would, but for their degrees, which do not grow."""
    from dfnets import Shift
    from dfnets.estimators import _attach

    X = np.random.default_rng(0).random((12, 3))
    graph = datasets.neighbours(X[:11], 3)
    extended, shift = _attach(graph, X[11:], 3)
    near = np.argsort(((X[:11] - X[11]) ** 2).sum(axis=1))[:3]
    expected = np.zeros(12)
    expected[near] = -1 / np.sqrt(4 * (graph.degrees[near] + 1))
    expected[11] = 1 - 1 / 4
    laplacian = shift.recentred(0.0).tocsr().toarray()
    np.testing.assert_allclose(laplacian[11], expected)
    np.testing.assert_allclose(laplacian[:11, :11], Shift(graph, centre=0.0).tocsr().toarray())
    assert not laplacian[:11, 11].any()
    assert extended.num_nodes == 12


@pytest.mark.parametrize("form", ["graph", "adjacency", "sparse features"])
def test_a_graph_of_ones_own(form: str) -> None:
    X, y = make_blobs(90, centers=3, random_state=1)
    graph: Any = datasets.neighbours(X, 8)
    given = graph.adjacency if form == "adjacency" else graph
    # Features that tell rows apart and nothing else: what is learnt of the classes comes from the graph.
    rows = sp.eye_array(90, format="csr") if form == "sparse features" else np.eye(90)
    classifier = DFNetClassifier(given, **QUICK).fit(rows, few_labels(y, 10))
    assert classifier.graph_.num_edges == graph.num_edges
    assert np.mean(classifier.transduction_ == y) > 0.8


def test_replicas_are_averaged_and_seeded() -> None:
    X, y = make_blobs(60, centers=2, random_state=0)
    some = few_labels(y, 4)
    singles = [DFNetClassifier(random_state=seed, **QUICK).fit(X, some).label_distributions_ for seed in (3, 4)]
    both = DFNetClassifier(random_state=3, replicas=2, **QUICK).fit(X, some).label_distributions_
    np.testing.assert_allclose(both, np.mean(singles, axis=0), atol=1e-7)


def test_pipeline_clone_and_pickle() -> None:
    X, y = make_blobs(90, centers=3, random_state=0)
    pipeline = make_pipeline(StandardScaler(), DFNetClassifier(**QUICK))
    fitted = clone(pipeline).fit(X, few_labels(y, 8))
    assert fitted.score(X, y) > 0.85
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


def test_errors_say_what_to_do() -> None:
    X, y = make_blobs(30, centers=2, random_state=0)
    with pytest.raises(ValueError, match="every y is -1"):
        DFNetClassifier().fit(X, np.full(30, -1))
    with pytest.raises(ValueError, match="graph has 5 nodes, but X has 30 rows"):
        DFNetClassifier(Graph(np.ones((5, 5)))).fit(X, y)
    with pytest.raises(ValueError, match="preset='best' is not one of"):
        DFNetClassifier(preset="best").fit(X, y)


def test_graph_filter_is_the_filter() -> None:
    X = np.random.default_rng(0).random((40, 3))
    graph = datasets.neighbours(X, 5)
    f = design(responses.low_pass(0.5))
    transformer = GraphFilter(f, graph=graph)
    np.testing.assert_array_equal(transformer.fit_transform(X), f.apply(graph, X))
    np.testing.assert_array_equal(GraphFilter(f, k=5).fit(X).transform(X), f.apply(graph, X))


def test_graph_filter_in_a_pipeline_and_under_clone() -> None:
    X, y = make_blobs(80, centers=2, random_state=0)
    noisy = X + np.random.default_rng(0).normal(scale=2, size=X.shape)
    pipeline = make_pipeline(GraphFilter(design(responses.low_pass(0.5)), graph=datasets.neighbours(X, 8)))
    pipeline.steps.append(("classify", LogisticRegression()))
    assert clone(pipeline).fit(noisy, y).score(noisy, y) > LogisticRegression().fit(noisy, y).score(noisy, y)
    with pytest.raises(ValueError, match="graph has 80 nodes, but X has 10 rows"):
        pipeline.fit(noisy, y).predict(noisy[:10])

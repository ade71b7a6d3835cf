"""The estimators as scikit-learn's own users would use and check them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dfnets import Graph, datasets, design, responses
from dfnets.estimators import DFNetClassifier, GraphFilter

pytestmark = pytest.mark.usefixtures("one_thread")
QUICK: dict[str, Any] = {"effort": "quick", "epochs": 15, "settings": {"hidden": 8}}
FAST: dict[str, Any] = {"model": "logistic"}
LOW_PASS = design(responses.low_pass(0.5))


@parametrize_with_checks([DFNetClassifier(effort="quick", epochs=4, settings={"hidden": 4}), GraphFilter(LOW_PASS)])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def few_labels(y: np.ndarray, count: int) -> np.ndarray:
    keep = np.concatenate([np.flatnonzero(y == c)[:count] for c in np.unique(y)])
    return np.where(np.isin(np.arange(len(y)), keep), y, -1)


def test_digits_from_few_labels() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    classifier = DFNetClassifier(effort="quick", epochs=60).fit(X, few_labels(y, 5))
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
    from dfnets.attachment import attach

    X = np.random.default_rng(0).random((12, 3))
    graph = datasets.neighbours(X[:11], 3)
    extended, shift = attach(graph, X[11:], 3)
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


def graph_of_blobs() -> tuple[Graph, np.ndarray]:
    X, y = make_blobs(120, centers=3, cluster_std=1.0, random_state=2)
    return datasets.neighbours(X, 8), y


def test_nodes_by_number_in_cross_validation_and_a_grid_search() -> None:
    graph, y = graph_of_blobs()
    nodes = np.random.default_rng(0).permutation(120)[:45]
    classifier = DFNetClassifier(graph, **FAST)
    scores = cross_val_score(classifier, nodes[:, None], y[nodes], cv=3)
    assert scores.mean() > 0.8
    grid = GridSearchCV(classifier, {"settings": [{"l2": 1e-4}, {"l2": 100.0, "low": (0.1,)}]}, cv=3)
    grid.fit(nodes, y[nodes])
    assert set(grid.cv_results_["rank_test_score"]) <= {1, 2}
    assert np.mean(grid.predict(np.arange(120)) == y) > 0.8


def test_nodes_by_number_hide_the_labels_of_the_others() -> None:
    """The graph that is given has every label: none but those of y may be used."""
    graph, y = graph_of_blobs()
    nodes = np.concatenate([np.flatnonzero(y == c)[:5] for c in range(3)])
    plain = DFNetClassifier(graph, **FAST).fit(nodes, y[nodes])
    told = DFNetClassifier(graph.with_(labels=y), **FAST).fit(nodes, y[nodes])
    np.testing.assert_array_equal(plain.label_distributions_, told.label_distributions_)
    assert (plain.graph_.labels >= 0).sum() == 15
    with pytest.raises(ValueError, match="X names node 120, but the graph has nodes 0 to 119"):
        plain.predict(np.array([120]))


def test_the_accuracy_is_there_with_its_interval() -> None:
    X, y = make_blobs(90, centers=3, random_state=0)
    fitted = DFNetClassifier(**FAST).fit(X, few_labels(y, 6))
    low, high = fitted.result_.assessment.interval
    assert low < fitted.result_.assessment.accuracy <= high


def test_label_propagation_is_no_choice_where_rows_come_later() -> None:
    X, y = make_blobs(90, centers=3, random_state=0)
    fitted = DFNetClassifier(**QUICK).fit(X[:60], few_labels(y[:60], 5))
    assert fitted.model_.name != "lp"
    assert fitted.predict(X[60:]).shape == (30,)


def test_pipeline_clone_and_pickle() -> None:
    X, y = make_blobs(90, centers=3, random_state=0)
    pipeline = make_pipeline(StandardScaler(), DFNetClassifier(**QUICK))
    fitted = clone(pipeline).fit(X, few_labels(y, 8))
    assert fitted.score(X, y) > 0.8
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


def test_what_a_filter_gives_a_new_row_does_not_depend_on_its_batch() -> None:
    rng = np.random.default_rng(0)
    X, new = rng.random((40, 3)), rng.random((6, 3))
    transformer = GraphFilter(LOW_PASS, k=5).fit(X)
    together = transformer.transform(np.vstack([new, X[:4]]))
    alone = np.vstack([transformer.transform(row[None]) for row in np.vstack([new, X[:4]])])
    np.testing.assert_allclose(together, alone, atol=1e-9)
    np.testing.assert_allclose(together[6:], transformer.fit_transform(X)[:4])


def test_a_new_row_is_filtered_by_the_extended_operator() -> None:
    """Against h of the block-triangular matrix by its eigenvectors."""
    from dfnets.attachment import attach

    rng = np.random.default_rng(1)
    X, new = rng.random((25, 2)), rng.random((3, 2))
    transformer = GraphFilter(LOW_PASS, k=4, tol=1e-8).fit(X)
    _, shift = attach(transformer.graph_, new, 4)
    values, vectors = np.linalg.eig(shift.recentred(0.0).tocsr().toarray())
    # The new rows share one diagonal entry, an eigenvalue with as many eigenvectors: the matrix is diagonalisable.
    operator = (vectors * LOW_PASS.response(values.real)) @ np.linalg.inv(vectors)
    expected = (operator @ np.vstack([X, new])).real[25:]
    np.testing.assert_allclose(transformer.transform(new), expected, atol=1e-6)


def test_filtered_columns_keep_their_names() -> None:
    frame = pandas.DataFrame(np.random.default_rng(0).random((20, 2)), columns=["height", "weight"])
    transformer = GraphFilter(LOW_PASS, k=3).set_output(transform="pandas")
    assert list(transformer.fit_transform(frame).columns) == ["height", "weight"]
    assert list(transformer.get_feature_names_out()) == ["height", "weight"]


def test_a_filter_takes_nodes_by_number() -> None:
    graph, y = graph_of_blobs()
    nodes = np.arange(0, 120, 2)
    smooth = GraphFilter(LOW_PASS, graph)
    np.testing.assert_allclose(smooth.fit_transform(nodes[:, None]), LOW_PASS.apply(graph, graph.features)[nodes])
    pipeline = make_pipeline(GraphFilter(LOW_PASS, graph), LogisticRegression())
    assert cross_val_score(pipeline, nodes[:, None], y[nodes], cv=3).mean() > 0.8


def test_graph_filter_in_a_pipeline_and_under_clone() -> None:
    X, y = make_blobs(80, centers=2, random_state=0)
    noisy = X + np.random.default_rng(0).normal(scale=2, size=X.shape)
    pipeline = make_pipeline(GraphFilter(design(responses.low_pass(0.5)), graph=datasets.neighbours(X, 8)))
    pipeline.steps.append(("classify", LogisticRegression()))
    assert clone(pipeline).fit(noisy, y).score(noisy, y) > LogisticRegression().fit(noisy, y).score(noisy, y)
    with pytest.raises(ValueError, match="graph has 80 nodes, but X has 10 rows"):
        pipeline.fit(noisy, y).predict(noisy[:10])

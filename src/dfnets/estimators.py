"""Graph filters and DFNets as scikit-learn knows its estimators."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import Tags, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from dfnets.attachment import as_graph, as_nodes, attach, filter_attached, is_index, row_graph
from dfnets.filters import Filter

UNLABELLED = -1
FLOATS = (np.float64, np.float32)


class DFNetClassifier(ClassifierMixin, BaseEstimator):
    """Semi-supervised classification by :func:`dfnets.train`: every label is used, -1 in y is no label.

    X is one of two things:

    - **Features**, one row per node. ``graph`` says how rows are joined (row i is node i); None joins each to its
      nearest ones. Rows that come later are attached to their nearest training rows, in one direction: they see the
      training rows, and neither these nor other new rows see them. So a prediction does not depend on what else is
      predicted with it.
    - **Node numbers**, one column of integers, where ``graph`` is a :class:`Graph` with its own features. Nodes that
      are not among them are part of the graph, without a label. This is how ``cross_val_score`` and ``GridSearchCV``
      split the labels and leave the graph whole: ``cross_val_score(DFNetClassifier(graph), nodes, labels[nodes])``.

    Args:
        graph: a :class:`Graph`, or an adjacency.
        k: how many neighbours a row is joined to, where this class does the joining.
        model, preset, effort, epochs: see :func:`dfnets.train`.
        settings: other hyper-parameters by name.
        random_state: the seed.
        device: see :func:`dfnets.fit`.

    Attributes:
        classes_: the labels, without -1. A y of just -1 and 1 has these two classes, as other classifiers have it.
        graph_: the nodes, joined.
        result_: the :class:`dfnets.training.CrossValidated`: accuracy with an interval, confusion, model card.
        label_distributions_: (n, classes) probabilities of the nodes, each in its place in the graph.
        transduction_: (n,) the labels that follow from them.
        model_: the :class:`dfnets.training.TrainedModel`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> some = np.where(np.arange(150) % 10 == 0, y, -1)  # 15 labels
    >>> DFNetClassifier(effort="quick", epochs=20).fit(X, some).score(X, y) > 0.8
    True
    """

    def __init__(
        self,
        graph: Any = None,
        *,
        k: int = 10,
        model: str = "auto",
        preset: str | None = None,
        effort: str = "default",
        epochs: int | None = None,
        settings: Mapping[str, Any] | None = None,
        random_state: int = 0,
        device: str | None = None,
    ) -> None:
        self.graph = graph
        self.k = k
        self.model = model
        self.preset = preset
        self.effort = effort
        self.epochs = epochs
        self.settings = settings
        self.random_state = random_state
        self.device = device

    def fit(self, X: Any, y: Any) -> Self:
        """Trains on the labelled rows or nodes, with all of them in the graph."""
        from dfnets.training import train

        by_number = is_index(self.graph, X)
        X, y = self._checked(X, y, by_number)
        known = np.flatnonzero(_labelled(y))
        if not len(known):
            raise ValueError("every y is -1, which is unlabelled: label at least two rows of each class")
        self.classes_, codes = np.unique(y[known], return_inverse=True)
        graph = as_graph(self.graph) if by_number else row_graph(self.graph, X, self.k)
        nodes = as_nodes(graph, X)[known] if by_number else known
        labels = np.full(graph.num_nodes, UNLABELLED)
        labels[nodes] = codes
        names = tuple(str(label) for label in self.classes_)
        self.graph_ = graph.with_(labels=labels, label_names=names, splits={})
        effort: Any = self.effort
        self.result_ = train(
            self.graph_,
            model=self.model,
            effort=effort,
            preset=self.preset,
            epochs=self.epochs,
            seed=self.random_state,
            device=self.device,
            progress=False,
            # Label propagation knows the nodes of its graph only, and rows may come later.
            inductive=not by_number,
            **(self.settings or {}),
        )
        self.by_number_ = by_number
        self.model_ = self.result_.trained
        self.label_distributions_ = self.result_.predictions.probabilities
        self.transduction_ = self.classes_[self.label_distributions_.argmax(axis=1)]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(rows, classes) probabilities for new rows, or for nodes by their number."""
        check_is_fitted(self)
        if self.by_number_:
            return self.label_distributions_[as_nodes(self.graph_, X)]
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        extended, shift = attach(self.graph_, X, self.k)
        return self.model_.predict(extended, shift=shift, device=self.device).probabilities[self.graph_.num_nodes :]

    def predict(self, X: Any) -> np.ndarray:
        """(rows,) labels for new rows, or for nodes by their number; those of the whole graph are ``transduction_``."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def _checked(self, X: Any, y: Any, by_number: bool) -> tuple[Any, np.ndarray]:
        if by_number:
            X = check_array(X, ensure_2d=False, dtype=None)
            y = np.asarray(y)
            self.n_features_in_ = 1
            if len(y) != len(X):
                raise ValueError(f"y has {len(y)} labels, but X has {len(X)} node numbers")
        else:
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        check_classification_targets(y)
        return X, y

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class GraphFilter(TransformerMixin, BaseEstimator):
    """Filters the columns of X over a graph whose nodes are the rows of X.

    Without a graph, ``fit`` joins its rows to their nearest ones, and keeps that graph. Rows that come later are
    attached to it as in :class:`DFNetClassifier`: each reads its nearest fitted rows, so what comes out for a row does
    not depend on the others that it comes with. A row that was in ``fit`` is its node.

    With a graph, X has a row for each node; or it is one column of node numbers (integers), and the graph's own
    features are filtered and those of these nodes given.

    Args:
        filter: any :class:`dfnets.filters.Filter`.
        graph: a :class:`Graph` or an adjacency.
        k: how many neighbours, where this class does the joining.
        method, tol: see :meth:`Filter.apply`.

    >>> from dfnets import design, responses
    >>> smooth = GraphFilter(design(responses.low_pass(0.5)), k=3)
    >>> smooth.fit_transform(np.random.default_rng(0).random((20, 4))).shape
    (20, 4)
    """

    def __init__(
        self, filter: Filter, graph: Any = None, *, k: int = 10, method: str = "auto", tol: float = 1e-6
    ) -> None:
        self.filter = filter
        self.graph = graph
        self.k = k
        self.method = method
        self.tol = tol

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Checks X and, without a graph, joins its rows."""
        if is_index(self.graph, X):
            self.graph_ = as_graph(self.graph)
            if self.graph_.features is None:
                raise ValueError("X has node numbers, but the graph has no features to filter: give it features")
            as_nodes(self.graph_, X)
            self.n_features_in_ = 1
            self.filtered_ = self._apply(self.graph_.features)
            return self
        X = validate_data(self, X, dtype=FLOATS)
        self.graph_ = row_graph(self.graph, X, self.k)
        self.filtered_ = self._apply(X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The filtered columns, (rows, f)."""
        check_is_fitted(self, "graph_")
        if is_index(self.graph, X):
            return self.filtered_[as_nodes(self.graph_, X)]
        X = validate_data(self, X, dtype=FLOATS, reset=False)
        if self.graph is not None:
            row_graph(self.graph, X, self.k)
            return self._apply(X)
        known: Any = self.graph_.features
        nearest = NearestNeighbors(n_neighbors=1).fit(known).kneighbors(X, return_distance=False)
        result = self.filtered_[nearest[:, 0]].copy()
        new = np.flatnonzero((known[nearest[:, 0]] != X).any(axis=1))
        if len(new):
            result[new] = filter_attached(self.filter, self.graph_, X[new], self.k, self.tol)
        return result

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns, as they came."""
        check_is_fitted(self, "graph_")
        if input_features is None:
            names = getattr(self, "feature_names_in_", self.graph_.feature_names)
            input_features = [f"x{c}" for c in range(self.filtered_.shape[1])] if names is None else names
        names = np.asarray(input_features, dtype=object)
        if hasattr(self, "feature_names_in_") and not np.array_equal(names, self.feature_names_in_):
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(names) != self.filtered_.shape[1]:
            count = self.filtered_.shape[1]
            raise ValueError(f"input_features should have length equal to number of features ({count})")
        return names

    def _apply(self, X: Any) -> np.ndarray:
        values = X if isinstance(X, np.ndarray) else X.toarray()
        return self.filter.apply(self.graph_, values, method=self.method, tol=self.tol)


def _labelled(y: np.ndarray) -> np.ndarray:
    """(n,) where y is a label. Of -1 and 1 alone both are: one class is nothing to learn, and many write two so."""
    if y.dtype.kind in "iuf" and np.array_equal(np.unique(y), [UNLABELLED, 1]):
        warnings.warn("y has only the values -1 and 1: both are taken as classes, no row as unlabelled", stacklevel=3)
        return np.ones(len(y), dtype=bool)
    return np.asarray(y != UNLABELLED)

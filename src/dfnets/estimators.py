"""Graph filters and DFNet as scikit-learn knows its estimators."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from dfnets.datasets import neighbours
from dfnets.filters import Filter
from dfnets.graph import Graph
from dfnets.shift import Shift

UNLABELLED = -1
FLOATS = (np.float64, np.float32)


class DFNetClassifier(ClassifierMixin, BaseEstimator):
    """Semi-supervised classification of the rows of X: ``fit(X, y)`` with y = -1 where a label is unknown.

    Rows that come later are attached to their nearest training rows, in one direction: they see the training rows, and
    neither these nor other new rows see them. So a prediction does not depend on what else is predicted with it.

    Args:
        graph: of the training rows, a :class:`Graph` or an adjacency; None joins each to its nearest ones.
        k: how many neighbours a row is joined to, where this class does the joining.
        model, preset, epochs: see :func:`dfnets.fit`.
        settings: other hyper-parameters by name.
        replicas: networks whose probabilities are averaged.
        random_state: the seed of the first.
        device: see :func:`dfnets.fit`.

    Attributes:
        classes_: the labels, without -1.
        graph_: the training rows, joined.
        label_distributions_: (n, classes) probabilities of the training rows, each in its place in the graph.
        transduction_: (n,) the labels that follow from them.
        model_: the :class:`dfnets.training.TrainedModel`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> some = np.where(np.arange(150) % 10 == 0, y, -1)  # 15 labels
    >>> DFNetClassifier(epochs=50).fit(X, some).score(X, y) > 0.8
    True
    """

    def __init__(
        self,
        graph: Any = None,
        *,
        k: int = 10,
        model: str = "dfnet",
        preset: str | None = "low-pass",
        epochs: int | None = None,
        settings: Mapping[str, Any] | None = None,
        replicas: int = 1,
        random_state: int = 0,
        device: str | None = None,
    ) -> None:
        self.graph = graph
        self.k = k
        self.model = model
        self.preset = preset
        self.epochs = epochs
        self.settings = settings
        self.replicas = replicas
        self.random_state = random_state
        self.device = device

    def fit(self, X: Any, y: Any) -> Self:
        """Trains on the labelled rows, with all rows in the graph."""
        from dfnets import models
        from dfnets.training import TrainedModel
        from dfnets.training.fit import make_trainer
        from dfnets.training.objective import Nodes

        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        check_classification_targets(y)
        known = np.flatnonzero(y != UNLABELLED)
        if not len(known):
            raise ValueError("every y is -1, which is unlabelled: label at least one row of each class")
        self.classes_, codes = np.unique(y[known], return_inverse=True)
        labels = np.full(len(y), UNLABELLED)
        labels[known] = codes
        names = tuple(str(label) for label in self.classes_)
        self.graph_ = _training_graph(self.graph, X, self.k).with_(labels=labels, label_names=names)
        overrides = {**(self.settings or {}), **({} if self.epochs is None else {"epochs": self.epochs})}
        config = models.config(self.model, self.preset, **overrides)
        none = np.zeros(0, dtype=np.int64)
        seeds = range(self.random_state, self.random_state + self.replicas)
        nodes = [Nodes(known, validation=none, test=none)] * self.replicas
        trainer, filter = make_trainer(self.model, config, self.graph_, nodes, seeds, self.device)
        trainer.run(lambda _: None)
        sizes = trainer.model.sizes
        weights = {name: tensor.cpu() for name, tensor in trainer.weights("final").items()}
        self.model_ = TrainedModel(self.model, config, sizes, filter, weights, names, self.replicas)
        self.label_distributions_ = self.model_.predict(self.graph_, device=self.device).probabilities
        self.transduction_ = self.classes_[self.label_distributions_.argmax(axis=1)]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(rows, classes) probabilities for new rows."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        extended, shift = _attach(self.graph_, X, self.k)
        return self.model_.predict(extended, shift=shift, device=self.device).probabilities[self.graph_.num_nodes :]

    def predict(self, X: Any) -> np.ndarray:
        """(rows,) labels for new rows; those of the training rows are ``transduction_``."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class GraphFilter(TransformerMixin, BaseEstimator):
    """Filters the columns of X over a graph whose nodes are the rows of X.

    Args:
        filter: any :class:`dfnets.filters.Filter`.
        graph: a :class:`Graph` or an adjacency; None joins the rows that are given to their nearest ones.
        k: how many neighbours, for that.
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
        """Checks X; there is nothing to learn."""
        validate_data(self, X, dtype=FLOATS)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The filtered columns, (n, f)."""
        check_is_fitted(self, "n_features_in_")
        X = validate_data(self, X, dtype=FLOATS, reset=False)
        return self.filter.apply(_training_graph(self.graph, X, self.k), X, method=self.method, tol=self.tol)


def _training_graph(graph: Any, X: Any, k: int) -> Graph:
    """The given graph, or the nearest neighbours, with X as its features."""
    n = X.shape[0]
    if graph is None:
        if n < 2:
            raise ValueError(f"X has n_samples={n}, 1 sample: rows are joined to others, so at least 2 are needed")
        return neighbours(X, min(k, n - 1), name="rows of X")
    made = graph if isinstance(graph, Graph) else Graph(graph)
    if made.num_nodes != n:
        raise ValueError(f"graph has {made.num_nodes} nodes, but X has {n} rows; row i is node i")
    return made.with_(features=X)


def _attach(graph: Graph, X: Any, k: int) -> tuple[Graph, Shift]:
    """The graph with the rows of X as nodes without edges, and a shift in which they read their nearest training nodes.

    The rows of the training nodes in L^ stay as they are. Row i of the new ones is that of a node with edges of weight
    1 to its k nearest: -1 / sqrt(d_i d_j) for those, 1 - 1 / d_i on the diagonal, d_i = k + 1.
    """
    n, m = graph.num_nodes, X.shape[0]
    known: Any = graph.features
    near = NearestNeighbors(n_neighbors=min(k, n)).fit(known).kneighbors(X, return_distance=False)
    stack = sp.vstack if sp.issparse(X) else np.vstack
    extended = Graph(sp.block_diag((graph.adjacency, sp.csr_array((m, m)))), features=stack([known, X]))
    shift = copy.copy(Shift(graph))
    degree = near.shape[1] + 1
    weights = -1 / np.sqrt(degree * (graph.degrees[near.ravel()] + 1))
    ends = shift.indptr[-1] + near.shape[1] * np.arange(1, m + 1)
    shift.indptr = np.concatenate([shift.indptr, ends]).astype(shift.indptr.dtype)
    shift.indices = np.concatenate([shift.indices, near.ravel()]).astype(shift.indices.dtype)
    shift.values = np.concatenate([shift.values, weights])
    shift.diagonal = np.concatenate([shift.diagonal, np.full(m, 1 - 1 / degree)])
    return extended, shift

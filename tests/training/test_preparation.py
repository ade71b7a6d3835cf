"""Features before a model sees them: units do not matter, words are left alone, and edges make up for none."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

from dfnets import Graph
from dfnets.training.preparation import Preparation, structural_features


def graph(features: object, n: int = 50, ids: object = None) -> Graph:
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((n, n)) < 0.1, 1).astype(float)
    return Graph(upper + upper.T, features=features, node_ids=ids)  # type: ignore[arg-type]


def test_the_unit_of_a_column_does_not_matter() -> None:
    x = np.random.default_rng(0).standard_normal((50, 4))
    one, two = graph(x), graph(x * [1, 1000, 1e-6, 1] + [0, 5, 0, -3])
    made = [Preparation.learn(g).apply(g).features for g in (one, two)]
    np.testing.assert_allclose(made[0], made[1], atol=1e-9)
    np.testing.assert_allclose(np.square(made[0]).sum(axis=1).mean(), 1)


def test_a_column_that_does_not_vary_says_nothing() -> None:
    x = np.column_stack([np.random.default_rng(0).standard_normal(50), np.full(50, 7.0)])
    prepared = Preparation.learn(graph(x)).apply(graph(x)).features
    assert not prepared[:, 1].any()


def test_words_stay_as_they_are_and_become_sparse() -> None:
    words = (np.random.default_rng(0).random((50, 30)) < 0.05).astype(float)
    preparation = Preparation.learn(graph(words))
    assert not preparation.scaled
    prepared = preparation.apply(graph(words)).features
    assert sp.issparse(prepared)
    np.testing.assert_array_equal(prepared.toarray(), words)


def test_it_is_the_same_after_a_file() -> None:
    x = np.random.default_rng(0).standard_normal((50, 3))
    x[:, 2] = 1
    preparation = Preparation.learn(graph(x))
    again = Preparation.from_description(**json.loads(json.dumps(preparation.describe())))
    np.testing.assert_array_equal(again.apply(graph(x)).features, preparation.apply(graph(x)).features)


def test_what_does_not_fit_is_refused() -> None:
    x = np.random.default_rng(0).standard_normal((50, 3))
    with pytest.raises(ValueError, match="has no features, but the model was trained with"):
        Preparation.learn(graph(x)).apply(graph(None))
    with pytest.raises(ValueError, match="2 features, but the model was made for 3"):
        Preparation.learn(graph(x)).apply(graph(x[:, :2]))
    with pytest.raises(ValueError, match="trained without any"):
        Preparation.learn(graph(None)).apply(graph(x))


def test_structural_features_are_known_by_ids() -> None:
    """Nodes in another order, and a node far away more: the others keep their features."""
    ids = np.array([f"node {k}" for k in range(50)], dtype=object)
    one = graph(None, ids=ids)
    order = np.random.default_rng(1).permutation(50)
    other = Graph(one.adjacency[order][:, order], node_ids=ids[order])
    np.testing.assert_allclose(structural_features(other), structural_features(one)[order], atol=1e-9)
    grown = Graph(sp.block_diag((one.adjacency, sp.csr_array((1, 1)))), node_ids=np.append(ids, "new"))
    before, after = structural_features(one), structural_features(grown)[:50]
    degrees = before[:, -6]
    np.testing.assert_allclose(degrees, np.log1p(one.degrees))
    np.testing.assert_allclose(after[:, -6:], before[:, -6:])
    angles = (after[:, :128] * before[:, :128]).sum(axis=1)
    assert (angles > 0.95 * np.linalg.norm(after[:, :128], axis=1) * np.linalg.norm(before[:, :128], axis=1)).all()

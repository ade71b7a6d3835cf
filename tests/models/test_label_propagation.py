"""Label propagation against a dense solution of the harmonic system."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_graph

from dfnets import Graph
from dfnets.datasets.splits import Split
from dfnets.models.label_propagation import harmonic
from dfnets.training import fit

# Two triangles that one edge joins, and a node on its own.
TRIANGLES = Graph.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3], num_nodes=7, labels=[0, 0, 0, 1, 1, 1, 0])
SPLIT = Split(np.array([0, 5]), np.array([1]), np.array([2, 3, 4, 6]), "mine")


def dense(graph: Graph, known: np.ndarray, labels: np.ndarray, classes: int) -> np.ndarray:
    """(n, classes): the harmonic function with a linear solver that needs every node to reach a known one."""
    weights = graph.adjacency.toarray()
    free = np.setdiff1d(np.arange(len(weights)), known)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    values = np.zeros((len(weights), classes))
    values[known, labels] = 1
    values[free] = np.linalg.solve(laplacian[np.ix_(free, free)], weights[np.ix_(free, known)] @ values[known])
    return values


def test_harmonic_equals_a_dense_solve_on_weighted_edges() -> None:
    graph = random_graph(60, 8, 0)
    assert (graph.degrees > 0).all(), "the oracle needs a connected graph"
    known, labels = np.arange(6), np.arange(6) % 3
    expected = dense(graph, known, labels, 3)
    free = np.arange(6, 60)
    found = harmonic(graph.adjacency, free, known, np.eye(3)[labels], 1e-12)
    np.testing.assert_allclose(found, expected[free], atol=1e-10)


def test_probabilities_by_hand() -> None:
    """Without class mass normalisation they are the harmonic function, and the prior where no seed is reached."""
    result = fit("lp", TRIANGLES, protocol=SPLIT, replicas=1, class_mass=False, progress=False)
    found = result.predict().probabilities
    connected = Graph(TRIANGLES.adjacency[:6, :6])
    np.testing.assert_allclose(found[:6], dense(connected, SPLIT.train, np.array([0, 1]), 2), atol=1e-6)
    np.testing.assert_allclose(found[6], [0.5, 0.5])
    assert result.accuracy("final").mean == 100


def test_class_mass_gives_each_class_its_share() -> None:
    graph = random_graph(80, 12, 1).with_(labels=np.arange(80) % 3)
    split = Split(np.arange(10), np.arange(10, 20), np.arange(20, 80), "mine")
    result = fit("lp", graph, protocol=split, replicas=1, progress=False)
    plain = dense(graph, split.train, graph.labels[:10], 3)
    prior = np.bincount(graph.labels[:10]) / 10
    scaled = plain[10:] * prior / plain[10:].sum(axis=0)
    expected = scaled / scaled.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(result.predict().probabilities[10:], expected, atol=1e-6)


def test_replicas_of_two_splits_have_two_solutions() -> None:
    other = Split(np.array([1, 4]), np.array([0]), np.array([2, 3]), "mine")
    both = fit("lp", TRIANGLES, protocol=[SPLIT, other], replicas=2, progress=False).predict()
    for r, split in enumerate((SPLIT, other)):
        alone = fit("lp", TRIANGLES, protocol=split, replicas=1, progress=False).predict()
        np.testing.assert_array_equal(both.per_replica[r], alone.per_replica[0])


def test_it_has_no_epochs() -> None:
    with pytest.raises(ValueError, match="epochs=3: input should be 0"):
        fit("lp", TRIANGLES, protocol=SPLIT, replicas=1, epochs=3, progress=False)


def test_a_graph_without_edges_gives_the_prior() -> None:
    graph = Graph(np.zeros((4, 4)), labels=[0, 1, 0, 1])
    result = fit("lp", graph, protocol=Split(np.array([0, 1]), np.array([2]), np.array([3]), "mine"), replicas=1)
    np.testing.assert_allclose(result.predict().probabilities[2:], 0.5)

"""Graph: every bad input is refused in words, and every source gives the same matrix as a dense oracle."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from dfnets import Graph

PATH = np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]])


def damaged() -> sp.csr_array:
    matrix = sp.csr_array(PATH)
    matrix.indices[0] = 7
    return matrix


BAD_GRAPHS = {
    "rectangular": (lambda: Graph(np.ones((2, 3))), r"adjacency has shape \(2, 3\); it must be square"),
    "vector": (lambda: Graph(np.ones(3)), r"adjacency has shape \(3,\)"),
    "empty": (lambda: Graph(np.ones((0, 0))), "adjacency is empty: a Graph needs at least one node"),
    "complex": (lambda: Graph(PATH * 1j), "adjacency has entries of type complex128; weights are real"),
    "text": (lambda: Graph(np.array([["a"]])), "weights are real numbers"),
    "negative": (lambda: Graph(-PATH), r"adjacency\[0, 1\] = -1.0 \(4 such entries\).*not negative"),
    "nan": (lambda: Graph(PATH * np.nan), r"adjacency\[0, 0\] = nan"),
    "infinite": (lambda: Graph(PATH * 8e307), "sum to infinity: divide them by their largest"),
    "damaged": (lambda: Graph(damaged()), "adjacency is not a valid sparse matrix: .*indices"),
    "one direction": (
        lambda: Graph(np.triu(PATH)),
        r"not symmetric: adjacency\[1, 2\] = 2 but adjacency\[2, 1\] = 0 \(2 such pairs\); pass directed='max'",
    ),
    "directed": (lambda: Graph(PATH, directed="maybe"), "directed='maybe' is not one of 'refuse', 'max', 'mean'"),
    "few features": (lambda: Graph(PATH, features=np.ones((2, 4))), r"\(2, 4\), but the graph has 3 nodes"),
    "text features": (lambda: Graph(PATH, features=np.array(["a", "b", "c"])), "features are real numbers"),
    "nan feature": (lambda: Graph(PATH, features=np.diag([1, np.nan, 1])), r"features\[1, 1\] = nan; .*fill or drop"),
    "sparse nan feature": (
        lambda: Graph(PATH, features=sp.csr_array(np.diag([1, 1, np.inf]))),
        r"features\[2, 2\] = inf",
    ),
    "damaged features": (lambda: Graph(PATH, features=damaged()), "features is not a valid sparse matrix"),
    "few labels": (lambda: Graph(PATH, labels=[0, 1]), r"labels has shape \(2,\), but the graph has 3 nodes"),
    "half label": (lambda: Graph(PATH, labels=[0, 0.5, 1]), "labels has entries of type float64; .*whole numbers"),
    "low label": (lambda: Graph(PATH, labels=[0, -2, 1]), r"labels\[1\] = -2 is out of range"),
    "high label": (
        lambda: Graph(PATH, labels=[0, 1, 2], label_names=("a", "b")),
        r"labels\[2\] = 2 is out of range: labels run from 0 to 1 \(there are 2 label_names\)",
    ),
    "few ids": (lambda: Graph(PATH, node_ids=["a"]), r"node_ids has shape \(1,\), but the graph has 3 nodes"),
    "repeated id": (lambda: Graph(PATH, node_ids=["a", "b", "a"]), "node_ids names 'a' more than once"),
    "bare split": (lambda: Graph(PATH, splits={"mine": 3}), r"splits\['mine'\] is a int; it must be a tuple"),
    "with adjacency": (lambda: Graph(PATH).with_(adjacency=PATH), "with_.. cannot change 'adjacency'; it takes"),
    "empty networkx": (lambda: Graph.from_networkx(networkx.Graph()), "graph is empty"),
    "directed networkx": (lambda: Graph.from_networkx(networkx.DiGraph([(0, 1)])), "not symmetric"),
    "no edge_index": (lambda: Graph.from_pyg(Data(x=torch.ones(3, 1))), "data has no edge_index"),
}


@pytest.mark.parametrize("case", BAD_GRAPHS)
def test_bad_input_is_refused_in_words(case):
    make, message = BAD_GRAPHS[case]
    with pytest.raises((ValueError, TypeError), match=message):
        make()


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csr_matrix, sp.coo_array, sp.csc_array, sp.lil_array])
def test_every_matrix_kind_gives_the_same_graph(kind):
    graph = Graph(kind(PATH))
    np.testing.assert_array_equal(graph.adjacency.toarray(), PATH)
    assert graph.adjacency.has_canonical_format
    assert graph.adjacency.indices.dtype == np.int32
    assert (graph.num_nodes, graph.num_edges) == (3, 2)


def test_sources_agree_on_a_real_graph():
    karate = networkx.karate_club_graph()
    dense = networkx.to_numpy_array(karate)
    rows, columns = np.nonzero(dense)
    listed = Graph.from_edges(*np.array(karate.edges).T, [w for *_, w in karate.edges(data="weight")])
    data = Data(
        edge_index=torch.tensor(np.stack([rows, columns])),
        edge_weight=torch.tensor(dense[rows, columns]),
        x=torch.eye(34),
        y=torch.arange(34) % 2,
    )
    for graph in (Graph(dense), Graph.from_networkx(karate), listed, Graph.from_pyg(data)):
        np.testing.assert_array_equal(graph.adjacency.toarray(), dense)
    np.testing.assert_array_equal(Graph.from_pyg(data).features, np.eye(34))
    np.testing.assert_array_equal(Graph.from_pyg(data).labels, np.arange(34) % 2)


def test_pyg_weights_may_be_an_edge_attribute_and_features_sparse():
    edges = torch.tensor([[0, 1], [1, 0]])
    features = torch.eye(2)
    for sparse in (features.to_sparse(), features.to_sparse_csr()):
        graph = Graph.from_pyg(Data(edge_index=edges, edge_attr=torch.full((2, 1), 3.0), x=sparse))
        assert graph.adjacency[0, 1] == 3
        assert sp.issparse(graph.features)
        np.testing.assert_array_equal(graph.features.toarray(), np.eye(2))


def test_networkx_keeps_nodes_of_any_kind():
    graph = Graph.from_networkx(networkx.Graph([((0, 1), "b"), ("b", 3)]))
    assert graph.node_ids.tolist() == [(0, 1), "b", 3]


@pytest.mark.parametrize(("directed", "weight"), [("max", 2.0), ("mean", 1.0)])
def test_directed_is_made_undirected_as_asked(directed, weight):
    graph = Graph(np.array([[0, 2.0], [0, 0]]), directed=directed)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, weight], [weight, 0]])


def test_rounding_is_not_direction():
    graph = Graph(PATH + np.triu(PATH) * 1e-12)
    assert abs(graph.adjacency - graph.adjacency.T).max() == 0


def test_nothing_is_copied_and_nothing_of_the_callers_is_changed():
    good = sp.csr_array(PATH)
    assert np.shares_memory(Graph(good).adjacency.data, good.data)
    features = np.ones((3, 2))
    assert Graph(good, features=features).features is features
    zeros = sp.csr_array((np.array([1.0, 0, 1, 0]), np.array([1, 2, 0, 0]), np.array([0, 2, 3, 4])), shape=(3, 3))
    before = zeros.data.copy()
    assert Graph(zeros).num_edges == 1
    np.testing.assert_array_equal(zeros.data, before)


def test_with_keeps_the_checked_adjacency_and_checks_the_rest():
    graph = Graph(PATH, name="path")
    other = graph.with_(labels=[0, 1, -1], node_ids=["a", "b", "c"])
    assert other.adjacency is graph.adjacency
    assert (other.name, other.num_classes, graph.labels) == ("path", 2, None)
    with pytest.raises(ValueError, match="labels has shape"):
        graph.with_(labels=[0])

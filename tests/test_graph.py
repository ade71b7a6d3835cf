"""Graph: every bad input is refused in words, and every source gives the same matrix as a dense oracle."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import ToSparseTensor

from dfnets import Graph
from dfnets.datasets.splits import Split

PATH = np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]])
PATH_OF_FIVE = np.diag([1.0, 2, 1, 0.5], 1) + np.diag([1.0, 2, 1, 0.5], -1)


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
    "no edge_index": (lambda: Graph.from_pyg(Data(x=torch.ones(3, 1))), "data has no edge_index and no adj_t"),
    "several labels": (
        lambda: Graph.from_pyg(Graph(PATH).to_pyg().update({"y": torch.ones(3, 2)})),
        r"data.y has shape \(3, 2\), several labels per node",
    ),
    "names without features": (lambda: Graph(PATH, feature_names=["a"]), "has 1 names, but the graph has no features"),
    "few names": (lambda: Graph(PATH, features=PATH, feature_names=["a"]), "has 1 names, but features has 3 columns"),
    "repeated name": (lambda: Graph(PATH, features=PATH, feature_names=list("aba")), "has 'a' more than once"),
    "few coordinates": (lambda: Graph(PATH, coordinates=np.ones((2, 2))), r"coordinates has shape \(2, 2\).*\(3, d\)"),
    "text coordinates": (lambda: Graph(PATH, coordinates=[["a"]] * 3), "coordinates are real numbers"),
    "nan coordinate": (lambda: Graph(PATH, coordinates=[[0, 0], [0, np.nan], [1, 1]]), r"coordinates\[1, 1\] = nan"),
    "no such protocol": (lambda: Graph(PATH).to_pyg("planetoid"), "protocol='planetoid': the graph has splits of none"),
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


def test_to_pyg_and_back_is_the_same_graph():
    rng = np.random.default_rng(0)
    splits = tuple(Split([draw], [4], [2, 3], "masks", draw) for draw in (0, 1))
    graph = Graph(
        *(PATH_OF_FIVE, sp.random_array((5, 7), density=0.3, rng=rng, format="csr", dtype=np.float32)),
        labels=[0, 1, 1, 0, -1],
        coordinates=rng.random((5, 2)).astype(np.float32),
        splits={"masks": splits},
    )
    data = graph.to_pyg()
    assert data.is_undirected()
    assert data.train_mask.shape == (5, 2)
    back = Graph.from_pyg(data)
    np.testing.assert_array_equal(back.adjacency.toarray(), PATH_OF_FIVE)
    np.testing.assert_array_equal(back.features.toarray(), graph.features.toarray())
    np.testing.assert_array_equal(back.labels, graph.labels)
    np.testing.assert_array_equal(back.coordinates, graph.coordinates)
    assert [split.fingerprint for split in back.splits["masks"]] == [split.fingerprint for split in splits]
    assert [split.train.tolist() for split in back.splits["masks"]] == [[0], [1]]


def test_pyg_masks_of_one_column_belong_to_every_draw():
    data = Graph(PATH).to_pyg()
    data.train_mask = torch.tensor([[True, False], [False, True], [False, False]])
    data.test_mask = torch.tensor([False, False, True])
    splits = Graph.from_pyg(data).splits["masks"]
    assert [(s.train.tolist(), s.validation.tolist(), s.test.tolist()) for s in splits] == [
        ([0], [], [2]),
        ([1], [], [2]),
    ]
    del data.test_mask
    assert Graph.from_pyg(data).splits == {}


def test_pyg_takes_a_transposed_adjacency():
    data = Graph(PATH).to_pyg()
    transposed = ToSparseTensor(attr="edge_weight", layout=torch.sparse_csr)(data)
    assert "edge_index" not in transposed
    np.testing.assert_array_equal(Graph.from_pyg(transposed).adjacency.toarray(), PATH)


def test_to_networkx_and_back_is_the_same_graph():
    karate = networkx.karate_club_graph()
    graph = Graph.from_networkx(karate, labels=[k % 2 for k in karate], label_names=("even", "odd"))
    made = graph.with_(node_ids=[f"n{k}" for k in karate], coordinates=np.ones((34, 2))).to_networkx()
    expected = networkx.relabel_nodes(karate, {k: f"n{k}" for k in karate})
    assert networkx.utils.edges_equal(made.edges(data="weight"), expected.edges(data="weight"))
    assert made.nodes["n3"] == {"label": "odd", "pos": [1.0, 1.0]}
    np.testing.assert_array_equal(Graph.from_networkx(made).adjacency.toarray(), graph.adjacency.toarray())


def test_to_scipy_is_a_copy():
    graph = Graph(PATH)
    matrix = graph.to_scipy()
    matrix.data[:] = 9
    np.testing.assert_array_equal(graph.adjacency.toarray(), PATH)


def test_other_features_are_without_the_names_of_the_old():
    graph = Graph(PATH, features=PATH, feature_names=("a", "b", "c"))
    assert graph.with_(labels=[0, 1, 0]).feature_names == ("a", "b", "c")
    assert graph.with_(features=np.ones((3, 1))).feature_names is None


def test_a_notebook_shows_a_table_in_which_names_are_text():
    graph = Graph(PATH, features=PATH, labels=[0, 1, -1], name="<script>")
    assert repr(graph) == "Graph('<script>', nodes=3, edges=2, features=3, classes=2, labelled=2)"
    shown = graph._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert "<th>labels</th><td>2 of 2 classes</td>" in shown


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

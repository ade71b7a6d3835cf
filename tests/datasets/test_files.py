"""A person's files: every format gives the same graph, and every mistake is named where it stands."""

import networkx
import numpy as np
import pandas
import pytest
import scipy.sparse as sp

from dfnets.datasets.files import read_graph
from dfnets.graph import Graph

EDGES = [("paul", "anna", 2.0), ("anna", "zoë", 0.5), ("x, y", "paul", 1.0)]
IDS = ["paul", "anna", "zoë", "x, y"]
DENSE = np.array([[0, 2, 0, 1], [2, 0, 0.5, 0], [0, 0.5, 0, 0], [1, 0, 0, 0]])


def edge_file(folder, suffix):
    path = folder / f"edges.{suffix}"
    frame = pandas.DataFrame(EDGES, columns=["from", "to", "weight"])
    if suffix == "parquet":
        frame.to_parquet(path)
    elif suffix == "graphml":
        graph = networkx.Graph()
        graph.add_weighted_edges_from(EDGES)
        networkx.write_graphml(graph, path)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    return path


@pytest.fixture
def edges(tmp_path):
    return edge_file(tmp_path, "csv")


def text_file(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "graphml"])
def test_edges_with_ids(tmp_path, suffix):
    graph = read_graph(edge_file(tmp_path, suffix))
    assert graph.name == "edges"
    assert graph.node_ids.tolist() == IDS
    np.testing.assert_array_equal(graph.adjacency.toarray(), DENSE)


def test_features_list_the_nodes_of_a_graph_without_edges(tmp_path):
    edges = text_file(tmp_path, "edges.csv", "a,b\n")
    graph = read_graph(edges, text_file(tmp_path, "x.csv", "id,x\nu,1\nv,2\n"))
    assert (graph.num_nodes, graph.num_edges, graph.node_ids.tolist()) == (2, 0, ["u", "v"])


def test_columns_by_name(tmp_path):
    path = text_file(tmp_path, "edges.csv", "cost,kind,b,a\n3,road,u,v\n4,rail,v,w\n")
    graph = read_graph(path, source="a", target="b", weight="cost", name="roads")
    assert (graph.name, graph.node_ids.tolist()) == ("roads", ["v", "u", "w"])
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 3, 4], [3, 0, 0], [4, 0, 0]])
    assert set(read_graph(path, source="a", target="b").adjacency.data) == {1.0}


def test_no_header(tmp_path):
    graph = read_graph(text_file(tmp_path, "edges.tsv", "0\t1\t2.5\n1\t2\t1\n"), header=False)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 2.5, 0], [2.5, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize("save", [sp.csr_array, sp.coo_array, sp.csc_matrix])
def test_an_adjacency_of_scipy(tmp_path, save):
    sp.save_npz(tmp_path / "adjacency.npz", save(DENSE))
    graph = read_graph(tmp_path / "adjacency.npz")
    np.testing.assert_array_equal(graph.adjacency.toarray(), DENSE)
    assert graph.node_ids is None


def test_a_whole_graph(shared, tmp_path):
    np.savez(tmp_path / "texas.npz", **shared("extra/texas"))
    graph = read_graph(tmp_path / "texas.npz")
    assert (graph.name, graph.num_edges, graph.num_classes) == ("texas", 279, 5)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_rows_of_features_are_the_nodes(tmp_path, edges, suffix):
    path = tmp_path / f"x.{suffix}"
    frame = pandas.DataFrame({"id": ["zoë", "alone", *IDS[:2], IDS[3]], "one": [3, 9, 1, 2, 4], "two": [0.5] * 5})
    if suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    graph = read_graph(edges, path)
    assert graph.node_ids.tolist() == frame["id"].tolist()
    np.testing.assert_array_equal(graph.features, frame[["one", "two"]])
    order = [frame["id"].tolist().index(name) for name in IDS]
    np.testing.assert_array_equal(graph.adjacency.toarray()[np.ix_(order, order)], DENSE)
    assert graph.degrees[1] == 0


@pytest.mark.parametrize("kind", ["npy", "dense npz", "sparse npz"])
def test_features_without_ids_are_for_numbered_nodes(tmp_path, kind):
    edges = text_file(tmp_path, "edges.csv", "a,b\n3,0\n0,1\n")
    features = np.arange(8.0).reshape(4, 2)
    path = tmp_path / f"x.{kind[-3:]}"
    if kind == "npy":
        np.save(path, features)
    elif kind == "dense npz":
        np.savez(path, features)
    else:
        sp.save_npz(path, sp.csr_array(features))
    graph = read_graph(edges, path)
    assert graph.node_ids is None
    assert sp.issparse(graph.features) == (kind == "sparse npz")
    stored = graph.features.toarray() if sp.issparse(graph.features) else graph.features
    np.testing.assert_array_equal(stored, features)
    np.testing.assert_array_equal(np.argwhere(np.triu(graph.adjacency.toarray())), [[0, 1], [0, 3]])


def test_ids_of_features_find_the_rows_of_a_matrix(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(DENSE))
    features = text_file(tmp_path, "x.csv", "id,x\n2,20\n0,0\n3,30\n1,10\n")
    np.testing.assert_array_equal(read_graph(tmp_path / "a.npz", features).features, [[0], [10], [20], [30]])


def test_labels_with_gaps(tmp_path, edges):
    labels = text_file(tmp_path, "y.csv", "id,class\nzoë,red\npaul,blue\nanna,\n")
    graph = read_graph(edges, labels=labels)
    assert graph.label_names == ("blue", "red")
    assert graph.labels.tolist() == [0, -1, 1, -1]


def test_labels_that_are_numbers_keep_their_order(tmp_path, edges):
    labels = text_file(tmp_path, "y.csv", "id,class\nzoë,10.0\npaul,9.0\nanna,NaN\n")
    graph = read_graph(edges, labels=labels)
    assert (graph.label_names, graph.labels.tolist()) == (("9.0", "10.0"), [0, -1, 1, -1])


def test_minus_one_is_unknown_unless_said(tmp_path, edges):
    labels = text_file(tmp_path, "y.csv", "id,class\nzoë,-1\npaul,1\n")
    assert read_graph(edges, labels=labels).labels.tolist() == [0, -1, -1, -1]
    assert read_graph(edges, labels=labels, unknown=("",)).label_names == ("-1", "1")


def test_one_table_of_nodes(tmp_path, edges):
    rows = "".join(f'{k},{"red" if k % 2 else ""},"{name}"\n' for k, name in enumerate(IDS))
    nodes = text_file(tmp_path, "nodes.csv", "x,class,name\n" + rows)
    graph = read_graph(edges, nodes, nodes, id="name", label="class")
    np.testing.assert_array_equal(graph.features, [[0], [1], [2], [3]])
    assert graph.labels.tolist() == [-1, 0, -1, 0]


def test_parquet_labels_may_be_null(tmp_path, edges):
    pandas.DataFrame({"id": ["anna", "paul"], "y": [None, 3]}).astype({"y": "Int64"}).to_parquet(tmp_path / "y.parquet")
    graph = read_graph(edges, labels=tmp_path / "y.parquet")
    assert (graph.labels.tolist(), graph.label_names) == ([0, -1, -1, -1], ("3",))


def test_duplicates_are_merged_as_asked(tmp_path):
    path = text_file(tmp_path, "edges.csv", "a,b,weight\nu,v,1\nv,u,3\nu,v,1\n")
    assert read_graph(path, duplicates="sum").adjacency[0, 1] == 5
    assert read_graph(path, duplicates="max").adjacency[0, 1] == 3


def test_directed_graphml_is_refused_or_made_undirected(tmp_path):
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 2), ("b", "a", 1), ("b", "c", 1)])
    path = tmp_path / "graph.graphml"
    networkx.write_graphml(graph, path)
    with pytest.raises(ValueError, match=r"graph\.graphml: adjacency is not symmetric.*pass directed='max'"):
        read_graph(path)
    np.testing.assert_array_equal(
        read_graph(path, directed="max").adjacency.toarray(), [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    )


def test_against_the_edge_list_in_memory(tmp_path):
    """The same order of nodes, and the same matrix, as :meth:`Graph.from_edges` on the Python lists."""
    rng = np.random.default_rng(0)
    sources, targets = rng.integers(0, 900, (2, 5000))
    names = np.array([f"n{k}é" if k % 3 else f"{k}" for k in rng.permutation(900)], dtype=object)
    weights = rng.uniform(0.1, 3, 5000)
    path = tmp_path / "edges.csv"
    pandas.DataFrame({"a": names[sources], "b": names[targets], "weight": weights}).to_csv(path, index=False)
    expected = Graph.from_edges(names[sources], names[targets], weights, duplicates="mean")
    graph = read_graph(path, duplicates="mean")
    assert graph.node_ids.tolist() == expected.node_ids.tolist()
    assert abs(graph.adjacency - expected.adjacency).max() < 1e-14


EDGE_LINES = "a,b,weight\nu,v,1\nv,w,2\n"
BAD_FILES = {
    "one column": ({"edges.csv": "a;b\nu;v\n"}, r"edges\.csv: it has one column, 'a;b'; .*separated by commas"),
    "one tab column": ({"edges.tsv": "a b\nu v\n"}, r"edges\.tsv: it has one column.*separated by tabs"),
    "no id": ({"edges.csv": "a,b\nu,v\n,w\n"}, r"edges\.csv, line 3, column 'a': '' is no id: every row needs one"),
    "negative": ({"edges.csv": EDGE_LINES + "u,w,-3\n"}, r"edges\.csv, line 4, column 'weight': '-3' is no weight"),
    "no weight": ({"edges.csv": EDGE_LINES + "u,w,\n"}, r"edges\.csv, line 4, column 'weight': '' is no weight"),
    "infinite": ({"edges.csv": EDGE_LINES + "u,w,inf\n"}, r"line 4, column 'weight': 'inf' is no weight: .*finite"),
    "not a number": ({"edges.csv": EDGE_LINES + "u,w,much\n"}, r"line 4, column 'weight': 'much' is not a number"),
    "ragged": ({"edges.csv": EDGE_LINES + "u,w\n"}, r"edges\.csv, line 4: it has 2 columns, but the file has 3"),
    "conflict": (
        {"edges.csv": EDGE_LINES + "u,w,1\nv,u,7\n"},
        r"edges\.csv, line 2 and line 5: the edge between 'u' and 'v' is listed with weights 1 and 7 .*duplicates=",
    ),
    "no header": ({"edges.csv": "u,v\nv,w\nw,u\n"}, r"edges\.csv: its first line is an edge .* pass header=False"),
    "no rows": ({"edges.csv": "a,b\n"}, r"edges\.csv: it has no edges, and there are no features that would list"),
    "node without features": (
        {"edges.csv": EDGE_LINES, "x.csv": "id,x\nu,1\nv,2\n"},
        r"edges\.csv, line 3, column 'b': 'w' is not a row of .*x\.csv",
    ),
    "repeated features": (
        {"edges.csv": EDGE_LINES, "x.csv": "id,x\nu,1\nv,2\nu,2\n"},
        r"x\.csv, line 4, column 'id': 'u' stands in an earlier row too",
    ),
    "missing feature": (
        {"edges.csv": EDGE_LINES, "x.csv": "id,x,y\nu,1,1\nv,2,\nw,2,2\n"},
        r"x\.csv, line 3, column 'y': '' is no feature: features are finite numbers",
    ),
    "text feature": (
        {"edges.csv": EDGE_LINES, "x.csv": "id,x\nu,1\nv,tall\nw,2\n"},
        r"x\.csv, line 3, column 'x': 'tall' is not a number",
    ),
    "label of no node": (
        {"edges.csv": EDGE_LINES, "y.csv": "id,y\nu,1\nq,2\n"},
        r"y\.csv, line 3, column 'id': 'q' is not a node of .*edges\.csv",
    ),
    "two labels": (
        {"edges.csv": EDGE_LINES, "y.csv": "id,y\nu,1\nu,1\n"},
        r"y\.csv, line 3, column 'id': 'u' stands in an earlier row too",
    ),
    "no label column": ({"edges.csv": EDGE_LINES, "y.csv": "id\nu\n"}, r"y\.csv: it has no column 2 to be the label"),
    "undeclared node": (
        {
            "edges.graphml": '<graphml><graph><node id="a"/>\n<edge source="a" target="b"/></graph></graphml>',
        },
        r"edges\.graphml, line 2: 'b' is not a node of the file",
    ),
    "repeated node": (
        {"edges.graphml": '<graphml><graph><node id="a"/><node id="a"/></graph></graphml>'},
        r"edges\.graphml: node_ids names 'a' more than once",
    ),
    "other suffix": ({"edges.xlsx": ""}, r"edges\.xlsx: a table ends in \.csv, \.tsv or \.parquet"),
    "damaged npz": ({"edges.npz": "PK"}, r"edges\.npz is not an \.npz file of plain arrays"),
    "damaged npy": ({"edges.csv": EDGE_LINES, "x.npy": "?"}, r"x\.npy is not a plain \.npy array"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_what_is_wrong_is_named_where_it_stands(tmp_path, case):
    files, message = BAD_FILES[case]
    paths = {name[0]: text_file(tmp_path, name, content) for name, content in files.items()}
    with pytest.raises(ValueError, match=message):
        read_graph(paths["e"], paths.get("x"), paths.get("y"))


def test_wrong_columns_and_arrays(tmp_path, edges):
    with pytest.raises(ValueError, match=r"source='start': .*edges\.csv has no such column; it has from, to, weight"):
        read_graph(edges, source="start")
    np.save(tmp_path / "x.npy", np.ones((4, 2)))
    with pytest.raises(ValueError, match=r"line 2, column 'from': 'paul' is not a row of .*x\.npy, .*numbered 0 to 3"):
        read_graph(edges, tmp_path / "x.npy")
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(DENSE))
    np.save(tmp_path / "x.npy", np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"x\.npy has 3 rows, but .*a\.npz has 4 nodes"):
        read_graph(tmp_path / "a.npz", tmp_path / "x.npy")
    features = text_file(tmp_path, "x.csv", "id,x\n0,1\n1,1\n2,1\n9,1\n")
    with pytest.raises(ValueError, match=r"node 3 of .*a\.npz has no row in .*x\.csv"):
        read_graph(tmp_path / "a.npz", features)
    np.savez(tmp_path / "two.npz", a=np.ones(2), b=np.ones(2))
    with pytest.raises(ValueError, match=r"two\.npz: it holds 2 arrays \(a, b\); features are one array"):
        read_graph(edges, tmp_path / "two.npz")
    with pytest.raises(ValueError, match=r"two\.npz: it holds a, b; edges in an \.npz are an adjacency"):
        read_graph(tmp_path / "two.npz")
    np.save(tmp_path / "x.npy", np.ones((4, 2, 2)))
    with pytest.raises(ValueError, match=r"x\.npy: its array has shape \(4, 2, 2\); features are one row a node"):
        read_graph(tmp_path / "a.npz", tmp_path / "x.npy")
    damaged = sp.csc_array(DENSE)
    damaged.indices[0] = 9
    sp.save_npz(tmp_path / "x.npz", damaged)
    with pytest.raises(ValueError, match=r"x\.npz: it has an entry in column 9"):
        read_graph(tmp_path / "a.npz", tmp_path / "x.npz")
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(np.triu(DENSE)))
    with pytest.raises(ValueError, match=r"a\.npz: adjacency is not symmetric"):
        read_graph(tmp_path / "a.npz")
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        read_graph(tmp_path / "none.csv")

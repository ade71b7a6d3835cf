"""A person's files: every format gives the same graph, and every mistake is named where it stands."""

import json

import networkx
import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

from dfnets.datasets.files import read, read_graph
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
    assert read_graph(edges, labels=labels, missing=("",)).label_names == ("-1", "1")


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


def test_integers_from_0_are_rows(tmp_path):
    """Whatever the order of the file; a signal without ids belongs to them."""
    edges = text_file(tmp_path, "edges.csv", "3,1\n1,0\n0,2\n")
    graph = read_graph(edges)
    assert graph.node_ids is None
    np.testing.assert_array_equal(np.argwhere(np.triu(graph.adjacency.toarray())), [[0, 1], [0, 2], [1, 3]])
    features = text_file(tmp_path, "x.csv", "id,x\n2,20\n0,0\n3,30\n1,10\n")
    graph = read_graph(edges, features)
    assert graph.node_ids is None
    np.testing.assert_array_equal(graph.features, [[0], [10], [20], [30]])
    np.save(tmp_path / "x.npy", np.arange(10.0)[:, None])
    assert read_graph(edges, tmp_path / "x.npy").num_nodes == 10


@pytest.mark.parametrize(
    ("ids", "kept"),
    [
        (("7", "5", "9"), [5, 7, 9]),
        (("07", "5", "9"), ["07", "5", "9"]),
        (("1.0", "2", "3"), ["1.0", "2", "3"]),
        (("1", " 2 ", "3"), [1, 2, 3]),
        (("-4", "-2", "0"), [-4, -2, 0]),
    ],
)
def test_ids_are_integers_only_if_all_are_plain(tmp_path, ids, kept):
    one, two, three = ids
    graph = read_graph(text_file(tmp_path, "edges.csv", f"source,target\n{one},{two}\n{two},{three}\n"))
    assert graph.node_ids.tolist() == kept


def test_what_gephi_writes(tmp_path):
    edges = text_file(
        tmp_path,
        "edges.csv",
        "Source,Target,Type,Id,Label,timeset,Weight\nb,a,Undirected,0,,,2.5\na,c,Undirected,1,,,4\n",
    )
    done = read(edges, labels=text_file(tmp_path, "nodes.csv", "Id,Label,timeset\na,red,\nb,blue,\n"))
    assert done.summary == "3 nodes, 2 edges, 2 labels, 2 classes (column Label), weights: column Weight"
    assert done.notes[0] == "edges.csv: columns not used: Type, Id, Label, timeset"
    np.testing.assert_array_equal(done.graph.adjacency.toarray(), [[0, 2.5, 0], [2.5, 0, 4], [0, 4, 0]])


def test_labels_without_a_header_keep_their_first(tmp_path, edges):
    labels = text_file(tmp_path, "y.csv", "paul,rouge \nanna,rouge\nzoë,?\n")
    done = read(edges, labels=labels)
    assert (done.graph.label_names, done.graph.labels.tolist()) == (("rouge",), [0, 0, -1, -1])
    assert "1 label is missing ('?'): to be predicted" in done.notes


def test_edges_without_a_header_keep_their_first(tmp_path):
    graph = read_graph(text_file(tmp_path, "edges.csv", "u,v\nv,w\nw,u\n"))
    assert graph.num_edges == 3
    edges = text_file(tmp_path, "two.csv", "u,v\nw,x\n")
    assert read_graph(edges).num_edges == 1  # nothing says that u and v are nodes
    nodes = text_file(tmp_path, "x.csv", "id,age\nu,1\nv,2\nw,3\nx,4\n")
    assert read_graph(edges, nodes).num_edges == 2
    assert read_graph(edges, header=False).num_edges == 2


def test_words_that_columns_are_called_by_may_be_nodes(tmp_path):
    """A network of words, and one of the steps of a process."""
    assert read_graph(text_file(tmp_path, "words.csv", "to,be\nbe,or\nto,not\n")).num_edges == 3
    assert read_graph(text_file(tmp_path, "steps.csv", "start,a\na,b\nb,end\n")).num_edges == 3
    timed = read(text_file(tmp_path, "timed.csv", "person,friend,start,end\nu,v,1,2\nv,w,2,3\n"))
    assert timed.graph.node_ids.tolist() == ["u", "v", "w"]
    nodes = text_file(tmp_path, "nodes.csv", "user,name,age\nu,Ann,1\nv,Bob,2\nw,Ann,3\n")
    graph = read(tmp_path / "timed.csv", nodes).graph
    assert (graph.node_ids.tolist(), graph.feature_names) == (["u", "v", "w"], ("name=Ann", "name=Bob", "age"))


def test_nodes_that_are_in_one_file_only(tmp_path):
    edges = text_file(tmp_path, "edges.csv", "a,b,weight\nu,v,1\nv,w,2\nv,u,1\n")
    labels = text_file(tmp_path, "y.csv", "id,y\nu,1\nz,2\n")
    done = read(edges, labels=labels)
    assert done.graph.node_ids.tolist() == ["u", "v", "w", "z"]
    assert "1 node only in y.csv: without edges" in done.notes
    features = text_file(tmp_path, "x.csv", "id,x\nu,1\nv,2\nalone,3\n")
    with pytest.warns(UserWarning, match="left out") as caught:
        graph = read_graph(edges, features, labels)
    assert [str(one.message) for one in caught] == [
        "1 edge left out: an end is not a row of x.csv",
        "1 label of y.csv left out: no node has such an id",
    ]
    assert (graph.node_ids.tolist(), graph.num_edges) == (["u", "v", "alone"], 1)
    with pytest.raises(ValueError, match=r"edges\.csv, line 3, column 'b': 'w' is not a row of"):
        read_graph(edges, features, unmatched="refuse")


def test_categories_gaps_and_coordinates(tmp_path, edges):
    nodes = text_file(
        tmp_path,
        "nodes.csv",
        'name,lat,lon,age,town,kind\npaul,1,2,30,Ulm,a\nanna,2,2,,Oslo,b\nzoë,3,1,50,Ulm,\n"x, y",0,0,70,NA,a\n',
    )
    done = read(edges, nodes, nodes, label="kind", coordinates=["lat", "lon"])
    graph = done.graph
    assert graph.feature_names == ("age", "town=Oslo", "town=Ulm")
    np.testing.assert_array_equal(graph.features, [[30, 0, 1], [50, 1, 0], [50, 0, 1], [70, 0, 0]])
    np.testing.assert_array_equal(graph.coordinates, [[1, 2], [2, 2], [3, 1], [0, 0]])
    assert graph.labels.tolist() == [0, 1, -1, 0]
    assert "missing numbers in 1 column filled with the median (age: 1 with 50)" in done.notes
    other = text_file(tmp_path, "other.csv", 'name,town,age\npaul,Bern,\nanna,Ulm,1\nzoë,Ulm,2\n"x, y",Ulm,3\n')
    again = read(edges, other, encoder=graph.encoder)
    assert again.graph.feature_names == graph.feature_names
    np.testing.assert_array_equal(again.graph.features, [[50, 0, 0], [1, 0, 1], [2, 0, 1], [3, 0, 1]])
    with pytest.raises(ValueError, match=r"nodes\.csv: the features have 3 columns that the model does not know"):
        read(edges, nodes, encoder=graph.encoder)


def test_text_and_gaps_are_refused_when_asked(tmp_path, edges):
    nodes = text_file(tmp_path, "nodes.csv", 'id,age,town\npaul,30,Ulm\nanna,,Ulm\nzoë,5,Ulm\n"x, y",6,Ulm\n')
    with pytest.raises(ValueError, match=r"nodes\.csv, column 'town': it holds text, not numbers; --ignore town"):
        read(edges, nodes, encode=False)
    with pytest.raises(ValueError, match=r"nodes\.csv, line 3, column 'age': '' is no feature"):
        read(edges, nodes, encode=False, ignore=["town"])


def test_mostly_zero_features_are_sparse(tmp_path):
    rng = np.random.default_rng(0)
    dense = (rng.random((100, 40)) < 0.05) * rng.integers(1, 4, (100, 40))
    frame = pandas.DataFrame(dense, columns=[f"w{k}" for k in range(40)])
    frame.insert(0, "id", range(100))
    frame.to_csv(tmp_path / "x.csv", index=False)
    edges = text_file(tmp_path, "edges.csv", "0,1\n1,2\n")
    wide = read(edges, tmp_path / "x.csv")
    assert isinstance(wide.graph.features, sp.csr_array)
    assert f"40 features (sparse, {np.count_nonzero(dense) / 4000:.1%} not zero)" in wide.summary
    np.testing.assert_array_equal(wide.graph.features.toarray(), dense)
    long = frame.melt("id", var_name="feature")
    long = pandas.concat([long[long["value"] != 0], pandas.DataFrame({"id": range(100), "feature": "w0", "value": 0})])
    long.drop_duplicates(["id", "feature"]).to_csv(tmp_path / "long.csv", index=False)
    graph = read_graph(edges, tmp_path / "long.csv")
    order = [wide.graph.feature_names.index(name) for name in graph.feature_names]
    np.testing.assert_array_equal(graph.features.toarray(), dense[:, order])
    # Features that no row of another file names are 0 there, and those that training did not see are left out.
    other = text_file(tmp_path, "other.csv", "id,word,count\n" + "".join(f"{k},w3,{k}\n{k},new,1\n" for k in range(5)))
    again = read(edges, other, encoder=graph.encoder)
    assert again.graph.feature_names == graph.feature_names
    assert again.graph.features.toarray()[:, graph.feature_names.index("w3")].tolist() == [0, 1, 2, 3, 4]
    assert again.graph.features.sum() == 10
    assert "1 features that training did not see are left out (the first: 'new')" in again.notes


def test_npz_with_ids_and_names(tmp_path, edges):
    matrix = sp.csr_array(np.arange(8.0).reshape(4, 2))
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
    np.savez(tmp_path / "x.npz", format="csr", ids=IDS[::-1], feature_names=["one", "two"], **parts)
    graph = read_graph(edges, tmp_path / "x.npz")
    assert (graph.node_ids.tolist(), graph.feature_names) == (IDS[::-1], ("one", "two"))
    np.testing.assert_array_equal(graph.features.toarray(), matrix.toarray())
    np.savez(tmp_path / "x.npz", np.ones((4, 1)), ids=["a", "b", "a", "c"])
    with pytest.raises(ValueError, match=r"x\.npz: ids has 'a' more than once"):
        read_graph(edges, tmp_path / "x.npz")
    np.savez(tmp_path / "x.npz", np.ones((4, 1)), ids=["a", "b"])
    with pytest.raises(ValueError, match=r"x\.npz: ids has shape \(2,\), but there are 4 rows"):
        read_graph(edges, tmp_path / "x.npz")


def test_json_lines_matrix_market_and_excel(tmp_path):
    lines = "".join(json.dumps({"from": a, "to": b, "weight": w}) + "\n" for a, b, w in EDGES)
    graph = read_graph(text_file(tmp_path, "edges.jsonl", lines))
    np.testing.assert_array_equal(graph.adjacency.toarray(), DENSE)
    mmwrite(tmp_path / "a.mtx", sp.coo_array(DENSE))
    np.testing.assert_array_equal(read_graph(tmp_path / "a.mtx").adjacency.toarray(), DENSE)
    pytest.importorskip("openpyxl")
    pandas.DataFrame(EDGES, columns=["From", "To", "Weight"]).to_excel(tmp_path / "e.xlsx", index=False)
    graph = read_graph(tmp_path / "e.xlsx")
    assert graph.node_ids.tolist() == IDS
    np.testing.assert_array_equal(graph.adjacency.toarray(), DENSE)


def test_without_openpyxl_a_sheet_is_to_be_saved_as_csv(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ValueError, match=r"e\.xlsx: reading \.xlsx needs openpyxl .*or save the sheet as CSV"):
        read_graph(text_file(tmp_path, "e.xlsx", ""))


EDGE_LINES = "a,b,weight\nu,v,1\nv,w,2\n"
BAD_FILES = {
    "one column": ({"edges.csv": "a:b\nu:v\n"}, r"edges\.csv: it has one column, 'a:b'; .*--separator"),
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
    "no rows": ({"edges.csv": "a,b\n"}, r"edges\.csv: it has no edges, and there are no features that would list"),
    "other ids in the features": (
        {"edges.csv": EDGE_LINES, "x.csv": "id,x\nU,1\nV,2\n"},
        r"edges\.csv, line 2, column 'a': 'u' is not a row of .*x\.csv \(100% of the edges have such an end\)",
    ),
    "other ids in the labels": (
        {"edges.csv": EDGE_LINES, "x.csv": "id,x\nu,1\nv,2\nw,1\n", "y.csv": "id,y\nU,1\nV,2\nw,1\n"},
        r"y\.csv, line 2, column 'id': 'U' is not a node of the graph \(67% of the labels belong to none\)",
    ),
    "repeated features": (
        {"edges.csv": EDGE_LINES, "x.csv": "id,x\nu,1\nv,2\nu,2\n"},
        r"x\.csv, line 4, column 'id': 'u' stands in an earlier row too",
    ),
    "infinite feature": (
        {"edges.csv": EDGE_LINES, "x.csv": "id,x,y\nu,1,1\nv,2,inf\nw,2,2\n"},
        r"x\.csv, line 3, column 'y': 'inf' is no feature: features are finite numbers",
    ),
    "thousands": (
        {"edges.csv": EDGE_LINES, "x.csv": 'id,x\nu,"1,234.5"\nv,2\nw,2\n'},
        r"x\.csv, line 2, column 'x': '1,234\.5' has thousands separators",
    ),
    "text feature": (
        {"edges.csv": EDGE_LINES, "x.csv": "id,x\nu,1\nv,tall\nw,2\n"},
        r"x\.csv, line 3, column 'x': 'tall' is not a number; if it stands for none, say --missing tall",
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
    "other suffix": ({"edges.doc": ""}, r"edges\.doc: a table ends in \.csv, .* not in '\.doc'"),
    "pickle": (
        {"edges.gpickle": ""},
        r"edges\.gpickle is a pickle, .* networkx\.write_graphml\(graph, 'edges\.graphml'\)",
    ),
    "other graph": (
        {"edges.gexf": ""},
        r"\.gexf is not read; convert it with networkx\.write_graphml\(networkx\.read_gexf",
    ),
    "json": ({"edges.json": "[]"}, r"write one object per line, as \.jsonl"),
    "json lines": ({"edges.jsonl": "{"}, r"edges\.jsonl is not a file of one JSON object per line"),
    "nested": (
        {"edges.jsonl": '{"source": [1], "target": 2}'},
        r"column 'source': it holds list<.*; a cell is a text or",
    ),
    "old sheet": ({"edges.xls": ""}, r"edges\.xls: \.xls is not read; save the sheet as CSV"),
    "damaged sheet": ({"edges.xlsx": "?"}, r"edges\.xlsx is not a readable \.xlsx file|save the sheet as CSV"),
    "damaged gzip": ({"edges.csv.gz": "\x1f\x8b"}, r"edges\.csv\.gz"),
    "damaged mtx": ({"edges.mtx": "?"}, r"edges\.mtx is not a readable Matrix Market file: its first line is not"),
    "encoding": (
        {"edges.graphml": '<?xml version="1.0" encoding="klingon"?><graphml/>'},
        r"edges\.graphml.*klingon|unknown",
    ),
    "repeated name": ({"edges.csv": "a,a\nu,v\n"}, r"edges\.csv, line 1 names column 'a' more than once"),
    "long repeated": (
        {"edges.csv": EDGE_LINES, "x.csv": "id,feature,value\nu,a,1\nu,b,2\nu,a,2\n"},
        r"x\.csv, line 4, column 'feature': 'a' stands in an earlier row of the same node too",
    ),
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
    with pytest.raises(ValueError, match=r"x\.npy: it has 3 rows, but .*a\.npz has 4 nodes"):
        read_graph(tmp_path / "a.npz", tmp_path / "x.npy")
    features = text_file(tmp_path, "x.csv", "id,x\n0,1\n1,1\n2,1\n9,1\n")
    with pytest.raises(ValueError, match=r"x\.csv: node 3 of .*a\.npz has no row"):
        read_graph(tmp_path / "a.npz", features)
    np.savez(tmp_path / "two.npz", a=np.ones(2), b=np.ones(2))
    with pytest.raises(ValueError, match=r"two\.npz: it holds 2 arrays \(a, b\); features are one array"):
        read_graph(edges, tmp_path / "two.npz")
    with pytest.raises(ValueError, match=r"two\.npz: it holds a, b; edges in an \.npz are an adjacency"):
        read_graph(tmp_path / "two.npz")
    np.save(tmp_path / "x.npy", np.ones((4, 2, 2)))
    with pytest.raises(ValueError, match=r"x\.npy: its array has shape \(4, 2, 2\); features are one row per node"):
        read_graph(tmp_path / "a.npz", tmp_path / "x.npy")
    damaged = sp.csc_array(DENSE)
    damaged.indices[0] = 9
    sp.save_npz(tmp_path / "x.npz", damaged)
    with pytest.raises(ValueError, match=r"x\.npz: it has an entry in column 9"):
        read_graph(tmp_path / "a.npz", tmp_path / "x.npz")
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(np.triu(DENSE)))
    with pytest.raises(ValueError, match=r"a\.npz: adjacency is not symmetric"):
        read_graph(tmp_path / "a.npz")
    with pytest.raises(
        FileNotFoundError, match=r"none\.csv and .*no\.csv do not exist, seen from .*: check the spelling"
    ):
        read_graph(tmp_path / "none.csv", features, tmp_path / "no.csv")
    with pytest.raises(OSError, match=r"is a folder without graph\.json: give a file, or a folder"):
        read_graph(tmp_path)

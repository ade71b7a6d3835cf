import io

import numpy as np
import pytest
import scipy.sparse as sp

from dfnets.datasets import layout

PAIR = {
    "num_nodes": np.array(2),
    "adj_indptr": np.array([0, 1, 2]),
    "adj_indices": np.array([1, 0]),
}


def saved(path, **arrays):
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "classes", "features"),
    [
        ("cora", 2708, 5278, 7, 1433),
        ("citeseer", 3327, 4552, 6, 3703),
        ("pubmed", 19717, 44324, 3, 500),
        ("nell", 65755, 125775, 105, 61278),
        ("extra/texas", 183, 279, 5, 1703),
        ("extra/chameleon_filtered", 890, 8854, 5, 2325),
        ("extra/actor", 7600, 26659, 5, 932),
        ("extra/amazon_computers", 13752, 245861, 10, 767),
        ("extra/mesh_copter2", 55476, 352238, None, None),
        ("extra/mesh_mdual", 258569, 513132, None, None),
        ("extra/minnesota_road", 2642, 3303, None, None),
    ],
)
def test_counts_of_the_published_data(shared, name, nodes, edges, classes, features):
    graph = layout.to_graph(shared(name), name)
    assert (graph.num_nodes, graph.num_edges) == (nodes, edges)
    assert (None if graph.features is None else graph.features.shape[1]) == features
    assert (None if graph.labels is None else len(np.unique(graph.labels[graph.labels >= 0]))) == classes


def test_nell_has_a_column_for_each_node_without_features(shared):
    arrays = shared("nell")
    graph = layout.to_graph(arrays, "nell")
    others = np.flatnonzero(arrays["is_entity"] == 0)
    assert sp.issparse(graph.features)
    own = graph.features[:, :5414]
    np.testing.assert_array_equal(own.data, arrays["feat_data"])
    assert own[others].nnz == 0
    identity = graph.features[others][:, 5414:].tocoo()
    np.testing.assert_array_equal(identity.row, np.arange(55864))
    np.testing.assert_array_equal(identity.col, np.arange(55864))
    assert (identity.data == 1).all()
    assert np.diff(graph.features.indptr).min() >= 1
    (split,) = graph.splits["planetoid"]
    np.testing.assert_array_equal(split.validation, arrays["val_known"])
    assert (len(split.train), len(split.test)) == (105, 969)


def test_weights_and_names():
    graph = layout.to_graph(PAIR | {"adj_data": np.array([3.0, 3]), "node_names": np.array(["a", "b"])}, "pair")
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 3], [3, 0]])
    assert graph.node_ids.tolist() == ["a", "b"]
    assert (graph.features, graph.labels, graph.splits) == (None, None, {})


def test_bytes_are_read_like_a_file(tmp_path):
    path = saved(tmp_path / "pair.npz", **PAIR)
    for source in (path, path.read_bytes()):
        assert layout.read(source).keys() == PAIR.keys()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"adj_indptr": None}, r"pair has no array 'adj_indptr'; .*\(found: num_nodes, adj_indices\)"),
        ({"adj_indices": np.array([1, 9])}, "pair: adjacency: it has an entry in column 9"),
        ({"adj_indptr": np.array([0, 1])}, "pair: .*index pointer"),
        ({"adj_indices": np.array([1, 1])}, "pair: adjacency is not symmetric"),
        ({"labels": np.array([0])}, "pair: labels has shape"),
        (
            {"labels": np.array(["a", "b"]), "train": np.array([0]), "val": [], "test": np.array([1])},
            "pair: labels has entries of type <U1",
        ),
        ({"labels": np.array([0, 0]), "train": np.array([0]), "val": [], "test": np.array([0])}, "pair: node 0 is in"),
    ],
)
def test_wrong_arrays_are_refused_by_name(change, message):
    arrays = {key: value for key, value in (PAIR | change).items() if value is not None}
    with pytest.raises(ValueError, match=message):
        layout.to_graph(arrays, "pair")


def test_anything_but_plain_arrays_is_refused(tmp_path):
    objects = saved(tmp_path / "objects.npz", x=np.array([{}], dtype=object))
    one = tmp_path / "one.npz"
    buffer = io.BytesIO()
    np.save(buffer, np.ones(2))
    one.write_bytes(buffer.getvalue())
    text = tmp_path / "text.npz"
    text.write_text("not an archive")
    cut = tmp_path / "cut.npz"
    cut.write_bytes(saved(tmp_path / "whole.npz", **PAIR).read_bytes()[:-50])
    np.savez(objects, num_nodes=np.array([{}], dtype=object))
    for path, reason in ((objects, "allow_pickle"), (one, "one array"), (text, "zip"), (cut, "zip")):
        with pytest.raises(ValueError, match=f"{path.name} is not an .npz file of plain arrays: .*{reason}"):
            layout.read(path)


def test_digest_sees_every_array_and_no_type(shared):
    arrays = shared("cora")
    digest = layout.digest(arrays)
    assert layout.digest(arrays | {"adj_indices": arrays["adj_indices"].astype(np.int64)}) == digest
    for key in ("adj_indices", "feat_data", "labels", "train", "val", "test"):
        changed = arrays[key].copy()
        changed[-1] += 1
        assert layout.digest(arrays | {key: changed}) != digest

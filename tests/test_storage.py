"""A graph in a folder is the same graph, mapped and not read; a damaged folder is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_graph

from dfnets import Graph, Shift, design, responses
from dfnets.datasets.encoder import FeatureEncoder
from dfnets.datasets.splits import Split


def whole(features):
    rng = np.random.default_rng(0)
    encoder = FeatureEncoder.fit({"a": rng.random(80), "b": rng.random(80), "c": rng.random(80)})
    return random_graph(80, 5, 0).with_(
        name="whole",
        features=features,
        feature_names=("a", "b", "c"),
        encoder=encoder,
        labels=np.arange(80) % 3 - 1,
        label_names=("red", "blue"),
        node_ids=np.array([f"n{k}é" for k in range(80)], dtype=object),
        coordinates=rng.random((80, 2)),
        splits={"mine/own": (Split([0, 1], [2], [3], "mine/own"), Split([5], [], [6], "mine/own", 1))},
    )


def is_mapped(array):
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None


@pytest.mark.parametrize("sparse", [False, True])
def test_what_is_opened_is_what_was_saved(tmp_path, sparse):
    dense = np.random.default_rng(1).random((80, 3)).astype(np.float32)
    graph = whole(sp.csr_array(dense * (dense > 0.5)) if sparse else dense)
    graph.save(tmp_path / "graph")
    opened = Graph.open(tmp_path / "graph")
    assert repr(opened) == repr(graph)
    assert is_mapped(opened.adjacency.data)
    assert is_mapped(opened.adjacency.indices)
    assert is_mapped(opened.features.data if sparse else opened.features)
    np.testing.assert_array_equal(opened.adjacency.toarray(), graph.adjacency.toarray())
    if sparse:
        np.testing.assert_array_equal(opened.features.toarray(), graph.features.toarray())
    else:
        np.testing.assert_array_equal(opened.features, graph.features)
        assert opened.features.dtype == np.float32
    for name in ("labels", "node_ids", "coordinates"):
        np.testing.assert_array_equal(getattr(opened, name), getattr(graph, name))
    for name in ("name", "label_names", "feature_names", "encoder"):
        assert getattr(opened, name) == getattr(graph, name)
    (protocol,) = opened.splits
    assert protocol == "mine/own"
    assert [s.fingerprint for s in opened.splits[protocol]] == [s.fingerprint for s in graph.splits[protocol]]


def test_a_bare_graph_and_integer_ids(tmp_path):
    graph = random_graph(20, 4, 0)
    graph.save(tmp_path / "bare")
    assert sorted(path.name for path in (tmp_path / "bare").iterdir()) == [
        "graph.json",
        "indices.npy",
        "indptr.npy",
        "weights.npy",
    ]
    opened = Graph.open(tmp_path / "bare")
    assert (opened.features, opened.labels, opened.node_ids, opened.splits) == (None, None, None, {})
    numbered = graph.with_(node_ids=np.arange(20) * 7)
    with pytest.raises(FileExistsError, match="force=True"):
        numbered.save(tmp_path / "bare")
    numbered.save(tmp_path / "bare", force=True)
    np.testing.assert_array_equal(Graph.open(tmp_path / "bare").node_ids, np.arange(20) * 7)


@pytest.mark.parametrize("loops", [False, True])
def test_a_filter_gives_the_same_on_a_mapped_graph(tmp_path, loops, monkeypatch):
    """To the bit, in blocks of rows, and the values of the shift are on disk too."""
    adjacency = random_graph(300, 6, 1).adjacency
    graph = Graph(adjacency + sp.eye_array(300) if loops else adjacency)
    graph.save(tmp_path / "graph")
    opened = Graph.open(tmp_path / "graph")
    expected = Shift(graph)
    monkeypatch.setattr("dfnets.shift.BLOCK", 64)
    shift = Shift(opened)
    np.testing.assert_array_equal(shift.values, expected.values)
    assert is_mapped(shift.values) == (not loops)
    x = np.random.default_rng(0).standard_normal((300, 3))
    f = design(responses.low_pass(0.5))
    np.testing.assert_array_equal(f.apply(shift, x), f.apply(expected, x))
    assert sorted(path.suffix for path in (tmp_path / "graph").iterdir()) == [".json", ".npy", ".npy", ".npy"]


def test_ids_of_other_kinds_are_refused(tmp_path):
    graph = random_graph(3, 1, 0).with_(node_ids=["a", (1, 2), "c"])
    with pytest.raises(ValueError, match=r"node_ids has \(1, 2\); ids in a folder are all text or all integers"):
        graph.save(tmp_path / "graph")
    assert not (tmp_path / "graph").exists()


def test_damaged_folders_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        Graph.open(tmp_path / "none")
    folder = tmp_path / "graph"

    def damaged(name, change):
        whole(np.ones((80, 3))).save(folder, force=True)
        change(folder / name)
        return pytest.raises((ValueError, OSError), match=rf"graph.*({name.split('.')[0]}|adjacency|nodes)")

    def other_index(path):
        indices = np.load(path)
        indices[3] = 10_000
        np.save(path, indices)

    def other_nodes(path):
        content = json.loads(path.read_text())
        path.write_text(json.dumps({**content, "nodes": 81}))

    for name, change in {
        "indices.npy": other_index,
        "weights.npy": lambda path: path.unlink(),
        "indptr.npy": lambda path: path.write_bytes(path.read_bytes()[:100]),
        "features.npy": lambda path: np.save(path, np.ones((3, 3))),
        "ids.arrow": lambda path: path.write_bytes(b"?"),
        "graph.json": other_nodes,
    }.items():
        with damaged(name, change):
            Graph.open(folder)

"""Signals keep their ids, through whichever files."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from dfnets.datasets.signals import read_signal

VALUES = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 0.5]])


@pytest.fixture
def edges(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target\nu,v\nv,w\n")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_ids_are_kept_beside_the_values(tmp_path, edges, suffix):
    frame = pandas.DataFrame({"id": ["w", "u", "v"], "a": VALUES[:, 0], "b": VALUES[:, 1]})
    frame.to_csv(tmp_path / "s.csv", index=False)
    read = read_signal(str(edges), tmp_path / "s.csv")
    assert read.graph.node_ids.tolist() == ["w", "u", "v"]
    np.testing.assert_array_equal(read.values, VALUES)
    read.write(tmp_path / f"out{suffix}", 2 * read.values)
    if suffix == ".npz":
        with np.load(tmp_path / "out.npz") as found:
            assert (found["ids"].tolist(), found["names"].tolist()) == (["w", "u", "v"], ["a", "b"])
            np.testing.assert_array_equal(found["values"], 2 * VALUES)
        return
    again = pandas.read_csv(tmp_path / "out.csv") if suffix == ".csv" else pandas.read_parquet(tmp_path / "out.parquet")
    pandas.testing.assert_frame_equal(again, frame.assign(a=2 * frame["a"], b=2 * frame["b"]), check_dtype=False)
    assert read_signal(str(edges), tmp_path / f"out{suffix}").names == ("a", "b")
    with pytest.raises(ValueError, match=r"out\.npy: a \.npy has no room for ids, .*'w'"):
        read.check_output(tmp_path / "out.npy")


@pytest.mark.parametrize("shape", [(4,), (4, 1), (4, 2)])
def test_rows_of_an_array_are_nodes_0_to_n(tmp_path, shape):
    path = tmp_path / "edges.csv"
    path.write_text("3,1\n1,0\n")
    values = np.arange(np.prod(shape), dtype=float).reshape(shape) + 1
    np.save(tmp_path / "s.npy", values)
    read = read_signal(str(path), tmp_path / "s.npy")
    np.testing.assert_array_equal(read.values, values)
    assert (read.graph.num_nodes, read.graph.node_ids) == (4, None)  # node 2 has no edge
    read.check_output(tmp_path / "out.npy")
    read.write(tmp_path / "out.npy", read.values)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), values)


def test_a_dataset_by_name(tmp_path):
    order = np.random.default_rng(0).permutation(1797)
    pandas.DataFrame({"id": order, "x": order * 2.0}).to_csv(tmp_path / "s.csv", index=False)
    read = read_signal("digits", tmp_path / "s.csv")
    np.testing.assert_array_equal(read.values[:, 0], 2.0 * np.arange(1797))
    np.save(tmp_path / "s.npy", np.ones(5))
    with pytest.raises(ValueError, match=r"s\.npy: it has 5 rows, but digits has 1797 nodes"):
        read_signal("digits", tmp_path / "s.npy")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,x\nu,1\nv,2\n", r"edges\.csv, line 3, column 'target': 'w' is not a row of .*s\.csv"),
        ("id,x\nu,1\nv,\nw,2\n", r"s\.csv, line 3, column 'x': '' is no feature"),
        ("id,x\nu,red\nv,blue\nw,red\n", r"s\.csv, column 'x': it holds text, not numbers"),
        ("id\nu\nv\nw\n", r"s\.csv: it has no column of values beside the ids"),
    ],
)
def test_nothing_is_filled_in(tmp_path, edges, content, message):
    (tmp_path / "s.csv").write_text(content)
    with pytest.raises(ValueError, match=message):
        read_signal(str(edges), tmp_path / "s.csv")


def test_an_array_for_nodes_with_names_is_refused_in_words(tmp_path, edges):
    np.save(tmp_path / "s.npy", np.ones(3))
    with pytest.raises(ValueError, match=r"'u' is not a row of .*s\.npy, .*numbered 0 to 2: give a table with an id"):
        read_signal(str(edges), tmp_path / "s.npy")
    with pytest.raises(FileNotFoundError, match=r"none\.csv and .*no\.npy do not exist"):
        read_signal(str(tmp_path / "none.csv"), tmp_path / "no.npy")

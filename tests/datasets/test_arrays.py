"""Arrays of strangers: only those that are asked for, none too large, and none that crashes what reads it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from dfnets.datasets import arrays, layout
from dfnets.datasets.csr import csr_array
from dfnets.inputs import read_json, regular_file


@pytest.mark.parametrize(
    "array",
    [np.arange(6).reshape(2, 3), np.asfortranarray(np.eye(3)), np.array(5), np.zeros((0, 4)), np.array(["ü", "b"])],
    ids=["numbers", "Fortran", "scalar", "empty", "texts"],
)
def test_what_numpy_writes_is_read(tmp_path: Path, array: np.ndarray) -> None:
    np.savez_compressed(tmp_path / "a.npz", x=array, other=np.ones(3))
    np.save(tmp_path / "a.npy", array)
    for found in (arrays.read(tmp_path / "a.npz", ["x"])["x"], arrays.read_npy(tmp_path / "a.npy")):
        np.testing.assert_array_equal(found, array)
        assert found.dtype == array.dtype
    assert arrays.names(tmp_path / "a.npz") == ["x", "other"]
    assert set(arrays.read((tmp_path / "a.npz").read_bytes())) == {"x", "other"}


PAIR = {"num_nodes": np.array(2), "adj_indptr": np.array([0, 1, 2]), "adj_indices": np.array([1, 0])}


def test_an_array_that_nobody_asks_for_takes_no_memory(tmp_path: Path) -> None:
    """One process reads the graph of an archive with a gigabyte of zeros beside it, under half a gigabyte of memory."""
    np.savez_compressed(tmp_path / "bomb.npz", unused=np.zeros(2**27), **PAIR)
    assert (tmp_path / "bomb.npz").stat().st_size < 2**21
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert layout.to_graph(layout.read(tmp_path / "bomb.npz"), "pair").num_nodes == 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


def test_arrays_above_the_limit_are_not_unfolded(tmp_path: Path, monkeypatch) -> None:
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros(10_000))
    np.save(tmp_path / "a.npy", np.zeros(10_000))
    monkeypatch.setenv("DFNETS_MAX_BYTES", "80000")
    for read in (lambda: arrays.read(tmp_path / "a.npz"), lambda: arrays.read_npy(tmp_path / "a.npy")):
        with pytest.raises(ValueError, match="take 80128 bytes, and the limit is 80000; DFNETS_MAX_BYTES sets another"):
            read()
    monkeypatch.setenv("DFNETS_MAX_BYTES", "81000")
    assert arrays.read(tmp_path / "a.npz")["x"].shape == (10_000,)


@pytest.mark.parametrize("at", range(6, 128, 3))
def test_damaged_headers(tmp_path: Path, at: int) -> None:
    np.save(tmp_path / "a.npy", np.arange(10.0))
    content = bytearray((tmp_path / "a.npy").read_bytes())
    for value in (0, 0x39, 0xFF):
        content[at] = value
        (tmp_path / "a.npy").write_bytes(bytes(content))
        try:
            assert arrays.read_npy(tmp_path / "a.npy").nbytes <= 80
        except ValueError as error:
            assert "is not a plain .npy array" in str(error)  # noqa: PT017


def test_pipes_devices_and_folders_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    for path in (tmp_path / "pipe.npz", Path("/dev/zero")):
        for read in (regular_file, arrays.read, arrays.read_npy, lambda path: read_json(path, "a filter")):
            with pytest.raises(OSError, match="is a pipe, a socket or a device, not a regular file"):
                read(path)
    with pytest.raises(IsADirectoryError, match="is a folder: give the name of a file"):
        regular_file(tmp_path)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_what_scipy_writes_is_read(tmp_path: Path, kind: str) -> None:
    dense = np.random.default_rng(0).random((3, 4)) * (np.arange(4) > 0)
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(dense).asformat(kind))
    np.testing.assert_array_equal(arrays.sparse(arrays.read(tmp_path / "a.npz"), "a").toarray(), dense)


@pytest.mark.parametrize("kind", ["csc", "coo"])
def test_rows_without_end_are_refused(tmp_path: Path, kind: str) -> None:
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(np.eye(4)).asformat(kind))
    found = arrays.read(tmp_path / "a.npz")
    for shape, message in ((np.array([2**31, 4]), "2147483648 rows for 4 entries"), (np.array(4), "not two numbers")):
        with pytest.raises(ValueError, match=message):
            arrays.sparse({**found, "shape": shape}, "a")


def test_other_formats_are_refused(tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(np.eye(4)).asformat("bsr"))
    with pytest.raises(ValueError, match=r"a: it holds a matrix of format 'bsr'; save it as csr, csc or coo"):
        arrays.sparse(arrays.read(tmp_path / "a.npz"), "a")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indptr": [0, 1, 5]}, "does not rise from 0 to 2"),
        ({"indptr": [0, 2, 1, 2][:3]}, "does not rise from 0 to 2"),
        ({"indptr": [0, 2]}, "has 2 entries for 2 rows"),
        ({"indptr": [0.0, 1, 2]}, "its indptr has shape .* float64, not one row of whole numbers"),
        ({"indices": [1, 9]}, "an entry in column 9"),
        ({"indices": [1, -1]}, "or below 0, but 2 columns"),
        ({"indices": [[1], [0]]}, "its indices has shape \\(2, 1\\)"),
        ({"data": ["a", "b"]}, "its data has .* type <U1"),
        ({"data": [1.0]}, "1 values for 2 columns"),
        ({"shape": [2, -2]}, "is not a number of rows"),
        ({"shape": 2}, "is not a number of rows"),
    ],
)
def test_wrong_patterns_never_reach_scipy(change: dict, message: str) -> None:
    parts = {"data": [1.0, 1.0], "indices": [1, 0], "indptr": [0, 1, 2], "shape": (2, 2)} | change
    with pytest.raises(ValueError, match=message):
        csr_array(**parts, name="m")


def test_a_wrong_pattern_beside_is_entity_is_an_error_not_a_crash(tmp_path: Path) -> None:
    """In a process of its own: a crash would take the tests with it."""
    features = {"feat_data": np.ones(2), "feat_indices": np.array([0, 0]), "feat_shape": np.array([2, 1])}
    wrong = {"feat_indptr": np.array([0, 2**31 - 1, 2]), "is_entity": np.array([1, 0])}
    np.savez(tmp_path / "a.npz", **PAIR, **features, **wrong)
    code = f"from dfnets import datasets; datasets.load({str(tmp_path / 'a.npz')!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    assert "features: its index pointer does not rise from 0 to 2" in done.stderr


@pytest.mark.parametrize("missing", ["feat_indices", "feat_indptr", "feat_shape", "val", "test", "labels", "val_masks"])
def test_an_array_that_is_missing_is_named(missing: str) -> None:
    features = {"feat_data": np.ones(1), "feat_indices": np.zeros(1, int), "feat_indptr": np.array([0, 1, 1])}
    splits = {"labels": np.array([0, 0]), "train": np.array([0]), "val": np.array([], dtype=int), "test": np.array([1])}
    masks = {"train_masks": [[True, False]], "val_masks": [[False, False]], "test_masks": [[False, True]]}
    whole = {**PAIR, **features, "feat_shape": np.array([2, 1]), **splits}
    whole |= {name: np.array(mask) for name, mask in masks.items()}
    layout.to_graph(whole, "pair")
    with pytest.raises(ValueError, match=f"pair: there is no array '{missing}', which belongs to"):
        layout.to_graph({key: value for key, value in whole.items() if key != missing}, "pair")

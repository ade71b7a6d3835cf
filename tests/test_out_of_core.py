"""Filtering a file in blocks of columns gives what filtering it at once gives."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_graph

from dfnets import Graph, design, responses
from dfnets.out_of_core import VECTORS, apply_in_blocks


@pytest.mark.parametrize(("shape", "dtype"), [((200, 7), "f8"), ((200,), "f8"), ((200, 5), "f4"), ((200, 3), "i4")])
@pytest.mark.parametrize("columns", [1, 3, 100])
def test_blocks_against_all_at_once(tmp_path, shape, dtype, columns):
    graph = random_graph(200, 5, 0)
    graph.save(tmp_path / "graph")
    x = (10 * np.random.default_rng(0).standard_normal(shape)).astype(dtype)
    np.save(tmp_path / "x.npy", x)
    f = design(responses.low_pass(0.5))
    size = 4 if dtype == "f4" else 8
    apply_in_blocks(
        f, Graph.open(tmp_path / "graph"), tmp_path / "x.npy", tmp_path / "y.npy",
        memory=columns * VECTORS * 200 * size, tol=1e-4,
    )  # fmt: skip
    found = np.load(tmp_path / "y.npy")
    assert (found.shape, found.dtype) == (x.shape, np.dtype("f4" if dtype == "f4" else "f8"))
    whole = f.apply(graph, x.astype(found.dtype), tol=1e-4)
    np.testing.assert_allclose(found, whole, rtol=0, atol=1e-5 if dtype == "f4" else 1e-12)


def test_what_is_no_signal_is_refused_and_leaves_nothing(tmp_path):
    graph = random_graph(10, 3, 0)
    f = design(responses.low_pass(0.5))
    for array, message in (
        (np.ones(9), r"has shape \(9,\) .*signals are numbers, \(10,\)"),
        (np.array(["a"] * 10), "type <U1"),
    ):
        np.save(tmp_path / "x.npy", array)
        with pytest.raises(ValueError, match=message):
            apply_in_blocks(f, graph, tmp_path / "x.npy", tmp_path / "y.npy")
    np.save(tmp_path / "x.npy", np.full(10, np.nan))
    with pytest.raises(ValueError, match=r"finite|nan"):
        apply_in_blocks(f, graph, tmp_path / "x.npy", tmp_path / "y.npy")
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]

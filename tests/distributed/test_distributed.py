"""One process and many give the same: columns to the bit, row blocks to rounding; what is sent is the halo."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import random_graph
from starting import torchrun

import dfnets
from dfnets import Graph, Shift, filters
from dfnets.distributed import PartitionFolder, partition, write_partition

N, K = 400, 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("distributed")
    graph = random_graph(N, 6, seed=1)
    graph.save(place / "graph")
    dfnets.design(dfnets.responses.low_pass(0.5), p=3, q=2, gamma=0.9).save(place / "filter.json")
    np.save(place / "x.npy", np.random.default_rng(0).standard_normal((N, K)))
    return place


@pytest.fixture(scope="module", params=[2, 4])
def found(request: pytest.FixtureRequest, folder: Path) -> tuple[int, np.ndarray, dict[str, np.ndarray]]:
    """How many processes there were, the part of each node, and what came out."""
    graph, processes = Graph.open(folder / "graph"), request.param
    parts = partition(graph, processes)
    write_partition(graph, parts, folder / f"parts-{processes}")
    torchrun(processes, str(Path(__file__).with_name("program.py")), str(folder))
    with np.load(folder / f"out-{processes}.npz") as arrays:
        return processes, parts, dict(arrays)


def alone(folder: Path, method: str = "auto") -> np.ndarray:
    f = filters.load(folder / "filter.json")
    return f.apply(Graph.open(folder / "graph"), np.load(folder / "x.npy"), tol=1e-8, method=method)


Found = tuple[int, np.ndarray, dict[str, np.ndarray]]


def test_columns_are_the_same_to_the_bit(folder: Path, found: Found) -> None:
    np.testing.assert_array_equal(found[2]["columns"], alone(folder))


@pytest.mark.parametrize("method", ["chebyshev", "recursion"])
def test_row_blocks_are_the_same_to_rounding_and_send_the_halo(folder: Path, found: Found, method: str) -> None:
    processes, parts, arrays = found
    graph = Graph.open(folder / "graph")
    np.testing.assert_allclose(arrays[method], alone(folder, method), rtol=1e-12, atol=1e-13)
    # A node is sent once to every other part that has a neighbour of it: counted here edge by edge.
    rows, columns = graph.adjacency.nonzero()
    needed = {(int(i), int(parts[j])) for i, j in zip(rows, columns, strict=True) if parts[i] != parts[j]}
    for rank in range(processes):
        assert arrays[f"{method}_sent"][rank] == sum(1 for i, _ in needed if parts[i] == rank)


@pytest.mark.parametrize("method", ["streaming", "auto"])
def test_parts_are_even_and_cut_less_than_chance(method: str) -> None:
    rng = np.random.default_rng(0)
    blocks = np.arange(300) // 100
    near = rng.random((300, 300)) < np.where(blocks[:, None] == blocks, 0.1, 0.003)
    graph = Graph((np.triu(near, 1) + np.triu(near, 1).T).astype(float))
    parts = partition(graph, 3, method=method)  # type: ignore[arg-type]
    entries = np.bincount(parts, weights=1 + np.diff(graph.adjacency.indptr), minlength=3)
    assert entries.max() <= 1.25 * entries.mean()
    rows, columns = graph.adjacency.nonzero()
    assert (parts[rows] != parts[columns]).mean() < 0.35, "at random it is two thirds"


def test_every_process_plans_by_the_whole_graph(tmp_path: Path) -> None:
    graph = random_graph(50, 4, seed=2)
    written = write_partition(graph, partition(graph, 3), tmp_path / "parts")
    shift = Shift(graph)
    assert (written.parts, written.num_nodes, written.interval) == (3, 50, shift.interval)
    assert (written.longest_row, written.diagonal_range) == (shift.longest_row, shift.diagonal_range)
    assert sorted(np.concatenate([written.nodes(part) for part in range(3)])) == list(range(50))


def test_what_is_not_a_partition_is_refused(tmp_path: Path) -> None:
    graph = random_graph(20, 4, seed=2)
    with pytest.raises(ValueError, match="parts=0"):
        partition(graph, 0)
    with pytest.raises(ValueError, match="no partition"):
        PartitionFolder(tmp_path)
    with pytest.raises(ValueError, match=r"parts has shape \(3,\)"):
        write_partition(graph, np.zeros(3, dtype=int), tmp_path / "parts")
    write_partition(graph, np.zeros(20, dtype=int), tmp_path / "parts")
    with pytest.raises(ValueError, match="there already"):
        write_partition(graph, np.zeros(20, dtype=int), tmp_path / "parts")
    (tmp_path / "parts" / "partition.json").write_text("{")
    with pytest.raises(ValueError, match="damaged"):
        PartitionFolder(tmp_path / "parts")

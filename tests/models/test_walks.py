"""Random walks: steps by weight, contexts by brute force."""

from __future__ import annotations

import numpy as np
import torch
from conftest import random_graph

from dfnets import Graph
from dfnets.models.walks import Walks, rows
from dfnets.nn.batched import generators

CPU = torch.device("cpu")


def test_a_step_goes_by_the_weights() -> None:
    graph = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], [1.0, 3.0, 6.0, 2.0])
    (stream,) = generators([0])
    ends = Walks(graph, CPU).step(torch.zeros(20_000, dtype=torch.long), stream)
    np.testing.assert_allclose(np.bincount(ends, minlength=4) / 20_000, [0, 0.1, 0.3, 0.6], atol=0.02)


def test_contexts_are_within_the_window_and_have_the_right_frequency() -> None:
    graph = random_graph(12, 4, 3)
    (stream,) = generators([0])
    centres, contexts = Walks(graph, CPU).pairs(60_000, 3, stream)
    counts = np.zeros((12, 12))
    np.add.at(counts, (centres.numpy(), contexts.numpy()), 1)
    weights = graph.adjacency.toarray()
    kept = weights.sum(axis=1) > 0
    assert not counts[~kept].any()
    move = weights / np.where(kept, weights.sum(axis=1), 1)[:, None]
    expected = sum(np.linalg.matrix_power(move, k) for k in (1, 2, 3)) / 3
    np.testing.assert_allclose(counts[kept] / counts[kept].sum(axis=1, keepdims=True), expected[kept], atol=0.03)


def test_joined_is_the_adjacency() -> None:
    graph = random_graph(15, 5, 0)
    one, two = (torch.as_tensor(part.ravel()) for part in np.indices((15, 15)))
    expected = (graph.adjacency.toarray() > 0) | np.eye(15, dtype=bool)
    np.testing.assert_array_equal(Walks(graph, CPU).joined(one, two).numpy().reshape(15, 15), expected)


def test_a_graph_without_edges_has_no_pairs() -> None:
    walks = Walks(Graph(np.zeros((3, 3))), CPU)
    assert len(walks.pairs(10, 2, None)[0]) == 0
    assert not walks.joined(torch.tensor([0]), torch.tensor([1])).any()


def test_rows_of_each_replica() -> None:
    maps = torch.arange(24.0).view(4, 2, 3)
    picked = rows(maps, [torch.tensor([3, 0]), torch.tensor([1])])
    assert torch.equal(picked, torch.stack([maps[3, 0], maps[0, 0], maps[1, 1]]))

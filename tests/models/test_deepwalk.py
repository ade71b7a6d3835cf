"""DeepWalk: the kernel's walks and its gradient against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from conftest import random_graph

from dfnets import Graph
from dfnets.datasets.splits import Split
from dfnets.models.deepwalk import _towards, _walk, skip_gram
from dfnets.models.walks import Walks
from dfnets.training import TrainedModel, fit

CPU = torch.device("cpu")
SMALL: dict[str, Any] = {"dimensions": 8, "walks": 5, "length": 10, "window": 3, "negatives": 3, "rate": 0.05}


def communities(n: int = 60) -> Graph:
    """Three dense blocks, and a node on its own."""
    rng = np.random.default_rng(0)
    labels = np.arange(n) % 3
    edges = np.triu(rng.random((n, n)) < np.where(labels[:, None] == labels, 0.4, 0.01), 1).astype(float)
    edges[0] = edges[:, 0] = 0
    return Graph(edges + edges.T, labels=labels, name="communities")


def test_a_walk_follows_edges_by_their_weights() -> None:
    graph = random_graph(10, 4, 0)
    walks = Walks(graph, CPU)
    state, path = np.array([1], dtype=np.uint64), np.empty(20_000, dtype=np.int64)
    start = int(walks.starts[0])
    assert _walk(walks.indptr, walks.indices, walks.upto, state, start, path) == len(path)
    weights = graph.adjacency.toarray()
    moves = np.zeros_like(weights)
    np.add.at(moves, (path[:-1], path[1:]), 1)
    assert not moves[weights == 0].any()
    seen = moves.sum(axis=1) > 1000
    share = moves / np.maximum(moves.sum(axis=1, keepdims=True), 1)
    expected = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(share[seen], expected[seen], atol=0.06)


def test_a_step_is_the_gradient() -> None:
    """Of log sigma(e . c) for a context, and of log sigma(-e . c) for a negative sample: by automatic derivatives."""
    rng = np.random.default_rng(0)
    for wanted in (0.0, 1.0):
        vector, context = rng.normal(size=(2, 6)).astype(np.float32)
        e, c = (torch.tensor(part, requires_grad=True) for part in (vector, context))
        torch.nn.functional.logsigmoid((2 * wanted - 1) * (e @ c)).backward()
        change, before = np.zeros(6, dtype=np.float32), context.copy()
        _towards(vector, context, np.float32(wanted), np.float32(0.1), change)
        np.testing.assert_allclose(change, 0.1 * e.grad.numpy(), atol=1e-6)
        np.testing.assert_allclose(context - before, 0.1 * c.grad.numpy(), atol=1e-6)


def test_a_seed_is_a_result_whatever_the_others() -> None:
    walks = Walks(communities(), CPU)
    together = skip_gram(walks, np.array([3, 4, 5], dtype=np.uint64), **SMALL)
    alone = skip_gram(walks, np.array([4], dtype=np.uint64), **SMALL)
    for many, one in zip(together, alone, strict=True):
        np.testing.assert_array_equal(many[1], one[0])
        assert not np.array_equal(many[0], many[1])


def test_it_finds_communities_and_comes_back_from_a_folder(tmp_path: Any) -> None:
    split = Split(np.arange(1, 13), np.arange(13, 30), np.arange(30, 60), "mine")
    options = {"dimensions": 16, "length": 20, "window": 5, "learning_rate": 0.1, "l2": 0.1}
    result = fit("deepwalk", communities(), protocol=split, replicas=2, progress=False, **options)
    assert result.accuracy("final").mean > 90
    result.save(tmp_path / "model")
    again = TrainedModel.load(tmp_path / "model").predict(communities())
    np.testing.assert_array_equal(again.per_replica, result.predict().per_replica)


def test_a_graph_without_edges_is_embedded_at_zero() -> None:
    walks = Walks(Graph(np.zeros((4, 4))), CPU)
    assert not skip_gram(walks, np.array([1], dtype=np.uint64), **SMALL)[0].any()

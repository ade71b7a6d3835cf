"""Weights and temperatures of members against a brute-force search."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dfnets.training.objective import Nodes
from dfnets.training.weighing import FIRST, MOST_NODES, OTHERS, TEMPERATURES, member_weights

NONE = np.zeros(0, dtype=np.int64)


def member(labels: np.ndarray, right: float, sure: float, seed: int) -> torch.Tensor:
    """Logits of a classifier that is right so often, and as sure as that."""
    rng = np.random.default_rng(seed)
    said = np.where(rng.random(len(labels)) < right, labels, (labels + 1 + rng.integers(0, 2, len(labels))) % 3)
    return torch.tensor(sure * np.eye(3)[said])[:, None]


def test_weights_are_the_most_likely_ones() -> None:
    labels = np.arange(300) % 3
    logits = [member(labels, 0.6, 2.0, 0), member(labels, 0.8, 2.0, 1)]
    weights, temperatures = member_weights(logits, labels, [Nodes(NONE, np.arange(300), NONE)])
    likely = [
        torch.softmax(own[:, 0] / t, dim=-1).numpy()[np.arange(300), labels]
        for own, t in zip(logits, temperatures[0], strict=True)
    ]
    grid = np.linspace(1e-4, 1 - 1e-4, 10_000)
    score = [
        np.log(w * likely[0] + (1 - w) * likely[1]).sum() + FIRST * np.log(w) + OTHERS * np.log(1 - w) for w in grid
    ]
    assert weights[0, 0] == pytest.approx(grid[int(np.argmax(score))], abs=2e-3)
    assert weights[0].sum() == pytest.approx(1)
    assert weights[0, 1] > weights[0, 0]


def test_a_member_is_not_heard_more_because_it_is_sure_of_itself() -> None:
    labels = np.arange(300) % 3
    nodes = [Nodes(NONE, np.arange(300), NONE)]
    modest, bold = member(labels, 0.7, 0.5, 0), member(labels, 0.7, 8.0, 0)
    weights, temperatures = member_weights([modest, bold], labels, nodes)
    # The two say the same with different force, and each temperature goes most of the way to the same.
    assert 8 < temperatures[0, 1] / temperatures[0, 0] <= 16
    best = min(
        TEMPERATURES,
        key=lambda t: -torch.log_softmax(bold[:, 0] / t, dim=-1)[range(300), labels].mean() + np.log(t) ** 2 / 300,
    )
    assert temperatures[0, 1] == best
    assert weights[0, 0] > 0


def test_each_replica_is_weighed_by_its_own_nodes() -> None:
    labels = np.arange(90) % 3
    good, bad = member(labels, 1.0, 3.0, 0), member(labels, 0.3, 3.0, 1)
    logits = [torch.cat([good, bad], dim=1), torch.cat([bad, good], dim=1)]
    nodes = [Nodes(NONE, np.arange(45), NONE), Nodes(NONE, np.arange(45, 90), NONE)]
    weights, _ = member_weights(logits, labels, nodes)
    assert weights[0, 0] > 0.9
    assert weights[1, 1] > 0.7


def test_of_very_many_nodes_some_are_enough() -> None:
    labels = np.arange(4 * MOST_NODES) % 3
    some = [member(labels, 0.6, 2.0, 0), member(labels, 0.8, 2.0, 1)]
    weights, _ = member_weights(some, labels, [Nodes(NONE, np.arange(len(labels)), NONE)])
    assert weights.shape == (1, 2)
    assert weights[0, 1] > weights[0, 0]

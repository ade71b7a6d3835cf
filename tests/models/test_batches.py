"""What a step draws is each replica's own, whatever the others have."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dfnets.models import batches
from dfnets.models.batches import sample_batch
from dfnets.nn.batched import generators
from dfnets.training.objective import Objective

LABELS = np.arange(30) % 3


def test_a_replica_draws_what_it_would_draw_alone() -> None:
    nodes = [np.arange(6), np.arange(10, 25)]
    together = sample_batch(Objective(LABELS, nodes, 3), 30, 8, 5, generators([0, 1]))
    alone = sample_batch(Objective(LABELS, nodes[1:], 3), 30, 8, 5, generators([1]))
    for many, one in zip(together, alone, strict=True):
        assert torch.equal(many[:, 1], one[:, 0])


def test_weights_belong_to_the_nodes_that_were_drawn() -> None:
    labels = np.array([0, 0, 0, 1, 1, 2])
    objective = Objective(labels, [np.arange(6)], 3, weighting="balanced", factor=2.0)
    batch = sample_batch(objective, 6, 6, 4, generators([0]))
    # Where every node is labelled, the unlabelled ones are drawn from all, so that replicas draw equally many.
    assert batch.nodes.shape == (10, 1)
    expected = torch.tensor([6 / (3 * count) * 2.0 for count in (3, 2, 1)])[batch.targets[:, 0]]
    torch.testing.assert_close(batch.weights[:, 0], expected)


def test_of_very_many_labelled_nodes_a_few_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MOST_SHUFFLED", 20)
    objective = Objective(LABELS, [np.arange(3, 27)], 3)
    batch = sample_batch(objective, 30, 500, 5, generators([0]))
    assert set(batch.nodes[:500, 0].tolist()) == set(range(3, 27))
    np.testing.assert_array_equal(batch.targets[:, 0], LABELS[batch.nodes[:500, 0]])

"""What a step draws is each replica's own, whatever the others have."""

from __future__ import annotations

import numpy as np
import torch

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

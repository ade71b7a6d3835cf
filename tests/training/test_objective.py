from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional

from dfnets.training.objective import Nodes, Objective, class_weights, scores

LABELS = np.array([0, 1, 2, 1, 0, 2, 2, 1])


def test_each_replica_has_the_mean_over_its_own_nodes() -> None:
    logits = torch.randn(8, 2, 3)
    nodes = [np.array([0, 2, 5]), np.array([1, 3, 4, 7])]
    losses = Objective(LABELS, nodes, 3, factor=17.0)(logits)
    for r, own in enumerate(nodes):
        expected = 17 * functional.cross_entropy(logits[own, r], torch.as_tensor(LABELS[own]))
        torch.testing.assert_close(losses[r], expected)


def test_class_weights_multiply_and_are_not_divided_out() -> None:
    logits, nodes = torch.randn(8, 1, 3), np.arange(8)
    weights = torch.tensor(class_weights(LABELS, 3, 8, "balanced"), dtype=torch.float32)
    each = functional.cross_entropy(logits[:, 0], torch.as_tensor(LABELS), reduction="none")
    expected = (each * weights[LABELS]).mean()
    torch.testing.assert_close(Objective(LABELS, [nodes], 3, weighting="balanced")(logits)[0], expected)


def test_a_class_without_nodes_has_no_weight() -> None:
    np.testing.assert_allclose(class_weights(np.array([0, 0, 2]), 3, 9, "balanced"), [0.5, 0, 1])


def test_classes_count_the_same_where_few_nodes_are_labelled() -> None:
    few, many = np.repeat([0, 1], [190, 9]), np.repeat([0, 1], [190, 10])
    np.testing.assert_array_equal(
        class_weights(few, 2, 1000, "balanced-if-few"), class_weights(few, 2, 1000, "balanced")
    )
    np.testing.assert_array_equal(class_weights(many, 2, 1000, "balanced-if-few"), 1)


def test_scores_of_each_replica() -> None:
    logits = torch.full((8, 2, 3), -1.0)
    logits[np.arange(8), 0, LABELS] = 3.0  # replica 0 is right everywhere
    logits[:, 1, 1] = 3.0  # replica 1 always says 1
    nodes = [Nodes(np.arange(3), np.array([3, 4]), np.arange(5, 8)), Nodes(np.arange(3), np.arange(0), np.arange(5, 8))]
    result = scores(logits, LABELS, nodes)
    np.testing.assert_allclose(result.test, [100, 100 / 3])
    np.testing.assert_allclose(result.train, [100, 100 / 3])
    assert result.validation[0] == 100
    assert np.isnan(result.validation[1])
    assert np.isnan(result.validation_loss[1])

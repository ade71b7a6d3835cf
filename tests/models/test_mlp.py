"""The network without a graph."""

from __future__ import annotations

import torch
from spectral import logits, made, small_graph, x


def test_equals_a_sequence_of_linear_layers() -> None:
    model, graph = made("mlp", units=(4,)), small_graph()
    first, last = model.layers
    for r in range(2):
        h = torch.relu(x(graph) @ first.weight[r] + first.bias[r])
        torch.testing.assert_close(logits(model)[:, r], h @ last.weight[r] + last.bias[r])

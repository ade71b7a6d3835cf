"""SGC against PyTorch Geometric's layer."""

from __future__ import annotations

import torch
from spectral import CLASSES, FEATURES, edges, logits, made, small_graph, x
from torch_geometric.nn import SGConv


def test_equals_pyg() -> None:
    model, graph = made("sgc", hops=3), small_graph()
    oracle = SGConv(FEATURES, CLASSES, K=3)
    with torch.no_grad():
        oracle.lin.weight.copy_(model.layer.weight[1].T)
        oracle.lin.bias.copy_(model.layer.bias[1])
        torch.testing.assert_close(logits(model)[:, 1], oracle(x(graph), *edges(graph)))

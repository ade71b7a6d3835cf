"""APPNP against PyTorch Geometric's iteration."""

from __future__ import annotations

import torch
from spectral import edges, logits, made, small_graph
from torch_geometric.nn import APPNP as Oracle

from dfnets.models.mlp import MLP


def test_equals_pyg() -> None:
    model, graph = made("appnp", units=(4,), restart=0.2, iterations=7), small_graph()
    predictions = MLP.forward(model, model.prepare(graph, torch.device("cpu")))
    oracle = Oracle(K=7, alpha=0.2)(predictions[:, 1], *edges(graph))
    torch.testing.assert_close(logits(model)[:, 1], oracle.detach())

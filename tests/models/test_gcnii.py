"""GCNII against PyTorch Geometric's layer."""

from __future__ import annotations

import torch
from spectral import edges, logits, made, small_graph, x
from torch_geometric.nn import GCN2Conv


def test_equals_pyg() -> None:
    model, graph = made("gcnii", width=6, depth=4, initial=0.3, decay=0.7), small_graph()
    with torch.no_grad():
        start = h = torch.relu(x(graph) @ model.first.weight[1] + model.first.bias[1])
        for t, mixing in enumerate(model.hidden, start=1):
            oracle = GCN2Conv(6, alpha=0.3, theta=0.7, layer=t)
            oracle.weight1.copy_(mixing.weight[1])
            h = torch.relu(oracle(h, start, *edges(graph)))
        torch.testing.assert_close(logits(model)[:, 1], h @ model.last.weight[1] + model.last.bias[1])


def test_hidden_weights_have_their_own_decay() -> None:
    model = made("gcnii", depth=4, l2=0.1, end_l2=0.2)
    hidden, ends = model.penalties()
    assert (len(hidden[0]), hidden[1], len(ends[0]), ends[1]) == (4, 0.1, 4, 0.2)

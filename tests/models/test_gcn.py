"""GCN against PyTorch Geometric's layer; the dense one against the formula."""

from __future__ import annotations

import torch
from spectral import adjacency, edges, logits, made, small_graph, x
from torch_geometric.nn import GCNConv


def test_equals_pyg() -> None:
    model, graph = made("gcn", units=(4, 5)), small_graph()
    h = x(graph)
    with torch.no_grad():
        for layer in model.layers:
            oracle = GCNConv(layer.in_channels, layer.out_channels)
            oracle.lin.weight.copy_(layer.weight[1].T)
            oracle.bias.copy_(layer.bias[1])
            h = oracle(h if layer is model.layers[0] else torch.relu(h), *edges(graph))
    torch.testing.assert_close(logits(model)[:, 1], h)


def test_dense_layers_read_every_map() -> None:
    model, graph = made("gcn-dense", units=(4, 5)), small_graph()
    s, maps = adjacency(graph), [x(graph)]
    for layer in model.layers:
        h = s @ torch.cat(maps, dim=1) @ layer.weight[0] + layer.bias[0]
        maps.append(torch.relu(h))
    torch.testing.assert_close(logits(model)[:, 0], h)

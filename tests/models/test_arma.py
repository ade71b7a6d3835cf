"""ARMA layers against PyTorch Geometric's."""

from __future__ import annotations

import pytest
import torch
from spectral import CPU, FEATURES, edges, made, small_graph, x
from torch_geometric.nn import ARMAConv

from dfnets.nn import Features


@pytest.mark.parametrize("stacks, depth", [(1, 1), (1, 3), (2, 2)])
def test_equals_pyg(stacks: int, depth: int) -> None:
    model, graph = made("arma", units=(4,), stacks=stacks, depth=depth), small_graph()
    layer = model.layers[0]
    oracle = ARMAConv(FEATURES, 4, stacks, depth, shared_weights=True)
    with torch.no_grad():
        for k in range(stacks):
            columns = slice(4 * k, 4 * (k + 1))
            oracle.init_weight[k] = layer.start.weight[1, :, columns]
            oracle.root_weight[0, k] = layer.skip.weight[1, :, columns]
            oracle.bias[0, k] = layer.skip.bias[1, columns]
            if depth > 1:
                oracle.weight[0, k] = layer.weight[1, k]
        # PyG adds no self-loops here, so it is given those of S.
        wanted = oracle(x(graph), *edges(graph, loops=True))
        out = layer(Features(graph.features), model.prepare(graph, CPU).shift, last=False)
    torch.testing.assert_close(out[:, 1], wanted)

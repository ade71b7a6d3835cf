"""ChebNet against PyTorch Geometric's layer."""

from __future__ import annotations

import pytest
import torch
from spectral import adjacency, logits, made, small_graph, x
from torch_geometric.nn import ChebConv

from dfnets.models import config


@pytest.mark.parametrize("order", [1, 2, 5])
def test_equals_pyg(order: int) -> None:
    model, graph = made("chebyshev", units=(4,), order=order), small_graph()
    # PyG removes self-loops and normalises on its own; here both work on the same scaled Laplacian, -S.
    shift = -adjacency(graph)
    rows, columns = shift.nonzero(as_tuple=True)
    h = x(graph)
    with torch.no_grad():
        for layer in model.layers:
            oracle = ChebConv(layer.in_channels, layer.out_channels, order + 1)
            oracle.__norm__ = lambda *_, **__: (torch.stack([columns, rows]), shift[rows, columns])
            for k, lin in enumerate(oracle.lins):
                lin.weight.copy_(layer.weight[1, :, k * layer.out_channels : (k + 1) * layer.out_channels].T)
            oracle.bias.copy_(layer.bias[1])
            h = oracle(h if layer is model.layers[0] else torch.relu(h), torch.stack([columns, rows]))
    torch.testing.assert_close(logits(model)[:, 1], h)


def test_order_must_be_positive() -> None:
    with pytest.raises(ValueError, match="order=0"):
        config("chebyshev", order=0)

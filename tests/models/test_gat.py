"""GAT against PyTorch Geometric's layer."""

from __future__ import annotations

import pytest
import torch
from spectral import edges, logits, made, small_graph, x
from torch_geometric.nn import GATConv

from dfnets import models
from dfnets.models.gat import GATLayer


def oracle(layer: GATLayer, r: int) -> GATConv:
    conv = GATConv(layer.linear.in_channels, layer.width, layer.heads, concat=not layer.mean)
    own, other = layer.attention.kernel[r].split(layer.width, dim=1)
    conv.lin.weight.copy_(layer.linear.weight[r].T)
    conv.att_dst.copy_(own[None])
    conv.att_src.copy_(other[None])
    conv.bias.copy_(layer.bias[r])
    return conv


@pytest.mark.parametrize("name", ["gat", "gat-dense"])
def test_equals_pyg(name: str) -> None:
    model, graph = made(name, units=(4, 2), heads=3, out_heads=2), small_graph()
    maps = [x(graph)]
    with torch.no_grad():
        for layer in model.layers:
            torch.nn.init.zeros_(layer.attention.bias)  # PyG has no such bias; the authors' code has
            h = oracle(layer, 1)(torch.cat(maps, dim=1) if name == "gat-dense" else maps[-1], edges(graph)[0])
            maps.append(torch.nn.functional.elu(h))
    torch.testing.assert_close(logits(model)[:, 1], h)


def test_the_authors_presets() -> None:
    for preset in ("paper", "paper-pubmed"):
        config = models.config("gat", preset)
        assert (config.select_by, config.patience_from, config.patience) == ("both", "either", 100)
        model = made("gat", value_dropout=config.value_dropout, own_dropout=config.own_dropout)
        assert [layer.linear.draws for layer in model.layers] == [8, 1]
        assert [layer.attention.value_dropout.rate for layer in model.layers] == [0.6, 0.6]
        ((penalised, _),) = model.penalties()
        assert len(penalised) == len(list(model.parameters()))

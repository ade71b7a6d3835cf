"""ARMA layers against PyTorch Geometric's, and the authors' choices against a few dense lines."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from spectral import CPU, FEATURES, edges, logits, made, small_graph, x
from torch.nn import functional
from torch_geometric.nn import ARMAConv

from dfnets import Graph, models
from dfnets.nn import Features


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("stacks, depth", [(1, 1), (1, 3), (2, 2)])
def test_equals_pyg(stacks: int, depth: int, self_loops: bool) -> None:
    model, graph = made("arma", units=(4,), stacks=stacks, depth=depth, self_loops=self_loops), small_graph()
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
        wanted = oracle(x(graph), *edges(graph, loops=self_loops))
        out = layer(Features(graph.features), model.prepare(graph, CPU).propagate, last=False)
    torch.testing.assert_close(out[:, 1], wanted)


def test_the_authors_network_equals_dense_lines() -> None:
    settings = models.config("arma", "paper").model_dump(exclude_unset=True) | {"units": (4,)}
    model, graph = made("arma", **settings), small_graph()
    looped = sp.csr_array(graph.adjacency + sp.diags_array(np.linspace(0, 1, graph.num_nodes)))
    for matrix in (graph.adjacency, looped):
        dense = torch.as_tensor(matrix.toarray())
        roots = torch.where(dense.sum(1) > 0, dense.sum(1).rsqrt(), 0.0)
        s = (roots[:, None] * dense * roots).float()
        first, last = model.layers
        assert (first.stacks, last.stacks) == (2, 1)
        h = x(graph)
        parts = s @ h @ first.start.weight[1] + h @ first.skip.weight[1] + first.skip.bias[1]
        h = functional.elu(functional.elu(parts).view(-1, 2, 4).mean(dim=1))
        wanted = s @ h @ last.start.weight[1] + h @ last.skip.weight[1] + last.skip.bias[1]
        found = logits(model, Graph(matrix, features=graph.features))
        torch.testing.assert_close(found[:, 1], wanted.detach(), rtol=1e-4, atol=1e-5)


def test_what_goes_around_is_dropped_before_the_bias_and_all_kernels_are_penalised() -> None:
    model, graph = made("arma", units=(40,), dropout=0.0, skip_dropout=0.6), small_graph()
    layer = model.layers[0].train()
    with torch.no_grad():
        out = layer(Features(graph.features), torch.zeros_like, last=True)[:, 1]
        product = x(graph) @ layer.skip.weight[1]
    kept = (out - layer.skip.bias[1]) / product
    kept = kept[product.abs() > 1e-3]
    assert ((kept.abs() < 1e-3) | ((kept - 2.5).abs() < 1e-2)).all()
    assert 0.5 < (kept.abs() < 1e-3).float().mean() < 0.7
    ((penalised, _),) = model.penalties()
    names = {name for name, one in model.named_parameters() if any(one is other for other in penalised)}
    assert names == {f"layers.{t}.{part}" for t in (0, 1) for part in ("start.weight", "skip.weight", "weight")}

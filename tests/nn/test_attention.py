"""Sparse attention against the dense formula, and against PyTorch Geometric's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conftest import dense_graph
from torch.nn import functional

from dfnets import Graph, Shift
from dfnets.nn import Neighbours, SelfAttention, batched
from dfnets.nn.batched import generators


def graph() -> Graph:
    return dense_graph(12, 0.3, seed=2, isolated=3)  # node 3 attends to itself


def brute_force(layer: SelfAttention, x: torch.Tensor, r: int, summed: torch.Tensor | None = None) -> torch.Tensor:
    reach = torch.as_tensor(graph().adjacency.toarray() + np.eye(12)) > 0
    outs = []
    values = (x if summed is None else summed).split(layer.channels, dim=1)
    for k, c in enumerate(x.split(layer.channels, dim=1)):
        a, b = layer.kernel[r, k].split(layer.channels)
        raw = (c @ a)[:, None] + (c @ b)[None] + layer.bias[r, k]
        score = functional.elu(raw) if layer.score == "elu" else functional.leaky_relu(raw, 0.2)
        outs.append(score.masked_fill(~reach, -torch.inf).softmax(dim=1) @ values[k])
    return torch.cat(outs, dim=1)


@pytest.mark.parametrize("score", ["leaky-relu", "elu"])
def test_equals_dense_brute_force(score: str) -> None:
    layer = SelfAttention(3, heads=2, score=score, replicas=2).double()
    torch.nn.init.normal_(layer.bias)
    x = torch.randn(12, 2, 6, dtype=torch.float64)
    out = layer(x, graph())
    for r in range(2):
        torch.testing.assert_close(out[:, r], brute_force(layer, x[:, r], r))


def test_what_is_summed_may_be_dropped_after_it_made_the_weights() -> None:
    layer = SelfAttention(3, heads=2, value_dropout=0.4, replicas=2).double().train()
    layer.value_dropout.streams = generators([0, 1])
    x = torch.randn(12, 2, 6, dtype=torch.float64)
    out = layer(x, graph())
    dropped = batched.draw((12, 2, 6), 0.4, generators([0, 1]), torch.device("cpu"))
    summed = (x / 0.6).masked_fill(dropped, 0)
    torch.testing.assert_close(out[:, 1], brute_force(layer, x[:, 1], 1, summed[:, 1]))


def test_equals_gat_of_pyg() -> None:
    conv = pytest.importorskip("torch_geometric.nn").GATConv(4, 4, heads=1, bias=False)
    layer = SelfAttention(4)
    with torch.no_grad():
        conv.lin.weight.copy_(torch.eye(4))
        layer.kernel.copy_(torch.cat([conv.att_dst, conv.att_src], dim=2))
    x = torch.randn(12, 4)
    edges = torch.as_tensor(np.stack(graph().adjacency.nonzero())).long()
    torch.testing.assert_close(layer(x, edges), conv(x, edges))


def test_gradients() -> None:
    layer = SelfAttention(2, heads=2, replicas=2).double()
    torch.nn.init.normal_(layer.bias)
    neighbours = Neighbours(Shift(graph()), dtype=torch.float64)
    names, values = zip(*layer.named_parameters(), strict=True)

    def run(x: torch.Tensor, *parameters: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(layer, dict(zip(names, parameters, strict=True)), (x, neighbours))

    x = torch.randn(12, 2, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(run, (x, *values))


def test_gradients_do_not_depend_on_the_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, x = SelfAttention(3, heads=2), torch.randn(12, 6, requires_grad=True)

    def gradient() -> torch.Tensor:
        return torch.autograd.grad(layer(x, graph()).square().sum(), x)[0]

    whole = gradient()
    monkeypatch.setattr("dfnets.nn.attention.BLOCK", 7)
    torch.testing.assert_close(gradient(), whole)


def test_large_scores_stay_finite() -> None:
    layer = SelfAttention(3)
    out = layer(torch.randn(12, 3) * 1e4, graph())
    assert torch.isfinite(out).all()


def test_dropout_only_while_training() -> None:
    layer, x = SelfAttention(3, dropout=0.5), torch.randn(12, 3)
    assert not torch.equal(layer(x, graph()), layer(x, graph()))
    layer.eval()
    assert torch.equal(layer(x, graph()), layer(x, graph()))


def test_unknown_score_lists_the_choices() -> None:
    with pytest.raises(ValueError, match="score='tanh' is not one of 'leaky-relu', 'elu'"):
        SelfAttention(3, score="tanh")

"""The layer against powers of a dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from conftest import dense_graph

from dfnets import Graph, Shift
from dfnets.filters import FeedbackLoopedFilter
from dfnets.nn import Features, FeedbackLoopedConv

FILTER = FeedbackLoopedFilter([0.3, -0.2, 0.1], [0.5, 0.4], centre=1.0)


def graph() -> Graph:
    return dense_graph(12, 0.4, seed=1, weighted=True, isolated=0)


def brute_force(conv: FeedbackLoopedConv, x: torch.Tensor, x_0: torch.Tensor, r: int, psi, phi) -> torch.Tensor:
    """sigma(P x theta1 + Q x_0 theta2 + b) with P and Q formed."""
    shift = torch.as_tensor(Shift(graph(), centre=1.0).tocsr().toarray())
    power = [torch.linalg.matrix_power(shift, j) for j in range(6)]
    P = -sum(c * power[j + 1] for j, c in enumerate(psi))
    Q = sum(c * power[j] for j, c in enumerate(phi))
    out = P @ x @ conv.theta1[r] + Q @ x_0 @ conv.theta2[r]
    return torch.relu(out if conv.bias is None else out + conv.bias[r])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("learnable", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_equals_dense_brute_force(sparse: bool, learnable: bool, bias: bool) -> None:
    conv = FeedbackLoopedConv(5, 4, 3, FILTER, bias=bias, learnable=learnable, replicas=2).double()
    if conv.bias is not None:
        torch.nn.init.normal_(conv.bias)
    x, x_0 = torch.randn(12, 2, 5, dtype=torch.float64), torch.randn(12, 4, dtype=torch.float64)
    initial = Features(sp.csr_array(x_0.numpy()), dtype=torch.float64) if sparse else x_0
    out = conv(x, initial, graph())
    for r in range(2):
        torch.testing.assert_close(out[:, r], brute_force(conv, x[:, r], x_0, r, FILTER.psi, FILTER.phi))


def test_edge_index_graph_and_shift_are_the_same() -> None:
    conv = FeedbackLoopedConv(5, 4, 3, FILTER)
    x, x_0 = torch.randn(12, 5), torch.randn(12, 4)
    edges = graph().adjacency.tocoo()
    index, weight = torch.as_tensor(np.stack([edges.row, edges.col])).long(), torch.as_tensor(edges.data)
    expected = conv(x, x_0, graph())
    assert expected.shape == (12, 3)
    torch.testing.assert_close(conv(x, x_0, index, weight), expected)
    torch.testing.assert_close(conv(x, x_0, Shift(graph(), centre=0.3)), expected)


@pytest.mark.parametrize("learnable", [False, True])
def test_gradients(learnable: bool) -> None:
    conv = FeedbackLoopedConv(3, 2, 2, FILTER, learnable=learnable, replicas=2, activation=torch.tanh).double()
    inputs = (torch.randn(12, 2, 3, dtype=torch.float64, requires_grad=True), torch.randn(12, 2, dtype=torch.float64))
    shift = Shift(graph(), centre=1.0)
    names, values = zip(*conv.named_parameters(), strict=True)

    def run(x: torch.Tensor, x_0: torch.Tensor, *parameters: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(conv, dict(zip(names, parameters, strict=True)), (x, x_0, shift))

    assert len(values) == (5 if learnable else 3)
    assert torch.autograd.gradcheck(run, (*inputs, *values))


def test_project_puts_kernels_and_biases_on_the_sphere() -> None:
    conv = FeedbackLoopedConv(5, 4, 6, FILTER, unit_norm=True, heads=2, replicas=3)
    assert conv.bias is not None
    torch.nn.init.normal_(conv.bias)
    conv.project_()
    torch.testing.assert_close(conv.theta1.norm(dim=1), torch.ones(3, 6))
    torch.testing.assert_close(conv.theta2.norm(dim=1), torch.ones(3, 6))
    torch.testing.assert_close(conv.bias.view(3, 2, 3).norm(dim=2), torch.ones(3, 2))


def test_project_restores_the_contraction_of_learnt_coefficients() -> None:
    conv = FeedbackLoopedConv(5, 4, 3, FILTER, learnable=True, gamma=0.8, replicas=2)
    with torch.no_grad():
        conv.psi[0] = torch.tensor([2.0, 1.0, 0.5])
        conv.psi[1] = torch.tensor([0.1, 0.0, 0.0])
    conv.project_()
    contraction = [FeedbackLoopedFilter(psi.numpy(), [0.0]).ranges((0.0, 2.0)).contraction for psi in conv.psi.detach()]
    assert contraction == [pytest.approx(0.8, rel=1e-6), pytest.approx(0.1)]


def test_replicas_start_apart_and_reproducibly() -> None:
    from dfnets.nn.batched import generators

    conv = FeedbackLoopedConv(5, 4, 3, FILTER, replicas=2)
    conv.reset_parameters(generators([0, 1]))
    single = FeedbackLoopedConv(5, 4, 3, FILTER)
    single.reset_parameters(generators([1]))
    assert not torch.equal(conv.theta1[0], conv.theta1[1])
    assert torch.equal(conv.theta2[1], single.theta2[0])


def test_repr_and_errors() -> None:
    conv = FeedbackLoopedConv(5, 4, 6, FILTER, learnable=True, heads=2, replicas=3)
    assert "5, 4, 6, FeedbackLoopedFilter(p=3, q=1" in repr(conv)
    assert "learnable, heads=2, replicas=3" in repr(conv)
    with pytest.raises(ValueError, match="out_channels=5 must be a multiple of heads=2"):
        FeedbackLoopedConv(5, 4, 5, FILTER, heads=2)
    with pytest.raises(ValueError, match="gamma=1 must lie between 0 and 1"):
        FeedbackLoopedConv(5, 4, 5, FILTER, gamma=1)
    with pytest.raises(ValueError, match=r"edge_index has shape \(3, 4\)"):
        conv(torch.ones(3, 5), torch.ones(3, 4), torch.zeros(3, 4, dtype=torch.long))
    narrow = FeedbackLoopedFilter([0.1], [1.0], centre=0.1, interval=(0.0, 0.2))
    with pytest.raises(ValueError, match="serves frequencies"):
        FeedbackLoopedConv(5, 4, 5, narrow)(torch.ones(12, 5), torch.ones(12, 4), graph())

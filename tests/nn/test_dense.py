"""The dense block against the network as the paper draws it: concatenate, normalise, multiply, filter."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from conftest import dense_graph
from torch.nn import functional

from dfnets import Graph, Shift
from dfnets.filters import FeedbackLoopedFilter
from dfnets.nn import DenseBlock, Features, Readout

FILTER = FeedbackLoopedFilter([0.3, -0.2, 0.1], [0.5, 0.4], centre=1.0)
N, F, UNITS = 20, 6, (2, 3, 4)


def graph() -> Graph:
    return dense_graph(N, 0.2, seed=3)


def features() -> sp.csr_array:
    return sp.random_array((N, F), density=0.4, rng=np.random.default_rng(0), format="csr")


def block(**options: object) -> DenseBlock:
    made = DenseBlock(F, UNITS, FILTER, replicas=2, **options).double()  # type: ignore[arg-type]
    for parameter in made.parameters():  # also gamma and beta, which start at 1 and 0
        torch.nn.init.normal_(parameter)
    return made


def brute_force(made: DenseBlock, r: int, training: bool) -> list[torch.Tensor]:
    shift = torch.as_tensor(Shift(graph(), centre=1.0).tocsr().toarray())
    P = -sum(c * torch.linalg.matrix_power(shift, j + 1) for j, c in enumerate(FILTER.psi))
    Q = sum(c * torch.linalg.matrix_power(shift, j) for j, c in enumerate(FILTER.phi))
    x = torch.as_tensor(features().toarray())
    maps = [x]
    for t, layer in enumerate(made.layers):
        first = 0 if made.dense else t
        read = torch.cat(maps[first:], dim=1)
        if layer.norm is not None:
            part = made.moments[first : t + 1]
            mean = torch.cat([one.running_mean[r] for one in part])
            variance = torch.cat([one.running_variance[r] for one in part])
            stats = (None, None) if training else (mean, variance)
            read = functional.batch_norm(
                read, *stats, layer.norm.gamma[r], layer.norm.beta[r], training=training, eps=1e-3
            )
        conv = layer.conv
        assert conv.bias is not None
        out = P @ read @ conv.theta1[r] + Q @ x @ conv.theta2[r] + conv.bias[r]
        if layer.attention is not None:
            out = torch.stack([out, out], dim=1)  # both replicas, as the layer has two
            out = layer.attention(out, graph())[:, r]
        maps.append(torch.relu(out))
    return maps if made.dense else maps[-1:]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("momentum", [0.9, None])
@pytest.mark.parametrize("heads", [None, 2])
def test_equals_dense_brute_force(training: bool, dense: bool, momentum: float | None, heads: int | None) -> None:
    made = block(dense=dense, momentum=momentum, heads=heads).train()
    x = Features(features(), dtype=torch.float64)
    made(x, graph())  # running statistics that are not the initial ones
    made.train(training)
    maps = made(x, graph())
    for r in range(2):
        expected = brute_force(made, r, training)
        assert len(maps) == len(expected)
        for own, other in zip(maps[made.dense :], expected[made.dense :], strict=True):
            assert isinstance(own, torch.Tensor)
            torch.testing.assert_close(own[:, r], other)


def test_parameter_gradients_equal_those_of_brute_force() -> None:
    made = block().train()
    maps = made(Features(features(), dtype=torch.float64), graph())
    sum(m.square().sum() for m in maps[1:]).backward()  # type: ignore[union-attr]
    own = [parameter.grad.clone() for parameter in made.parameters()]  # type: ignore[union-attr]
    made.zero_grad()
    sum(m.square().sum() for r in range(2) for m in brute_force(made, r, training=True)[1:]).backward()  # type: ignore[union-attr]
    for gradient, parameter in zip(own, made.parameters(), strict=True):
        assert parameter.grad is not None
        torch.testing.assert_close(gradient, parameter.grad)


def test_dense_tensor_input_has_gradients() -> None:
    made = block().train()
    x = torch.as_tensor(features().toarray()).requires_grad_()
    maps = made(x, graph())
    sum(m.square().sum() for m in maps[1:]).backward()  # type: ignore[union-attr]
    gradient = x.grad
    other = torch.as_tensor(features().toarray()).requires_grad_()
    again = made(other[:, None].expand(-1, 2, -1), Shift(graph(), centre=1.0))
    torch.testing.assert_close(again[-1], maps[-1])
    assert gradient is not None
    assert gradient.abs().sum() > 0


def test_readout_is_a_linear_layer_over_the_concatenation() -> None:
    head = Readout([F, 2, 3], 4, replicas=2).double()
    maps = [torch.randn(N, 2, width, dtype=torch.float64) for width in (2, 3)]
    out = head([Features(features(), dtype=torch.float64), *maps])
    for r in range(2):
        joined = torch.cat([torch.as_tensor(features().toarray()), *(m[:, r] for m in maps)], dim=1)
        torch.testing.assert_close(out[:, r], joined @ head.kernel[r] + head.bias[r])


def test_one_dropout_rate_for_each_layer() -> None:
    made = block(dropout=(0.1, 0.2, 0.3))
    assert [layer.dropout.rate for layer in made.layers] == [0.1, 0.2, 0.3]
    with pytest.raises(ValueError, match="dropout has 2 rates for 3 layers"):
        block(dropout=(0.1, 0.2))

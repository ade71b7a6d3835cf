"""Dropout, with ReLU and without, each replica from its own stream."""

from __future__ import annotations

import pytest
import torch

from dfnets.nn import Dropout
from dfnets.nn.batched import generators


def made(rate: float, seeds: list[int], *, relu: bool = False) -> Dropout:
    layer = Dropout(rate, relu=relu, replicas=len(seeds)).train()
    layer.streams = generators(seeds)
    return layer


@pytest.mark.parametrize("relu", [False, True])
def test_the_share_and_the_mean(relu: bool) -> None:
    out = made(0.9, [0, 1], relu=relu)(torch.ones(1000, 2, 101))
    assert out.unique().tolist() == [0.0, pytest.approx(10.0)]
    assert abs((out == 0).float().mean().item() - 0.9) < 0.003
    assert not torch.equal(out[:, 0], out[:, 1])


def test_a_replica_depends_on_its_stream_only() -> None:
    x = torch.randn(30, 3, 7)
    assert torch.equal(made(0.5, [4, 5, 6])(x)[:, 1], made(0.5, [5])(x[:, 1:2])[:, 0])


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_relu_and_its_gradient(rate: float) -> None:
    x = torch.randn(6, 2, 3, dtype=torch.float64, requires_grad=True)

    def run(x: torch.Tensor) -> torch.Tensor:
        return made(rate, [0, 1], relu=True)(x.clone())

    factors = made(rate, [0, 1])(torch.ones_like(x))
    torch.testing.assert_close(run(x), torch.relu(x) * factors)
    assert torch.autograd.gradcheck(run, (x,))


def test_evaluation_drops_nothing() -> None:
    x = torch.randn(4, 1, 3)
    assert Dropout(0.5).eval()(x) is x
    assert torch.equal(Dropout(0.5, relu=True).eval()(x.clone()), torch.relu(x))


def test_the_rate_is_a_probability() -> None:
    with pytest.raises(ValueError, match=r"dropout=1 must be a probability in \[0, 1\)"):
        Dropout(1.0)

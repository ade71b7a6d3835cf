"""torch tensors at the door, and the gradient of a single step."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conftest import path

from dfnets import Shift, engine

SHIFT = Shift(path())
X = torch.arange(6.0, dtype=torch.float64).view(3, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": X.int()}, "x is of type torch.int32"),
        ({"x": X, "y": X.float()}, "y is of type torch.float32"),
        ({"x": X, "z": X.numpy()}, "z is of type float64; signals are tensors"),
        ({"x": X[:2]}, r"x has shape \(2, 2\); the graph has 3 nodes"),
        ({"x": X, "y": X.to("meta")}, "y is on meta"),
        ({"x": X, "out": X}, "out shares memory with x"),
        (
            {"x": X, "y": X.clone().requires_grad_(), "out": torch.empty_like(X)},
            "out is given, but gradients are wanted",
        ),
    ],
)
def test_what_step_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        engine.step(SHIFT, **arguments)


def test_a_step_has_gradients_for_all_it_adds():
    signals = [torch.randn(3, 2, dtype=torch.float64, requires_grad=True) for _ in range(3)]

    def call(x, y, z):
        return engine.step(SHIFT, x, scale=0.5, y=y, beta=-1.0, z=z, delta=2.0)

    assert torch.autograd.gradcheck(call, signals)
    with torch.no_grad():
        torch.testing.assert_close(
            call(*signals), engine.step(SHIFT, signals[0], scale=0.5) - signals[1] + 2 * signals[2]
        )


def test_tensors_and_arrays_have_the_same_bits():
    x, y = np.random.default_rng(0).standard_normal((2, 3, 5))
    ours = engine.step(SHIFT, torch.from_numpy(x), y=torch.from_numpy(y))
    np.testing.assert_array_equal(ours.numpy(), engine.step(SHIFT, x, y=y))


def test_half_precision_goes_in_and_out_and_sums_are_wide():
    x = torch.randn(3, 4).bfloat16()
    out = torch.empty_like(x)
    result = engine.step(SHIFT, x, out=out)
    assert result is out
    torch.testing.assert_close(out, engine.step(SHIFT, x.float()).bfloat16())


def test_a_narrow_and_a_wide_signal_meet_in_the_wide_dtype():
    assert engine.horner(SHIFT, X.bfloat16(), X.float(), [1.0], [1.0]).dtype == torch.float32


def test_results_have_the_same_bits_with_and_without_gradients():
    signal, other = torch.randn(2, 3, 5)
    table = [[0.3, 0.1, -0.7], [1.1, 0.2, 0.9]]

    def calls() -> list[torch.Tensor]:
        return [
            engine.horner(SHIFT, signal, other, [0.3, 0.1, -0.7], [0.2]),
            engine.clenshaw(SHIFT, signal, table[0]),
            engine.clenshaw(SHIFT, torch.stack([signal, other]), table),
            engine.analysis(SHIFT, signal, table),
        ]

    without = calls()
    signal, other = signal.requires_grad_(), other.requires_grad_()
    learning = calls()
    with torch.no_grad():
        stopped = calls()
    assert all(result.requires_grad for result in learning)
    for results in (learning, stopped):
        assert all(torch.equal(one.detach(), wanted) for one, wanted in zip(results, without, strict=True))


def test_what_torch_follows_goes_through_its_own_operators():
    """Who counts or records the operators of torch must see ours; the way through NumPy would hide them."""
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Recorder(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func.name())
            return func(*args, **(kwargs or {}))

    signal = torch.randn(3, 5)
    with Recorder():
        result = engine.clenshaw(SHIFT, signal, [0.3, 0.1])
    assert "dfnets::polynomial" in seen
    assert torch.equal(result, engine.clenshaw(SHIFT, signal, [0.3, 0.1]))

"""The torch operators: what the compiler sees, what is saved, and gradients of some inputs only."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conftest import dense_graph

from dfnets import Graph, Shift, engine
from dfnets.engine import autograd, operator

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
SHIFT = Shift(dense_graph(20, 0.3, seed=0, weighted=True))


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    return request.param


def inputs(device: str, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    """Z, Y, phi, psi."""
    generator = torch.Generator().manual_seed(0)
    shapes = ((20, 3), (20, 3), (4,), (5,))
    return [torch.randn(s, dtype=dtype, generator=generator).to(device).requires_grad_() for s in shapes]


def value_and_gradients(function, arguments):
    result = function(*arguments)
    return [result, *torch.autograd.grad(result.square().sum(), arguments)]


def test_one_graph_under_the_compiler(device):
    arguments = inputs(device)

    def layer(Z, Y, phi, psi):
        return torch.tanh(engine.horner(SHIFT, 2 * Z, Y, phi, psi)) + 1

    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    for ours, wanted in zip(
        value_and_gradients(compiled, arguments), value_and_gradients(layer, arguments), strict=True
    ):
        torch.testing.assert_close(ours, wanted)


def test_a_compiled_function_follows_the_shift_it_is_given(device):
    Z, _, phi, _ = inputs(device)

    def call(shift, Z):
        return engine.horner(shift, Z, None, phi, None)

    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    other = Shift(Graph(np.eye(20, k=1) + np.eye(20, k=-1)))
    for shift in (SHIFT, SHIFT.recentred(0.1), other, SHIFT):
        torch.testing.assert_close(compiled(shift, Z), call(shift, Z))


def test_the_operators_pass_torchs_own_checks(device):
    Z, Y, _, _ = inputs(device)
    graph = operator.tensors(SHIFT, torch.device(device), torch.float64)
    table = torch.randn(2, 4, dtype=torch.float64, device=device, requires_grad=True)
    for basis, scale, stacks in (("power", 1.0, [Z[None], Y[None]]), ("chebyshev", 0.8, [torch.stack([Z, Y])])):
        start = (graph.parts(), graph.centre, basis, scale)
        torch.library.opcheck(autograd.polynomial, (*start, stacks, table, [3, 2], None))
        torch.library.opcheck(autograd.adjoint, (*start, Z, table, [Y[None]], [3, 2, 1], None))


@pytest.mark.parametrize("wanted", [(0,), (1,), (2,), (3,), (0, 2), (1, 3), (2, 3)])
def test_gradients_of_some_inputs_are_those_of_all(device, wanted):
    arguments = inputs(device)
    everything = torch.autograd.grad(engine.horner(SHIFT, *arguments).square().sum(), arguments)
    some = [argument.detach().requires_grad_(i in wanted) for i, argument in enumerate(arguments)]
    result = engine.horner(SHIFT, *some).square().sum()
    for i, gradient in zip(wanted, torch.autograd.grad(result, [some[i] for i in wanted]), strict=True):
        torch.testing.assert_close(gradient, everything[i])
    assert torch.autograd.gradgradcheck(
        lambda *free: engine.horner(SHIFT, *(free[wanted.index(i)] if i in wanted else a for i, a in enumerate(some))),
        [some[i] for i in wanted],
        fast_mode=True,
    )


def test_signals_are_saved_only_for_coefficients_that_learn(device):
    Z, Y, phi, psi = inputs(device)
    fixed = engine.horner(SHIFT, Z, Y, phi.detach(), psi.detach())
    learnt = engine.horner(SHIFT, Z, Y, phi, psi)
    sizes = [
        [tensor.numel() for tensor in saved_by(result) if tensor.shape[-2:] == Z.shape] for result in (fixed, learnt)
    ]
    assert sizes == [[], [Z.numel(), Y.numel()]]


def saved_by(result: torch.Tensor) -> tuple[torch.Tensor, ...]:
    node = result.grad_fn
    while not hasattr(node, "saved_tensors"):
        node = node.next_functions[0][0]
    return node.saved_tensors


def test_autocast_keeps_the_dtype_that_it_chose(device):
    Z, Y, phi, psi = inputs(device, torch.float32)
    theta = torch.randn(3, 3, device=device, requires_grad=True)
    with torch.autocast(device, torch.bfloat16):
        result = engine.horner(SHIFT, Z @ theta, Y @ theta, phi, psi)
    assert result.dtype == torch.bfloat16
    result.float().sum().backward()
    exact = engine.horner(SHIFT, Z @ theta, Y @ theta, phi, psi)
    assert (result.float() - exact).norm() < 0.02 * exact.norm()
    assert all(tensor.grad.dtype == torch.float32 for tensor in (Z, Y, phi, psi, theta))

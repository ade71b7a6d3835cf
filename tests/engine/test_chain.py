"""The chains hold few signals, and multiply no more often than they say."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from dfnets import Shift
from dfnets.engine import backends, chain, operator

N, K = 4000, 32
SIGNAL = N * K * 8


@pytest.fixture(scope="module")
def shift() -> Shift:
    from dfnets import Graph

    return Shift(Graph.from_edges(np.arange(N - 1), np.arange(1, N)))


def peak(call) -> float:
    """The most memory held during the call, its result included, in signals."""
    call()
    tracemalloc.start()
    result = call()
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del result
    return held / SIGNAL


def signals(count: int) -> list[np.ndarray]:
    return list(np.random.default_rng(0).standard_normal((count, N, K)))


@pytest.mark.parametrize("degrees", [(5, 3), (3, 5), (4, 4), (1, 0)])
def test_memory_beside_inputs_and_outputs(shift, degrees):
    plain, kernels = operator.arrays(shift, np.dtype(np.float64)), backends.get("cpu", "cpu")
    Z, Y, g = signals(3)
    table = np.ones((2, max(degrees) + 1))
    assert peak(lambda: chain.horner(kernels, plain, [Z[None], Y[None]], table, degrees)) < 1 + 1 + 0.1
    assert (
        peak(lambda: chain.adjoint(kernels, plain, "power", 1.0, g, table, [Z[None], Y[None]], [*degrees, *degrees]))
        < 2 + 2 + 0.1
    )


@pytest.mark.parametrize("degrees", [(5, 3), (3, 5), (4, 4), (0, 0), (1,)])
def test_products_are_the_largest_degree(shift, degrees):
    plain, reference = operator.arrays(shift, np.dtype(np.float64)), backends.get("reference", "cpu")
    count = 0

    def step(*arguments):
        nonlocal count
        count += 1
        reference.step(*arguments)

    names = ("combine", "inner", "empty", "zeros", "columns_at_once")
    counting = SimpleNamespace(step=step, **{name: getattr(reference, name) for name in names})
    inputs = [signal[None] for signal in signals(len(degrees))]
    table = np.ones((len(degrees), max(degrees) + 1))
    chain.horner(counting, plain, inputs, table, degrees)
    assert count == max(degrees)
    chain.adjoint(counting, plain, "power", 1.0, inputs[0][0], table, inputs, [*degrees, *degrees])
    assert count == 2 * max(degrees)


@pytest.mark.parametrize("width", [1, 3, 16])
@pytest.mark.parametrize("degrees", [(5, 3), (3, 5), (4, 4), (1,), (0, 2), (2,)])
def test_all_steps_in_one_call_have_the_bits_of_one_call_for_each(shift, degrees, width):
    cpu = pytest.importorskip("dfnets.engine.cpu")
    plain = operator.arrays(shift, np.dtype(np.float64))
    names = ("step", "combine", "inner", "empty", "zeros", "columns_at_once")
    single = SimpleNamespace(**{name: getattr(cpu, name) for name in names})
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal((1, N, width)) for _ in degrees]
    table = rng.standard_normal((len(degrees), max(degrees) + 1))
    together, apart = (chain.horner(kernels, plain, inputs, table, degrees) for kernels in (cpu, single))
    np.testing.assert_array_equal(together, apart)
    stack = np.concatenate(inputs)
    together, apart = (chain.clenshaw(kernels, plain, 0.9, stack, table) for kernels in (cpu, single))
    np.testing.assert_array_equal(together, apart)

"""The Numba back end: the same bits for any number of threads, on graphs large enough to be shared out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conftest import star

from dfnets import Graph, Shift, engine

numba = pytest.importorskip("numba")


@pytest.fixture
def threads():
    """Sets the number of threads, and restores it."""
    before = numba.get_num_threads()
    yield numba.set_num_threads
    numba.set_num_threads(before)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one thread is all there is")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bits_do_not_depend_on_the_number_of_threads(threads, dtype):
    ends = np.random.default_rng(3).integers(0, 3000, (2, 18_000))
    shift = Shift(Graph.from_edges(*ends, num_nodes=3000))
    Z, Y = (torch.randn(3000, 20, dtype=dtype, requires_grad=True) for _ in range(2))
    phi = torch.linspace(1, 2, 4, dtype=dtype, requires_grad=True)
    runs = []
    for count in (1, 2):
        threads(count)
        result = engine.horner(shift, Z, Y, phi, [0.1, 0.2, 0.3])
        runs.append([result, *torch.autograd.grad(result.square().mean(), (Z, Y, phi))])
        assert numba.get_num_threads() == count
    assert all(torch.equal(one, two) for one, two in zip(*runs, strict=True))


@pytest.mark.parametrize("name", ["cora", "mesh"])
def test_real_graphs_as_the_reference_has_them(name, request):
    graph: Graph = request.getfixturevalue(name)
    shift = Shift(graph)
    x, y = np.random.default_rng(0).standard_normal((2, graph.num_nodes, 17))
    ours, theirs = (engine.step(shift, x, y=y, backend=backend) for backend in ("cpu", "reference"))
    np.testing.assert_allclose(ours, theirs, atol=1e-13)


def test_hubs_and_long_tails_are_shared_out_whole():
    """Pieces of equal work: a node with half of all entries, then rows with one each."""
    n = 20_000
    shift = Shift(star(n))
    x = np.random.default_rng(0).standard_normal((n, 3))
    np.testing.assert_allclose(engine.step(shift, x, backend="cpu"), shift.tocsr() @ x, atol=1e-12)

"""The Numba back end: the same bits for any number of threads, on graphs large enough to be shared out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from conftest import star

from dfnets import Graph, Shift, engine

pytest.importorskip("numba")
threads = pytest.importorskip("dfnets.engine.threads")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("width", [1, 20])
def test_bits_do_not_depend_on_the_number_of_threads(monkeypatch, dtype, width):
    """Shared out in many small pieces, so that every thread takes some."""
    monkeypatch.setattr(threads, "WORTH_WAKING", 1000)
    monkeypatch.setattr(threads, "PIECE", 500)
    ends = np.random.default_rng(3).integers(0, 5000, (2, 18_000))
    shift = Shift(Graph.from_edges(*ends[:, ends[0] != ends[1]], num_nodes=5000, duplicates="max"))
    Z, Y = (torch.randn(5000, width, dtype=dtype, requires_grad=True) for _ in range(2))
    phi = torch.linspace(1, 2, 4, dtype=dtype, requires_grad=True)
    runs = []
    for count in (1, 2, 4):
        monkeypatch.setattr(threads, "count", lambda count=count: count)
        result = engine.horner(shift, Z, Y, phi, [0.1, 0.2, 0.3])
        bank = engine.clenshaw(shift, torch.stack([Z, Y]), [[1.0, 0.5, 0.2], [0.0, 0.3, 0.1]])
        runs.append([result, bank, *torch.autograd.grad(result.square().mean(), (Z, Y, phi))])
    assert all(torch.equal(one, other) for run in runs[1:] for one, other in zip(runs[0], run, strict=True))


def test_every_piece_is_done_when_a_call_returns_whoever_did_it(monkeypatch):
    """Many short calls in a row, from several threads at once: a helper that comes late must do no harm."""
    monkeypatch.setattr(threads, "WORTH_WAKING", 1000)
    monkeypatch.setattr(threads, "PIECE", 200)
    monkeypatch.setattr(threads, "count", lambda: 3)
    shift = Shift(star(4000))
    x = np.random.default_rng(0).standard_normal((4000, 2))
    wanted = shift.tocsr() @ x

    def work() -> bool:
        return all(np.abs(engine.step(shift, x) - wanted).max() < 1e-12 for _ in range(200))

    with ThreadPoolExecutor(3) as pool:
        assert all(pool.map(lambda _: work(), range(3)))


def test_threads_are_woken_only_for_work_that_pays(monkeypatch):
    def refuse() -> int:
        raise AssertionError("a small product asked for threads")

    monkeypatch.setattr(threads, "count", refuse)
    shift = Shift(star(2000))
    engine.step(shift, np.ones(2000))
    with pytest.raises(AssertionError, match="asked for threads"):
        engine.step(shift, np.ones((2000, 1000)))


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 16])
def test_rows_of_every_length_read_nothing_but_their_neighbours(dtype, width):
    """Node 0 holds infinity: the ends of rows are summed in vectors, and an empty lane must not bring it in."""
    n = 40
    ends = [(i, j) for i in range(1, 12) for j in range(12, 12 + i)]
    shift = Shift(Graph.from_edges(*np.array(ends).T, num_nodes=n), centre=0.25)
    x = np.random.default_rng(width).standard_normal((n, width)).astype(dtype)
    wanted = (shift.tocsr() @ x.astype(np.float64))[1:]
    x[0] = np.inf
    result = engine.step(shift, x)
    assert not np.isfinite(result[0]).any()
    np.testing.assert_allclose(result[1:], wanted, rtol=0, atol=20 * np.finfo(dtype).eps)

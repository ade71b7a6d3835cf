"""What every back end must do, on every device it can run on: a new one in the table of back ends is checked here."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from conftest import star

from dfnets import Graph, Shift, engine
from dfnets.engine import operator

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
BACKENDS = [(name, device) for device in DEVICES for name in engine.available(device)]
# Odd ones, a vector register and its neighbours, and blocks of 256 bytes with something left over.
WIDTHS = [1, 2, 3, 7, 15, 16, 17, 33, 64, 65, 100, 130]
TOLERANCES = {torch.float64: 1e-13, torch.float32: 2e-6, torch.bfloat16: 2e-2, torch.float16: 3e-3}


def weighted(n: int, degree: float, seed: int) -> Graph:
    """Random weights, self-loops on some nodes, and isolated nodes at both ends and in the middle."""
    rng = np.random.default_rng(seed)
    matrix = sp.random_array((n, n), density=degree / n, rng=rng, data_sampler=lambda size: rng.uniform(0.1, 3, size))
    matrix = sp.csr_array(matrix + matrix.T)
    connected = np.ones(n)
    connected[[0, n // 2, n - 1]] = 0
    return Graph(sp.diags_array(connected) @ matrix @ sp.diags_array(connected))


SHIFTS = {
    "random": Shift(weighted(300, 6.0, seed=1), centre=0.7),
    "hub": Shift(star(700)),
    "one node": Shift(Graph(np.zeros((1, 1)))),
    "no edges": Shift(Graph(sp.csr_array((5, 5))), centre=0.25),
}


@pytest.fixture(params=BACKENDS, ids=lambda pair: "-".join(pair))
def backend(request: pytest.FixtureRequest) -> tuple[str, str]:
    return request.param


@pytest.fixture(params=SHIFTS)
def shift(request: pytest.FixtureRequest) -> Shift:
    return SHIFTS[request.param]


def dense(shift: Shift) -> torch.Tensor:
    """L~ from its definition, by none of the code under test."""
    n = shift.num_nodes
    matrix = np.zeros((n, n))
    for i in range(n):
        for entry in range(shift.indptr[i], shift.indptr[i + 1]):
            matrix[i, shift.indices[entry]] += shift.values[entry]
        matrix[i, i] += shift.diagonal[i] - shift.centre
    return torch.from_numpy(matrix)


def signals(count: int, *shape: int, dtype: torch.dtype, device: str = "cpu", seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(count, *shape, dtype=torch.float64, generator=generator)
    return list(drawn.to(device, dtype))


def assert_close(result: torch.Tensor, wanted: torch.Tensor, dtype: torch.dtype) -> None:
    assert result.dtype == dtype
    error = (result.cpu().double() - wanted).norm() / wanted.norm().clamp(min=1e-30)
    assert error < TOLERANCES[dtype]


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("width", WIDTHS)
def test_step_is_the_product_and_both_additions(backend, width, dtype):
    name, device = backend
    shift = SHIFTS["random"]
    x, y, z = signals(3, shift.num_nodes, width, dtype=dtype, device=device)
    result = engine.step(shift, x, scale=-0.5, y=y, beta=2.0, z=z, delta=0.3, backend=name)
    wanted = -0.5 * dense(shift) @ x.cpu().double() + 2.0 * y.cpu().double() + 0.3 * z.cpu().double()
    assert_close(result, wanted, dtype)


@pytest.mark.parametrize("present", list(itertools.product([True, False], repeat=2)))
def test_step_on_every_kind_of_graph(backend, shift, present):
    name, device = backend
    x, y, z = signals(3, shift.num_nodes, 5, dtype=torch.float64, device=device)
    y, z = (signal if there else None for signal, there in zip((y, z), present, strict=True))
    wanted = dense(shift) @ x.cpu()
    for signal in (y, z):
        wanted = wanted if signal is None else wanted + signal.cpu()
    assert_close(engine.step(shift, x, y=y, z=z, backend=name), wanted, torch.float64)


@pytest.mark.parametrize("indices", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_vector_is_one_column_and_indices_may_be_wide(backend, dtype, indices):
    name, device = backend
    shift = SHIFTS["random"].recentred(0.7)
    shift.indptr, shift.indices = shift.indptr.astype(indices), shift.indices.astype(indices)
    shift.values = shift.values.copy()  # another owner, hence another entry among the copies
    (x,) = signals(1, shift.num_nodes, dtype=dtype, device=device)
    assert_close(engine.step(shift, x, backend=name), dense(shift) @ x.cpu().double(), dtype)


@pytest.mark.parametrize("target", ["y", "z", "new", "strided"])
def test_out_may_be_a_summand_and_of_any_layout(backend, target):
    name, device = backend
    shift = SHIFTS["random"]
    x, y, z = signals(3, shift.num_nodes, 20, dtype=torch.float32, device=device)
    wanted = dense(shift) @ x.cpu().double() + 2.0 * y.cpu().double() - z.cpu().double()
    wide = torch.full((shift.num_nodes, 40), torch.nan, device=device)
    out = {"y": y, "z": z, "new": wide[:, :20].contiguous(), "strided": wide[:, ::2]}[target]
    result = engine.step(shift, x, y=y, beta=2.0, z=z, delta=-1.0, out=out, backend=name)
    assert result.data_ptr() == out.data_ptr()
    assert_close(out, wanted, torch.float32)
    assert target != "strided" or wide[:, 1::2].isnan().all()


def test_inputs_of_any_layout(backend):
    name, device = backend
    shift = SHIFTS["random"]
    n = shift.num_nodes
    x = signals(1, 9, n, dtype=torch.float64, device=device)[0].T
    y = signals(1, n, 18, dtype=torch.float64, device=device)[0][:, ::2]
    # z overlaps out, one row askew: it must be read before it is overwritten.
    memory = signals(1, n + 1, 9, dtype=torch.float64, device=device)[0]
    z, out = memory[:-1], memory[1:]
    wanted = dense(shift) @ x.cpu() + y.cpu() + z.cpu()
    assert_close(engine.step(shift, x, y=y, z=z, out=out, backend=name), wanted, torch.float64)


def test_nan_and_infinity_reach_the_neighbours_and_nobody_else(backend):
    name, device = backend
    shift = SHIFTS["random"]
    (x,) = signals(1, shift.num_nodes, 16, dtype=torch.float32, device=device)
    node = int(np.argmax(np.diff(shift.indptr)))
    x[node, 3] = torch.nan
    x[node, 5] = torch.inf
    result = engine.step(shift, x, backend=name).cpu()
    reached = np.union1d(shift.indices[shift.indptr[node] : shift.indptr[node + 1]], node)
    assert set(result[:, 3].isnan().nonzero().ravel().tolist()) == set(reached)
    assert set(result[:, 5].isinf().nonzero().ravel().tolist()) == set(reached)
    assert result[:, [0, 1, 2, 4, *range(6, 16)]].isfinite().all()


@pytest.mark.parametrize("orders", [(5, 3), (3, 5), (4, 4), (0, 3), (2, 0), (0, 0), (1, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_horner_is_the_polynomial(backend, orders, dtype):
    name, device = backend
    p, q = orders
    shift = SHIFTS["random"]
    Z, Y = signals(2, shift.num_nodes, 10, dtype=dtype, device=device)
    phi, psi = np.linspace(1, -1, q + 1), np.linspace(0.5, 2, p)
    result = engine.horner(shift, Z, Y, phi, psi, backend=name)
    wanted, powers = 0, (Z.cpu().double(), Y.cpu().double())
    for j in range(max(p, q) + 1):
        wanted = wanted + (phi[j] if j <= q else 0) * powers[0] - (psi[j - 1] if 0 < j <= p else 0) * powers[1]
        powers = tuple(dense(shift) @ power for power in powers)
    assert_close(result, wanted, dtype)


@pytest.mark.parametrize("kind", ["random", "one node", "no edges"])
def test_gradients_of_first_and_second_order(backend, kind):
    name, device = backend
    shift = SHIFTS[kind] if SHIFTS[kind].num_nodes < 100 else Shift(weighted(8, 3.0, seed=2))
    Z, Y = (s.requires_grad_() for s in signals(2, shift.num_nodes, 2, dtype=torch.float64, device=device))
    phi, psi = (s.requires_grad_() for s in signals(2, 3, dtype=torch.float64, device=device, seed=1))

    def call(Z, Y, phi, psi):
        return engine.horner(shift, Z, Y, phi, psi[:2], backend=name)

    assert torch.autograd.gradcheck(call, (Z, Y, phi, psi))
    assert torch.autograd.gradgradcheck(call, (Z, Y, phi, psi), fast_mode=True)


def chebyshev(matrix: torch.Tensor, x: torch.Tensor, count: int) -> list[torch.Tensor]:
    """T_j(matrix) x by the recurrence of the polynomials, in float64."""
    terms = [x, matrix @ x]
    while len(terms) < count:
        terms.append(2 * matrix @ terms[-1] - terms[-2])
    return terms[:count]


def mapped(shift: Shift, low: float, high: float) -> torch.Tensor:
    n = shift.num_nodes
    return (dense(shift) + (shift.centre - (low + high) / 2) * torch.eye(n, dtype=torch.float64)) * 2 / (high - low)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 8])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_clenshaw_is_the_sum_of_chebyshev_polynomials(backend, shift, degree, dtype):
    name, device = backend
    if dtype == torch.bfloat16 and shift is not SHIFTS["random"]:
        pytest.skip("terms that cancel at a handful of nodes leave nothing of two digits")
    coefficients = np.linspace(1, -0.5, 3 * (degree + 1)).reshape(3, -1)
    coefficients[1, -1] = 0
    (x,) = signals(1, shift.num_nodes, 6, dtype=dtype, device=device)
    bank = torch.stack(signals(3, shift.num_nodes, 6, dtype=dtype, device=device, seed=1))
    matrix = mapped(shift, -0.2, 2.0)
    wanted = sum(
        c * term
        for row, signal in zip(coefficients, bank.cpu().double(), strict=True)
        for c, term in zip(row, chebyshev(matrix, signal, degree + 1), strict=True)
    )
    result = engine.clenshaw(shift, bank, coefficients, interval=(-0.2, 2.0), backend=name)
    assert_close(result, wanted, dtype)
    terms = chebyshev(matrix, x.cpu().double(), degree + 1)
    single = engine.clenshaw(shift, x[:, 0], coefficients[0], interval=(-0.2, 2.0), backend=name)
    assert_close(single, sum(c * t[:, 0] for c, t in zip(coefficients[0], terms, strict=True)), dtype)
    each = engine.analysis(shift, x, coefficients, interval=(-0.2, 2.0), backend=name)
    for part, row in zip(each, coefficients, strict=True):
        assert_close(part, sum(c * t for c, t in zip(row, terms, strict=True)), dtype)


def test_gradients_of_clenshaw_of_first_and_second_order(backend):
    name, device = backend
    shift = Shift(weighted(8, 3.0, seed=2))
    X = torch.stack(signals(2, 8, 3, dtype=torch.float64, device=device)).requires_grad_()
    table = torch.stack(signals(2, 4, dtype=torch.float64, device=device, seed=1)).requires_grad_()
    for call in (
        lambda X, table: engine.clenshaw(shift, X, table, backend=name),
        lambda X, table: engine.analysis(shift, X[0], table, backend=name),
    ):
        assert torch.autograd.gradcheck(call, (X, table))
        assert torch.autograd.gradgradcheck(call, (X, table), fast_mode=True)


@pytest.mark.parametrize("width", [1, 2, 4, 5, 16, 64, 100])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_column_is_the_same_sum_at_every_width(width, dtype):
    """Replicas are columns: their bits must not depend on how many there are."""
    n = 6000
    ends = np.random.default_rng(3).zipf(1.6, (2, 30_000)) % n
    shift = Shift(Graph.from_edges(*ends[:, ends[0] != ends[1]], num_nodes=n, duplicates="max"))
    x, y, z = signals(3, n, width, dtype=dtype)
    whole = engine.step(shift, x, scale=0.7, y=y, beta=-1.5, z=z, delta=0.3)
    column = width - 1
    alone = engine.step(
        shift, x[:, column].clone(), scale=0.7, y=y[:, column].clone(), beta=-1.5, z=z[:, column].clone(), delta=0.3
    )
    assert torch.equal(whole[:, column], alone)
    bank, coefficients = torch.stack([x, y, z]), np.linspace(1, 0.2, 12).reshape(3, 4)
    filtered = engine.clenshaw(shift, bank, coefficients)
    assert torch.equal(filtered[:, :1], engine.clenshaw(shift, bank[:, :, :1], coefficients))


def test_kernels_agree_with_the_reference_on_accumulators(backend):
    """The parts of the contract that only the backward pass uses, with and without a stored total."""
    name, device = backend
    if device != "cpu":
        pytest.skip("the gradients above cover it; this one works on NumPy arrays")
    kernels, reference = (engine.backends.get(which, device) for which in (name, "reference"))
    shift = SHIFTS["random"]
    weights = np.array([0.5, -1.0, 2.0, 0.0, 0.3, 0.7, 0.3, -0.2, 0.9])
    for out_wanted, width, first in itertools.product([True, False], [1, 4, 40], [True, False]):
        results = []
        for module in (kernels, reference):
            x, z, out, *rest = (s.numpy().copy() for s in signals(8, shift.num_nodes, width, dtype=torch.float64))
            y, u = np.stack(rest[:3]), np.stack(rest[3:])
            plain = operator.arrays(shift, x.dtype)
            module.step(plain, weights, x, y, z, out if out_wanted else None, u, first)
            results.append((u, out, module.inner(u[0], u[1])))
        for mine, theirs in zip(*results, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


def test_the_same_bits_twice(backend):
    name, device = backend
    shift = SHIFTS["random"]
    Z, Y = (s.requires_grad_() for s in signals(2, shift.num_nodes, 33, dtype=torch.float32, device=device))
    phi = torch.linspace(1, 2, 4, device=device, requires_grad=True)
    runs = []
    for _ in range(2):
        result = engine.horner(shift, Z, Y, phi, [0.1, 0.2, 0.3], backend=name)
        runs.append([result, *torch.autograd.grad(result.square().sum(), (Z, Y, phi))])
    assert all(torch.equal(first, second) for first, second in zip(*runs, strict=True))

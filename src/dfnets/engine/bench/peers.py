"""Who does the same work: result = L~ x + c, x and c (n, k), as in a chain that goes on with the result.

Each contender makes what it needs of the graph beforehand and returns the call that is timed. The peers get the best
that their interfaces allow: the diagonal inside their matrix, memory for the result where they can take it, and an
addition in place where they cannot add while they multiply. One column is a vector to them, on a CPU.
"""

from __future__ import annotations

import functools
import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from dfnets.engine import backends
from dfnets.engine.bench.timing import Call
from dfnets.engine.operator import Operator

OURS = "dfnets"
# Bytes of messages that PyTorch Geometric is still asked to hold: it needs several times as much, and many seconds.
MOST_MESSAGES = 1 << 30


def contenders(operator: Operator, x: Tensor, c: Tensor) -> dict[str, Call]:
    """The contenders that can run on the device of x, ours first."""
    library = "torch CSR" if x.device.type == "cpu" else "cuSPARSE"
    makers: dict[str, Callable[[Operator, Tensor, Tensor], Call]] = {OURS: ours}
    makers |= {f"{library} + add": torch_csr, f"{library} addmm": torch_addmm}
    if x.device.type == "cpu":
        makers |= {"SciPy": scipy, "torch.sparse.mm": torch_reduce}
    # It holds every message at once; what does not fit has no time.
    messages = len(operator.indices) * x.shape[1] * x.element_size()
    if importlib.util.find_spec("torch_geometric") and messages < MOST_MESSAGES:
        makers["PyG propagate"] = pyg
    return {name: make(operator, x, c) for name, make in makers.items()}


def ours(operator: Operator, x: Tensor, c: Tensor) -> Call:
    kernels = backends.get(None, x.device.type)
    weights = torch.ones(3, device=x.device)
    parts: list[Any] = [*operator.parts(), weights, x, c]
    if x.device.type == "cpu":
        parts = [part.numpy() for part in parts]
    *graph, row, signal, summand = parts
    native = Operator.of(graph, operator.centre)
    out = kernels.empty(signal, *signal.shape)

    def call() -> object:
        kernels.step(native, row, signal, summand[None], None, out, None)
        return out

    return call


def scipy(operator: Operator, x: Tensor, c: Tensor) -> Call:
    parts = with_diagonal(operator)
    matrix = sp.csr_array(tuple(part.numpy() for part in (parts[2], parts[1], parts[0])))
    signal, summand = (_one(array).numpy() for array in (x, c))

    def call() -> np.ndarray:
        result = matrix @ signal
        result += summand
        return result

    return call


def torch_csr(operator: Operator, x: Tensor, c: Tensor) -> Call:
    matrix = csr(operator)
    if x.device.type == "cpu" and x.shape[1] == 1:
        x, c = _one(x), _one(c)
        out = _like(x)
        return lambda: torch.mv(matrix, x, out=out).add_(c)
    out = _like(x)
    return lambda: torch.mm(matrix, x, out=out).add_(c)


def torch_addmm(operator: Operator, x: Tensor, c: Tensor) -> Call:
    matrix = csr(operator)
    if x.device.type == "cpu" and x.shape[1] == 1:
        x, c = _one(x), _one(c)
        out = _like(x)
        return lambda: torch.addmv(c, matrix, x, out=out)
    out = _like(x)
    return lambda: torch.addmm(c, matrix, x, out=out)


def torch_reduce(operator: Operator, x: Tensor, c: Tensor) -> Call:
    matrix = csr(operator)
    return lambda: torch.sparse.mm(matrix, x, "sum").add_(c)


def pyg(operator: Operator, x: Tensor, c: Tensor) -> Call:
    from torch_geometric.nn import SimpleConv

    edges, weight = edge_list(operator)
    layer = SimpleConv(aggr="sum")
    return lambda: layer(x, edges, weight).add_(c)


@functools.lru_cache(maxsize=1)
def with_diagonal(operator: Operator) -> tuple[Tensor, Tensor, Tensor]:
    """indptr, indices and values of L~, its diagonal merged into the rows at its place."""
    indptr, indices, values, diagonal, centre, _ = operator
    n = len(diagonal)
    node = torch.arange(n, device=indptr.device)
    rows = torch.cat([node.repeat_interleave(indptr.diff()), node])
    columns = torch.cat([indices.long(), node])
    order = (rows * n + columns).argsort()
    entries = torch.cat([values, diagonal - centre])[order]
    return (indptr + torch.arange(n + 1, device=indptr.device)).int(), columns[order].int(), entries


def csr(operator: Operator) -> Tensor:
    n = len(operator.diagonal)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(*with_diagonal(operator), size=(n, n), check_invariants=False)


def edge_list(operator: Operator) -> tuple[Tensor, Tensor]:
    """edge_index (2, entries) and edge weights, the diagonal as self-loops; sorted by target, which is PyG's best."""
    indptr, indices, values = with_diagonal(operator)
    rows = torch.arange(len(indptr) - 1, device=indptr.device).repeat_interleave(indptr.diff())
    return torch.stack([indices.long(), rows]), values


def _one(signal: Tensor) -> Tensor:
    """One column as a vector: libraries multiply with vectors by kernels of their own."""
    return signal.view(-1) if signal.shape[1] == 1 else signal


def _like(x: Tensor) -> Tensor:
    """Memory for a result: NumPy's on the CPU, which asks for large pages."""
    return torch.from_numpy(np.empty_like(x.numpy())) if x.device.type == "cpu" else torch.empty_like(x)

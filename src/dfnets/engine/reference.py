"""The plain back end: SciPy's product for NumPy arrays, torch's for tensors. The oracle, and the fallback."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from dfnets.engine.operator import Operator


def step(operator: Operator, weights: Any, x: Any, y: Any, z: Any, out: Any, u: Any, first: bool = False) -> None:
    addends = 0 if y is None else len(y)
    total = weights[0] * (_product(operator, x) + (operator.diagonal - operator.centre)[:, None] * x)
    if z is not None:
        total = total + weights[1] * z
    for s in range(addends):
        total = total + weights[2 + s] * y[s]
    if out is not None:
        out[...] = total
    for t in range(0 if u is None else len(u)):
        if first:
            u[t] = weights[2 + addends + t] * total + weights[2 + addends + len(u) + t] * x
        else:
            u[t] += weights[2 + addends + t] * total


def variant(operator: Operator, k: int, itemsize: int) -> str:  # noqa: ARG001
    return "SciPy" if isinstance(operator.values, np.ndarray) else "torch"


def combine(weights: Any, y: Any, z: Any, out: Any) -> None:
    total = weights[2] * y[0]
    for s in range(1, len(y)):
        total = total + weights[2 + s] * y[s]
    out[...] = total if z is None else total + weights[1] * z


def inner(x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.vdot(x.astype(np.float64), y.astype(np.float64))
    return (x.double() * y.double()).sum()


def columns_at_once(signal: Any) -> int:
    return signal.shape[-1]


def empty(like: Any, *shape: int) -> Any:
    return np.empty(shape, dtype=like.dtype) if isinstance(like, np.ndarray) else like.new_empty(shape)


def zeros(like: Any, *shape: int) -> Any:
    if isinstance(like, np.ndarray):
        return np.zeros(shape, dtype=like.dtype)
    import torch

    return torch.zeros(shape, dtype=torch.promote_types(like.dtype, torch.float32), device=like.device)


def _product(operator: Operator, x: Any) -> Any:
    indptr, indices, values, _, _, _ = operator
    n = len(operator.diagonal)
    if isinstance(x, np.ndarray):
        return sp.csr_array((values, indices, indptr), shape=(n, n)) @ x
    import torch

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        matrix = torch.sparse_csr_tensor(indptr, indices, values, size=(n, n), check_invariants=False)
    return matrix @ x.to(values.dtype)

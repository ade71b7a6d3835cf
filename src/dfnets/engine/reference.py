"""The plain back end: SciPy's product for NumPy arrays, torch's for tensors. The oracle, and the fallback."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from dfnets.engine.operator import Operator


def step(operator: Operator, weights: Any, x: Any, y: Any, z: Any, out: Any, u: Any, v: Any) -> None:
    total = weights[0] * (_product(operator, x) + (operator.diagonal - operator.centre)[:, None] * x)
    if y is not None:
        total = total + weights[1] * y
    if z is not None:
        total = total + weights[2] * z
    if out is not None:
        out[...] = total
    if u is not None:
        u += weights[3] * total
    if v is not None:
        v += weights[4] * total


def combine(a: Any, x: Any, b: Any, y: Any, out: Any) -> None:
    out[...] = a * x if y is None else a * x + b * y


def inner(x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.vdot(x.astype(np.float64), y.astype(np.float64))
    return (x.double() * y.double()).sum()


def empty_like(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.empty_like(x)
    import torch

    return torch.empty_like(x)


def zeros(like: Any, *shape: int) -> Any:
    if isinstance(like, np.ndarray):
        return np.zeros(shape, dtype=like.dtype)
    import torch

    return torch.zeros(shape, dtype=torch.promote_types(like.dtype, torch.float32), device=like.device)


def _product(operator: Operator, x: Any) -> Any:
    indptr, indices, values, _, _ = operator
    n = len(operator.diagonal)
    if isinstance(x, np.ndarray):
        return sp.csr_array((values, indices, indptr), shape=(n, n)) @ x
    import torch

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        matrix = torch.sparse_csr_tensor(indptr, indices, values, size=(n, n), check_invariants=False)
    return matrix @ x.to(values.dtype)

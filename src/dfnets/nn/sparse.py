"""Products of a constant sparse matrix and a dense one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numba import prange
from torch import Tensor

from dfnets.compiled import njit
from dfnets.engine import threads

# Below so many multiplications, waking another thread takes longer than the work.
SMALL = 1 << 17


class SparseMatrix:
    """A sparse (m, n) matrix M that multiplies (n, k) tensors: ``M @ x``.

    On the CPU by a kernel of our own: the library that torch calls sums in an order that depends on k, and so the bits
    of a replica would depend on the number of the others.
    """

    def __init__(self, matrix: sp.csr_array, device: torch.device, dtype: torch.dtype) -> None:
        self.shape: tuple[int, int] = matrix.shape
        parts = (matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data)
        indptr, indices, values = (torch.as_tensor(part, device=device) for part in parts)
        values = values.to(dtype)
        if device.type == "cpu":
            self._arrays = indptr.numpy(), indices.numpy(), values.numpy()
        else:
            self._tensor = csr_tensor(indptr, indices, values, self.shape)
        self.device = device

    def __matmul__(self, x: Tensor) -> Tensor:
        """M x, without gradient."""
        return self.multiply(x, x.new_empty(self.shape[0], x.shape[1]))

    def multiply(self, x: Tensor, out: Tensor) -> Tensor:
        """M x into ``out``, (m, k) and contiguous."""
        if self.device.type != "cpu":
            return out.copy_(self._tensor @ x)
        large = len(self._arrays[1]) * x.shape[1] > SMALL
        kernel = _all_threads if large and threads.count() > 1 else _one_thread
        kernel(*self._arrays, x.detach().contiguous().numpy(), out.detach().numpy())
        return out


def csr_tensor(indptr: Tensor, indices: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """A CSR tensor of arrays that are known to be right."""
    with warnings.catch_warnings():
        # torch warns that this format is new to it and that it does not check the arrays.
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(indptr, indices, values, size=shape, check_invariants=False)


def _rows(indptr: Any, indices: Any, values: Any, x: Any, out: Any) -> None:
    """out = M x, a row by one thread in the order of its entries; a column is the same sum however many there are."""
    for i in prange(out.shape[0]):
        out[i] = 0
        for entry in range(indptr[i], indptr[i + 1]):
            factor, j = values[entry], indices[entry]
            for c in range(out.shape[1]):
                out[i, c] += factor * x[j, c]


_one_thread = njit(cache=True)(_rows)
_all_threads = njit(parallel=True, cache=True)(_rows)

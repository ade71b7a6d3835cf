"""dropout(X) W for features that every replica shares, each leaving out entries of its own; X stays sparse."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
import torch
from numba import prange
from torch import Tensor
from torch.autograd.function import once_differentiable

from dfnets.compiled import njit
from dfnets.nn import batched
from dfnets.nn.batched import Generators
from dfnets.nn.features import Features
from dfnets.nn.sparse import csr_tensor


def dropout_matmul(x: Features, weight: Tensor, rate: float, streams: Generators) -> Tensor:
    """dropout(X)_r W_r for each replica r, with the gradient of W: (R, f, k) gives (n, R, k).

    Of a sparse X only the stored entries are drawn: the others are zero either way.

    Args:
        rate: of the entries that are left out; the others are divided by 1 - rate.
        streams: one generator per replica, on the device of X.
    """
    n, f = x.shape
    count = len(weight)
    if not sp.issparse(x.source):
        dropped = batched.draw((n, count, f), rate, streams, x.device)
        dense = torch.as_tensor(x.source, device=x.device, dtype=x.dtype) / (1 - rate)
        return batched.matmul(dense[:, None].expand(-1, count, -1).masked_fill(dropped, 0), weight)
    if x not in _ENTRIES:
        _ENTRIES[x] = _Entries(x.source, x), _Entries(x.source, x, transposed=True)
    dropped = batched.draw((1, count, x.source.nnz), rate, streams, x.device)[0]
    return _DropoutMatmul.apply(*_ENTRIES[x], dropped, 1 / (1 - rate), weight)


class _Entries:
    """The stored entries of X, or of its transpose, row after row, each with its number in X."""

    def __init__(self, matrix: sp.csr_array, x: Features, *, transposed: bool = False) -> None:
        numbers = sp.csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
        order = sp.csr_array(numbers.T.tocsr()) if transposed else numbers
        self.shape: tuple[int, int] = order.shape
        parts = (order.indptr.astype(np.int64), order.indices.astype(np.int64), order.data, matrix.data[order.data])
        indptr, indices, self.numbers, values = (torch.as_tensor(part, device=x.device) for part in parts)
        self.indptr, self.indices, self.values = indptr, indices, values.to(x.dtype)
        self._blocks: tuple[int, Tensor, Tensor] = (0, indptr, indices)

    def times(self, x: Tensor, dropped: Tensor, scale: float) -> Tensor:
        """(M_r / (1 - rate)) x_r without the dropped entries: (columns, R, k) gives (rows, R, k)."""
        count, k = x.shape[1:]
        out = x.new_empty(self.shape[0], count, k)
        if x.device.type == "cpu":
            arrays = (self.indptr, self.indices, self.numbers, self.values, dropped, x.contiguous(), out)
            _rows(scale, *(array.numpy() for array in arrays))
            return out
        # One product for all replicas: a matrix with theirs along the diagonal.
        indptr, indices = self._block_diagonal(count)
        values = (self.values * scale * ~dropped[:, self.numbers]).flatten()
        blocks = csr_tensor(indptr, indices, values, (count * self.shape[0], count * self.shape[1]))
        # Copied, not a view of the product even with one replica: what an autograd function gives may be added to.
        return out.copy_((blocks @ x.transpose(0, 1).reshape(-1, k)).view(count, -1, k).transpose(0, 1))

    def _block_diagonal(self, count: int) -> tuple[Tensor, Tensor]:
        if self._blocks[0] != count:
            block = torch.arange(count, device=self.indptr.device)[:, None]
            starts = (self.indptr[:-1] + block * len(self.indices)).flatten()
            end = starts.new_tensor([count * len(self.indices)])
            self._blocks = count, torch.cat([starts, end]), (self.indices + block * self.shape[1]).flatten()
        return self._blocks[1:]


# Made when X is first thinned out, and as long-lived as X.
_ENTRIES: WeakKeyDictionary[Features, tuple[_Entries, _Entries]] = WeakKeyDictionary()


class _DropoutMatmul(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, entries: _Entries, transposed: _Entries, dropped: Tensor, scale: float, weight: Tensor
    ) -> Tensor:
        ctx.transposed, ctx.scale = transposed, scale
        ctx.save_for_backward(dropped)
        return entries.times(weight.detach().transpose(0, 1), dropped, scale)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, None, None, Tensor]:
        (dropped,) = ctx.saved_tensors
        return None, None, None, None, ctx.transposed.times(gradient, dropped, ctx.scale).transpose(0, 1)


@njit(parallel=True, cache=True)
def _rows(scale: Any, indptr: Any, indices: Any, numbers: Any, values: Any, dropped: Any, x: Any, out: Any) -> None:
    """A row by one thread, a replica at a time in the order of its entries, so that the others change nothing."""
    for i in prange(out.shape[0]):
        out[i] = 0
        for r in range(out.shape[1]):
            for entry in range(indptr[i], indptr[i + 1]):
                if not dropped[r, numbers[entry]]:
                    factor, j = values[entry] * scale, indices[entry]
                    for c in range(out.shape[2]):
                        out[i, r, c] += factor * x[j, r, c]

"""dropout(X) W for features that every replica shares, each leaving out entries of its own; X stays sparse."""

# Numba infers the types of the kernel's variables when it is called.
# mypy: disable-error-code="var-annotated, attr-defined, call-arg"

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dfnets.compiled import njit
from dfnets.engine import threads
from dfnets.engine.kernels import claim, pointer
from dfnets.nn import batched
from dfnets.nn.batched import Generators
from dfnets.nn.features import Features
from dfnets.nn.sparse import csr_tensor


def dropout_matmul(x: Features, weight: Tensor, rate: float, streams: Generators) -> Tensor:
    """dropout(X)_r W_r for each replica r, with the gradient of W: (R, f, k) gives (n, R, k).

    Args:
        rate: of the entries that are left out; the others are divided by 1 - rate.
        streams: one generator per replica, on the device of X.
    """
    return matmul_without(x, weight, draw_entries(x, rate, streams), 1 / (1 - rate))[0]


def draw_entries(x: Features, rate: float, streams: Generators) -> Tensor:
    """Which entries of X each replica leaves out, for :func:`matmul_without`.

    Of a sparse X only the stored entries are drawn: the others are zero either way.
    """
    if sp.issparse(x.source):
        return batched.draw((1, len(streams), x.source.nnz), rate, streams, x.device, entries=True)[0]
    return batched.draw((x.shape[0], len(streams), x.shape[1]), rate, streams, x.device)


def matmul_without(
    x: Features, weight: Tensor, dropped: Tensor, scale: float, *, rows: Tensor | None = None, parts: int = 1
) -> Tensor:
    """scale X_r W_r for each replica r, X_r without its dropped entries and rows, as (parts, n, R, k / parts).

    Args:
        weight: (R, f, k).
        dropped: what :func:`draw_entries` gives.
        rows: (n, R) truth values: whole rows of X_r that are left out, and so not even computed.
        parts: into how many blocks of neighbouring columns the result is split, each with memory of its own.
    """
    n = x.shape[0]
    count, _, k = weight.shape
    if not sp.issparse(x.source):
        dense = (torch.as_tensor(x.source, device=x.device, dtype=x.dtype) * scale)[:, None].expand(-1, count, -1)
        left = dense.masked_fill(dropped if rows is None else dropped | rows[..., None], 0)
        product = batched.matmul(left, weight)
        return product.view(n, count, parts, k // parts).permute(2, 0, 1, 3).contiguous()
    if x not in _ENTRIES:
        _ENTRIES[x] = _Entries(x.source, x), _Entries(x.source, x, transposed=True)
    entries, transposed = _ENTRIES[x]
    if rows is not None:
        dropped = dropped | rows.T[:, entries.rows]
    return _DropoutMatmul.apply(entries, transposed, dropped, scale, parts, weight)


class _Entries:
    """The stored entries of X, or of its transpose, row after row, each with its number in X."""

    def __init__(self, matrix: sp.csr_array, x: Features, *, transposed: bool = False) -> None:
        numbers = sp.csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
        order = sp.csr_array(numbers.T.tocsr()) if transposed else numbers
        self.shape: tuple[int, int] = order.shape
        parts = (order.indptr.astype(np.int64), order.indices.astype(np.int64), order.data, matrix.data[order.data])
        indptr, indices, self.numbers, values = (torch.as_tensor(part, device=x.device) for part in parts)
        self.indptr, self.indices, self.values = indptr, indices, values.to(x.dtype)
        self.rows = torch.arange(self.shape[0], device=x.device).repeat_interleave(indptr.diff())
        self._blocks: tuple[int, Tensor, Tensor] = (0, indptr, indices)

    def times(self, x: Tensor, dropped: Tensor, scale: float, out: Tensor) -> None:
        """out = scale M_r x_r without the dropped entries, x of (parts, columns, R, h), out of (parts, rows, R, h).

        Both may be views, as long as the last dimension lies together in memory.
        """
        parts, _, count, h = x.shape
        if x.device.type == "cpu":
            arrays = (self.indptr, self.indices, self.numbers, self.values, dropped)
            sizes = (parts, self.shape[0], count, h)
            # Flat views from where the data start: the kernel finds its way by strides.
            flat = [tensor.as_strided((_extent(tensor),), (1,)).numpy() for tensor in (x, out)]
            threads.run(
                _rows, x.numpy().dtype.type(scale), *(array.numpy() for array in arrays), flat[0], x.stride()[:3],
                flat[1], out.stride()[:3], sizes, nanoseconds=0.1 * len(self.indices) * count * parts * h,
            )  # fmt: skip
            return
        # One product for all replicas: a matrix with theirs along the diagonal.
        indptr, indices = self._block_diagonal(count)
        values = (self.values * scale * ~dropped[:, self.numbers]).flatten()
        blocks = csr_tensor(indptr, indices, values, (count * self.shape[0], count * self.shape[1]))
        product = blocks @ x.permute(2, 1, 0, 3).reshape(-1, parts * h)
        out.copy_(product.view(count, -1, parts, h).permute(2, 1, 0, 3))

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
        ctx: Any, entries: _Entries, transposed: _Entries, dropped: Tensor, scale: float, parts: int, weight: Tensor
    ) -> Tensor:
        ctx.transposed, ctx.scale, ctx.shape = transposed, scale, weight.shape
        ctx.save_for_backward(dropped)
        count, _, k = weight.shape
        out = weight.new_empty(parts, entries.shape[0], count, k // parts)
        entries.times(_by_part(weight.detach().contiguous(), parts), dropped, scale, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, None, None, None, Tensor]:
        (dropped,) = ctx.saved_tensors
        d_weight = gradient.new_empty(ctx.shape)
        ctx.transposed.times(gradient.contiguous(), dropped, ctx.scale, _by_part(d_weight, len(gradient)))
        return None, None, None, None, None, d_weight


def _by_part(weight: Tensor, parts: int) -> Tensor:
    """(R, f, k) seen as (parts, f, R, k / parts)."""
    return weight.unflatten(2, (parts, -1)).permute(2, 1, 0, 3)


def _extent(tensor: Tensor) -> int:
    return 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


@njit(nogil=True, cache=True)
def _rows(
    scale: Any, indptr: Any, indices: Any, numbers: Any, values: Any, dropped: Any, x: Any, x_strides: Any, out: Any,
    out_strides: Any, sizes: Any, counters: Any, pieces: Any,
) -> None:  # fmt: skip
    """A row by one thread, a replica at a time in the order of its entries, so that the others change nothing.

    Pieces of the rows are taken as in :func:`dfnets.engine.kernels.step`.
    """
    parts, rows, count, h = sizes
    source, target, weights, columns = pointer(x), pointer(out), pointer(values), pointer(indices)
    piece = claim(pointer(counters))
    while piece < pieces:
        for i in range(rows * piece // pieces, rows * (piece + 1) // pieces):
            for r in range(count):
                into = i * out_strides[1] + r * out_strides[2]
                for part in range(parts):
                    for c in range(h):
                        target[into + part * out_strides[0] + c] = 0
                for entry in range(indptr[i], indptr[i + 1]):
                    if not dropped[r, numbers[entry]]:
                        factor = weights[entry] * scale
                        start = columns[entry] * x_strides[1] + r * x_strides[2]
                        for part in range(parts):
                            a, b = start + part * x_strides[0], into + part * out_strides[0]
                            for c in range(h):
                                target[b + c] += factor * source[a + c]
        claim(pointer(counters[8:]))
        piece = claim(pointer(counters))

"""The back end for NVIDIA GPUs: Triton kernels on torch tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from dfnets.engine.operator import Operator


class Tile(NamedTuple):
    """What one program of :func:`step` works on: rows, neighbours in flight for each, columns; and its warps."""

    rows: int
    neighbours: int
    columns: int
    warps: int


def tile(width: int) -> Tile:
    """The tile for signals of ``width`` columns: two warps, 16 entries a thread.

    One rule, because on an H200 it is within 2% of the best tile tried for float32 at 16 to 256 columns, and within 6%
    for bfloat16 at 32 to 256 (``python -m benchmarks.engine_tune``; for narrower signals some are faster, by 9% or so).
    And no tuning at run time, because a tile fixes the order of sums.
    """
    columns = min(triton.next_power_of_2(width), 128)
    neighbours = 4 if columns <= 16 else 2
    return Tile(1024 // (neighbours * columns), neighbours, columns, 2)


def step(
    operator: Operator,
    weights: Tensor,
    x: Tensor,
    y: Tensor | None,
    z: Tensor | None,
    out: Tensor | None,
    u: Tensor | None,
    v: Tensor | None,
    shape: Tile | None = None,
) -> None:
    n, k = x.shape
    if k == 0:
        return
    rows, neighbours, columns, warps = shape or tile(k)
    grid = (triton.cdiv(n, rows), triton.cdiv(k, columns))
    # Triton hands numbers over in single precision; two of them hold the centre in double precision.
    high = float(np.float32(operator.centre))
    low = operator.centre - high
    with torch.cuda.device(x.device):
        _step[grid](
            *operator[:4], high, low, weights, x, y, z, out, u, v, n, k, rows, neighbours, columns, num_warps=warps
        )


def combine(a: Tensor, x: Tensor, b: Any, y: Tensor | None, out: Tensor) -> None:
    torch.mul(x, a, out=out)
    if y is not None:
        out.addcmul_(y, b)


def inner(x: Tensor, y: Tensor) -> Tensor:
    parts = torch.empty(1024, dtype=torch.float64, device=x.device)
    with torch.cuda.device(x.device):
        _inner[(len(parts),)](x, y, parts, x.numel(), triton.cdiv(x.numel(), len(parts)), 4096)
    return parts.sum()


def empty_like(x: Tensor) -> Tensor:
    return torch.empty_like(x)


def zeros(like: Tensor, *shape: int) -> Tensor:
    return torch.zeros(shape, dtype=torch.promote_types(like.dtype, torch.float32), device=like.device)


@triton.jit
def _step(  # type: ignore[no-untyped-def]
    indptr,
    indices,
    values,
    diagonal,
    centre_high,
    centre_low,
    weights,
    x,
    y,
    z,
    out,
    u,
    v,
    n,
    k,
    ROWS: tl.constexpr,
    NEIGHBOURS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """A tile of :meth:`Backend.step`: all rows of the tile walk their lists of neighbours together.

    Sums are kept apart by neighbour modulo NEIGHBOURS until the end, so that many loads of x are under way at once.
    Rows are addressed in 64 bits: n k may pass 2^31.
    """
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    neighbour = tl.arange(0, NEIGHBOURS)
    start = tl.load(indptr + row, mask=row < n, other=0)
    stop = tl.load(indptr + row + 1, mask=row < n, other=0)
    apart = tl.zeros((ROWS, NEIGHBOURS, COLUMNS), values.dtype.element_ty)
    for offset in range(0, tl.max(stop - start), NEIGHBOURS):
        entry = start[:, None] + offset + neighbour[None, :]
        live = entry < stop[:, None]
        value = tl.load(values + entry, mask=live, other=0.0)
        index = tl.load(indices + entry, mask=live, other=0).to(tl.int64)
        at = index[:, :, None] * k + column[None, None, :]
        signal = tl.load(x + at, mask=live[:, :, None] & (column < k)[None, None, :], other=0.0)
        apart += value[:, :, None] * signal.to(apart.dtype)
    at = row[:, None] * k + column[None, :]
    inside = (row < n)[:, None] & (column < k)[None, :]
    own = (tl.load(diagonal + row, mask=row < n, other=0.0) - centre_high - centre_low)[:, None]
    total = tl.sum(apart, axis=1) + own * tl.load(x + at, mask=inside, other=0.0).to(apart.dtype)
    total *= tl.load(weights)
    if y is not None:
        total += tl.load(weights + 1) * tl.load(y + at, mask=inside, other=0.0).to(apart.dtype)
    if z is not None:
        total += tl.load(weights + 2) * tl.load(z + at, mask=inside, other=0.0).to(apart.dtype)
    if out is not None:
        tl.store(out + at, total.to(out.dtype.element_ty), mask=inside)
    if u is not None:
        sums = tl.load(u + at, mask=inside, other=0.0).to(apart.dtype) + tl.load(weights + 3) * total
        tl.store(u + at, sums.to(u.dtype.element_ty), mask=inside)
    if v is not None:
        sums = tl.load(v + at, mask=inside, other=0.0).to(apart.dtype) + tl.load(weights + 4) * total
        tl.store(v + at, sums.to(v.dtype.element_ty), mask=inside)


@triton.jit
def _inner(x, y, parts, size, share, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """parts[p] = the sum of x * y over the p-th ``share`` of the entries; always the same shares, so the same bits."""
    first = tl.program_id(0).to(tl.int64) * share
    stop = tl.minimum(first + share, size)
    total = tl.zeros((BLOCK,), tl.float64)
    for offset in range(0, share, BLOCK):
        at = first + offset + tl.arange(0, BLOCK)
        left = tl.load(x + at, mask=at < stop, other=0.0).to(tl.float64)
        total += left * tl.load(y + at, mask=at < stop, other=0.0).to(tl.float64)
    tl.store(parts + tl.program_id(0), tl.sum(total))

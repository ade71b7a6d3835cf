"""The back end for NVIDIA GPUs: Triton kernels on torch tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from dfnets.engine import operator as operators
from dfnets.engine import schedules
from dfnets.engine.operator import Operator

# Entries of a graph below which its tiles have more of a row in flight.
SMALL = 150_000


class Tile(NamedTuple):
    """What one program of :func:`step` works on: pieces, entries in flight for each, columns; and its warps."""

    pieces: int
    entries: int
    columns: int
    warps: int


def tile(width: int, entries: int = SMALL, rows: int = 1) -> Tile:
    """The tile for signals of ``width`` columns on a graph with so many entries: 1024 numbers, in two warps or four.

    The best, or within 2% of it, of those that ``python -m benchmarks.engine_tune`` tries on an H200, on a random graph
    and on one with hubs. A small graph has few rows to work on at once, so more entries of each are in flight. No
    tuning at run time, because a tile fixes the order of sums.
    """
    columns = min(1 << (width - 1).bit_length(), 128)
    if columns == 1:
        # One number of a row is little to read at once: so many as a row has, of the rows of most graphs.
        return Tile(64, 16, 1, 4) if entries > 8 * rows else Tile(256, 4, 1, 2)
    flight = 8 if columns <= 8 or entries < SMALL else 4 if columns <= 32 else 2
    return Tile(1024 // (flight * columns), flight, columns, 2 if columns <= 32 else 4)


def step(
    operator: Operator,
    weights: Tensor,
    x: Tensor,
    y: Tensor | None,
    z: Tensor | None,
    out: Tensor | None,
    u: Tensor | None,
    first: bool = False,
    shape: Tile | None = None,
) -> None:
    place = x.device.index
    if place != torch.cuda.current_device():
        with torch.cuda.device(x.device):
            return step(operator, weights, x, y, z, out, u, first, shape)
    n, k = x.shape
    if k == 0:
        return None
    indptr, indices, values, diagonal, centre, schedule = operator
    if not schedule:
        schedule = operators.on_device(schedules.levels(indptr.cpu().numpy()), x.device)
    shape = shape or tile(k, indices.shape[0], n)
    # Triton hands numbers over in single precision; two of them hold the centre in double precision.
    high = float(np.float32(centre))
    signals = (diagonal, high, centre - high, weights, x, y, z, out, u)
    addends, totals = 0 if y is None else y.shape[0], 0 if u is None else u.shape[0]
    kind = (k, x.dtype, values.dtype, indices.dtype, addends, z is None, out is None, totals, first, place)
    counts, *levels = schedule
    sums: Tensor | None = None
    for count, level in zip(counts.tolist(), levels, strict=True):
        handed = values.new_empty((count, k)) if count else None
        pieces = level.shape[1]
        grid = (-(-pieces // shape.pieces), -(-k // shape.columns))
        tensors = (level, indices, values, sums, handed, *signals)
        numbers = (pieces, n, k, addends, totals, first, shape.pieces, shape.entries, shape.columns)
        _launch((kind, sums is None, count > 0, level.dtype, shape), grid, tensors, numbers, shape.warps, place)
        if count:
            sums, shape = handed, joining(shape)
    return None


def variant(operator: Operator, k: int, itemsize: int) -> str:  # noqa: ARG001
    """In words, what a step on signals of k columns is computed by: for a benchmark."""
    shape = tile(k, len(operator.indices), len(operator.diagonal))
    launches = len(operator.schedule) - 1
    words = f"tiles of {shape.pieces} x {shape.entries} x {shape.columns}"
    return words + (f", long rows in {launches} launches" if launches > 1 else "")


def joining(shape: Tile) -> Tile:
    """The tile of a level that adds sums of the level before: fewer rows, and more of their sums in flight."""
    return Tile(max(1, shape.pieces * shape.entries // 16), 16, shape.columns, shape.warps)


# Compiled kernels by what they are compiled for, as long as all arrays start at a multiple of 16 bytes. Triton finds
# the kernel for a call by looking at every argument, which takes longer than many a product; what may differ between
# two of our calls is known here. Starting a compiled kernel is not part of Triton's interface: where it fails, Triton
# does it.
_COMPILED: dict[tuple[Any, ...], Any] = {}
_direct = True


def _launch(
    key: tuple[Any, ...],
    grid: tuple[int, int],
    tensors: tuple[Any, ...],
    numbers: tuple[Any, ...],
    warps: int,
    place: int,
) -> None:
    global _direct
    compiled = _COMPILED.get(key)
    level, indices, values, sums, handed, diagonal, high, low, weights, x, y, z, out, u = tensors
    arrays = (level, indices, values, sums, handed, diagonal, weights, x, y, z, out, u)
    pointers = [0 if part is None else part.data_ptr() for part in arrays]
    aligned = not any(pointer & 15 for pointer in pointers)
    if compiled is not None and aligned:
        graph, rest = pointers[:6], pointers[6:]
        try:
            compiled.run(
                *grid, 1, torch._C._cuda_getCurrentRawStream(place), compiled.function, compiled.packed_metadata, None,
                None, None, *(pointer or None for pointer in graph), high, low,
                *(pointer or None for pointer in rest), *numbers,
            )  # fmt: skip
            return
        except (TypeError, AttributeError):  # before anything is started
            _direct = False
            _COMPILED.clear()
    compiled = _pieces[grid](*tensors, *numbers, num_warps=warps)
    if _direct and aligned and compiled is not None:
        _COMPILED[key] = compiled


def combine(weights: Tensor, y: Tensor, z: Tensor | None, out: Tensor) -> None:
    torch.mul(y[0], weights[2], out=out)
    for s in range(1, len(y)):
        out.addcmul_(y[s], weights[2 + s])
    if z is not None:
        out.addcmul_(z, weights[1])


def inner(x: Tensor, y: Tensor) -> Tensor:
    parts = torch.empty(1024, dtype=torch.float64, device=x.device)
    with torch.cuda.device(x.device):
        _inner[(len(parts),)](x, y, parts, x.numel(), triton.cdiv(x.numel(), len(parts)), 4096)
    return parts.sum()


def columns_at_once(signal: Tensor) -> int:
    return signal.shape[-1]


def empty(like: Tensor, *shape: int) -> Tensor:
    return like.new_empty(shape)


def zeros(like: Tensor, *shape: int) -> Tensor:
    return torch.zeros(shape, dtype=torch.promote_types(like.dtype, torch.float32), device=like.device)


@triton.jit(do_not_specialize=["count", "n"])
def _pieces(  # type: ignore[no-untyped-def]
    level,
    indices,
    values,
    sums,
    handed,
    diagonal,
    centre_high,
    centre_low,
    weights,
    x,
    y,
    z,
    out,
    u,
    count,
    n,
    k,
    ADDENDS: tl.constexpr,
    SUMS: tl.constexpr,
    FIRST: tl.constexpr,
    PIECES: tl.constexpr,
    ENTRIES: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """A tile of one level of :meth:`Backend.step`: its pieces walk their entries together.

    An entry is one of the matrix, or in later levels a sum of the level before. Sums are kept apart by entry modulo
    ENTRIES until the end, so that many loads of x are under way at once. Rows are addressed in 64 bits: n k may pass
    2^31.
    """
    piece = tl.program_id(0).to(tl.int64) * PIECES + tl.arange(0, PIECES)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    start = tl.load(level + piece, mask=piece < count, other=0)
    stop = tl.load(level + count + piece, mask=piece < count, other=0)
    target = tl.load(level + 2 * count + piece, mask=piece < count, other=0).to(tl.int64)
    apart = tl.zeros((PIECES, ENTRIES, COLUMNS), values.dtype.element_ty)
    for offset in range(0, tl.max(stop - start), ENTRIES):
        entry = start[:, None] + offset + tl.arange(0, ENTRIES)[None, :]
        live = entry < stop[:, None]
        inside = live[:, :, None] & (column < k)[None, None, :]
        if sums is None:
            value = tl.load(values + entry, mask=live, other=0.0)
            index = tl.load(indices + entry, mask=live, other=0).to(tl.int64)
            signal = tl.load(x + index[:, :, None] * k + column[None, None, :], mask=inside, other=0.0)
            apart += value[:, :, None] * signal.to(apart.dtype)
        else:
            at = entry.to(tl.int64)[:, :, None] * k + column[None, None, :]
            apart += tl.load(sums + at, mask=inside, other=0.0)
    total = tl.sum(apart, axis=1)
    ours = (column < k)[None, :]
    if handed is not None:
        at = (-1 - target)[:, None] * k + column[None, :]
        tl.store(handed + at, total, mask=ours & ((piece < count) & (target < 0))[:, None])
    whole = (piece < count) & (target >= 0)
    inside = ours & whole[:, None]
    at = target[:, None] * k + column[None, :]
    own = (tl.load(diagonal + target, mask=whole, other=0.0) - centre_high - centre_low)[:, None]
    mine = tl.load(x + at, mask=inside, other=0.0).to(apart.dtype)
    total = (total + own * mine) * tl.load(weights)
    if z is not None:
        total += tl.load(weights + 1) * tl.load(z + at, mask=inside, other=0.0).to(apart.dtype)
    size = tl.cast(n, tl.int64) * k
    for s in tl.static_range(ADDENDS):
        factor = tl.load(weights + 2 + s)
        if factor != 0.0:
            total += factor * tl.load(y + s * size + at, mask=inside, other=0.0).to(apart.dtype)
    if out is not None:
        tl.store(out + at, total.to(out.dtype.element_ty), mask=inside)
    for t in tl.static_range(SUMS):
        place = u + t * size + at
        factor = tl.load(weights + 2 + ADDENDS + t)
        if FIRST:
            added = factor * total + tl.load(weights + 2 + ADDENDS + SUMS + t) * mine
            tl.store(place, added.to(u.dtype.element_ty), mask=inside)
        elif factor != 0.0:
            added = tl.load(place, mask=inside, other=0.0).to(apart.dtype) + factor * total
            tl.store(place, added.to(u.dtype.element_ty), mask=inside)


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

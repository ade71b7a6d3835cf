"""Operations on R independent copies of a network, trained as one.

Activations are (n, R, c): seen as (n, R c) they are one wide product with the shift. Weights are (R, c, h), and lie in
memory as (c, R, h), so that they too can be seen as (c, R h), one wide product with the features.

What a replica computes must not depend on how many others there are, to the last bit, so that ten seeds trained
together are ten single runs. Element-wise operations have that property; a sum only if its order is fixed, which is why
products and column sums go through this file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

# Results of a product up to which it is left to one thread.
FEW = 4096

Generators = Sequence[torch.Generator | None]


def generators(seeds: Sequence[int], device: torch.device | str = "cpu") -> list[torch.Generator]:
    """One random stream for each seed."""
    return [torch.Generator(device).manual_seed(seed) for seed in seeds]


def empty_weight(replicas: int, rows: int, columns: int, **options: Any) -> Tensor:
    """An (R, c, h) weight in the order of memory that this file is about; options as for ``torch.empty``."""
    return torch.empty(rows, replicas, columns, **options).transpose(0, 1)


def matmul(x: Tensor, weight: Tensor) -> Tensor:
    """x_r weight_r for each replica r: (n, R, c) and (R, c, h) give (n, R, h)."""
    return _Matmul.apply(x, weight)


def add_row_(x: Tensor, row: Tensor) -> Tensor:
    """x + row in the place of x, the same (R, c) row for every node; x is (n, R, c), or (n, R c)."""
    return _AddRow.apply(x, row)


def column_sums(x: Tensor) -> Tensor:
    """Sums over the nodes, without gradient: (n, R, c) gives (R, c)."""
    ones = x.new_ones(1, x.shape[0]).expand(x.shape[1], 1, x.shape[0])
    return products(ones, x.transpose(0, 1))[0]


def sums(x: Tensor) -> Tensor:
    """Sums over the nodes, with gradient: (n, R) gives (R,)."""
    return matmul(x.T[None], x.new_ones(x.shape[1], x.shape[0], 1)).flatten()


def products(a: Tensor, b: Tensor, *, out: Tensor | None = None, add: bool = False) -> Tensor:
    """a_r b_r, without gradient: (R, m, k) and (R, k, h) give (m, R, h).

    On the CPU a loop, because the order in which BLAS sums a batch depends on the size of the batch. If one factor is a
    vector, the order depends on the distance of its entries in memory as well, so it is copied first.

    Args:
        out: where the result goes.
        add: whether it is added to what is there.
    """
    if out is None:
        out = a.new_empty(a.shape[1], a.shape[0], b.shape[2])
    slots = out.transpose(0, 1)
    if a.is_cuda:
        torch.baddbmm(slots, a, b, beta=float(add), out=slots)
        return out
    with _few_results(a.shape[1] * b.shape[2]):
        for r in range(len(a)):
            if b.shape[2] == 1:
                column = a[r].contiguous() @ b[r].contiguous()
                slots[r].copy_(slots[r] + column if add else column)
            else:
                left = a[r].contiguous() if a.shape[1] == 1 else a[r]
                torch.addmm(slots[r], left, b[r], beta=float(add), out=slots[r])
    return out


@contextmanager
def _few_results(count: int) -> Iterator[None]:
    """One thread where a product has few results: there BLAS shares out the sums themselves, and bits would follow."""
    threads = torch.get_num_threads()
    if count > FEW or threads == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class OwnRows(NamedTuple):
    """Which rows this process holds of those of all processes: sorted numbers, and how many there are in all.

    ``entries`` are the stored entries of sparse features, in the same way; None of dense ones.
    """

    rows: Tensor
    num_rows: int
    entries: Tensor | None = None
    num_entries: int = 0


_OWN_ROWS: ContextVar[OwnRows | None] = ContextVar("own rows", default=None)


@contextmanager
def drawing_for(own: OwnRows | None) -> Iterator[None]:
    """Within it, a :func:`draw` for the rows of a process takes them from a draw for the rows of all processes.

    So that a network on many processes drops what it drops on one. None is for rows that every process has alike.
    """
    token = _OWN_ROWS.set(own)
    try:
        yield
    finally:
        _OWN_ROWS.reset(token)


def draw(
    shape: Sequence[int], rate: float, streams: Generators, device: torch.device, *, entries: bool = False
) -> Tensor:
    """True with probability ``rate`` for each entry of (n, R, c), replica by replica.

    The rate is rounded to a multiple of 2^-16: four decisions are taken from every 64 random bits, which makes drawing
    them three times faster.

    Args:
        streams: one generator per replica, on that device; None is torch's own.
        entries: whether c counts the stored entries of sparse features, and n is 1.
    """
    n, _, c = shape
    threshold = round(rate * (1 << 16)) - (1 << 15)
    own = _OWN_ROWS.get()
    if own is not None:
        places, count = (own.entries, own.num_entries) if entries else (own.rows, own.num_rows)
        assert places is not None
        each = [_draw_some(places, count, 1 if entries else c, threshold, stream) for stream in streams]
        return torch.stack([one.view(n, c) for one in each], dim=1)
    drawn = torch.empty(tuple(shape), dtype=torch.bool, device=device)
    for r, stream in enumerate(streams):
        words = torch.empty((n * c + 3) // 4, dtype=torch.int64, device=device)
        numbers = words.random_(-(1 << 63), None, generator=stream).view(torch.int16)[: n * c]
        torch.lt(numbers.view(n, c), threshold, out=drawn[:, r])
    return drawn


def _draw_some(
    places: Tensor, count: int, c: int, threshold: int, stream: torch.Generator | None, block: int = 1 << 20
) -> Tensor:
    """(len(places), c) rows of what is drawn for ``count`` rows of c, of which ``block`` at most are held at a time."""
    # Whole words of four decisions in each block, as in one draw of all.
    size = max(4, block // c // 4 * 4)
    found = torch.empty(len(places), c, dtype=torch.bool)
    for start in range(0, count, size):
        stop = min(start + size, count)
        words = torch.empty(((stop - start) * c + 3) // 4, dtype=torch.int64)
        numbers = words.random_(-(1 << 63), None, generator=stream).view(torch.int16)[: (stop - start) * c]
        ends = torch.tensor([start, stop])
        first, last = torch.searchsorted(places, ends).tolist()
        torch.lt(numbers.view(-1, c)[places[first:last] - start], threshold, out=found[first:last])
    return found


def xavier_normal_(weight: Tensor, fan_in: int, fan_out: int, streams: Generators) -> None:
    """Fills (R, ...) with draws of variance 2 / (fan_in + fan_out); every replica from its own stream.

    Streams live on the CPU, so that a model starts from the same weights on every device.
    """
    deviation = (2 / (fan_in + fan_out)) ** 0.5
    with torch.no_grad():
        for copy, stream in zip(weight, streams, strict=True):
            copy.copy_(torch.randn(copy.shape, generator=stream, dtype=copy.dtype) * deviation)


class _AddRow(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, row: Tensor) -> Tensor:
        ctx.mark_dirty(x)
        ctx.shape = (len(x), *row.shape)
        x.view(ctx.shape).add_(row)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor | None]:
        return gradient, column_sums(gradient.view(ctx.shape)) if ctx.needs_input_grad[1] else None


class _Matmul(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return products(x.transpose(0, 1), weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        by_replica = gradient.transpose(0, 1)
        dx = products(by_replica, weight.transpose(1, 2)) if ctx.needs_input_grad[0] else None
        dw = products(x.permute(1, 2, 0), by_replica).transpose(0, 1) if ctx.needs_input_grad[1] else None
        return dx, dw

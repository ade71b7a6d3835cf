"""[X, H_1, H_2, ...] W: feature maps side by side times one weight, without putting X beside anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dfnets.nn import batched
from dfnets.nn.features import Features

Map = Features | Tensor


def multiply(maps: Sequence[Map], weight: Tensor) -> Tensor:
    """[M_0, M_1, ...] W for a weight of (R, sum of widths, h): (n, R, h).

    Args:
        maps: :class:`Features` (the first only) or (n, R, width) each.
    """
    first = maps[0]
    hidden = [one for one in maps if isinstance(one, Tensor)]
    joined = None if not hidden else hidden[0] if len(hidden) == 1 else torch.cat(hidden, dim=2)
    if isinstance(first, Features):
        return _Product.apply(first, joined, weight)
    assert joined is not None
    return batched.matmul(joined, weight)


class _Product(torch.autograd.Function):
    """X W_top + H W_bottom: both products, and both gradients, are written into one array."""

    @staticmethod
    def forward(ctx: Any, x: Features, hidden: Tensor | None, weight: Tensor) -> Tensor:
        ctx.x = x
        ctx.save_for_backward(hidden, weight)
        f = x.shape[1]
        out = x.times(weight[:, :f])
        if hidden is not None:
            batched.products(hidden.transpose(0, 1), weight[:, f:], out=out, add=True)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor | None, Tensor]:
        hidden, weight = ctx.saved_tensors
        f = ctx.x.shape[1]
        by_replica = gradient.transpose(0, 1)
        d_weight = batched.empty_weight(*weight.shape, device=weight.device, dtype=weight.dtype)
        rows = d_weight.transpose(0, 1)
        ctx.x.transposed_times(gradient, out=rows[:f])
        if hidden is None:
            return None, None, d_weight
        batched.products(hidden.permute(1, 2, 0), by_replica, out=rows[f:])
        return None, batched.products(by_replica, weight[:, f:].transpose(1, 2)), d_weight

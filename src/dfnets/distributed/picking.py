"""Rows of nodes that several processes hold, brought together on each of them, with gradient."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.autograd.function import once_differentiable

from dfnets.distributed.group import ordered_sum


def own_places(shift: Any, numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Which of some nodes of the whole graph this process holds, as truth values, and the rows in which it does."""
    own = torch.from_numpy(shift.nodes)
    places = torch.searchsorted(own, numbers).clamp_max(max(len(own) - 1, 0))
    mine = own[places] == numbers if len(own) else torch.zeros_like(numbers, dtype=torch.bool)
    return mine, places[mine]


def pick_rows(shift: Any, x: Tensor, nodes: Tensor) -> Tensor:
    """Each replica's rows at its nodes, (n, R, ...) and (B, R) give (B, R, ...), the same on every process.

    The gradient of a row goes back to the process that holds it, summed over what all processes make of the row.
    """
    mine, places = own_places(shift, nodes)
    return _Pick.apply(x, mine, places)


class _Pick(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mine: Tensor, places: Tensor) -> Tensor:
        ctx.shape = x.shape
        ctx.save_for_backward(mine, places)
        picked = x.new_zeros(*mine.shape, *x.shape[2:])
        picked[mine] = x[places, mine.nonzero()[:, 1]]
        # One process has a row and the others zeros, so that the order of the sum does not matter.
        dist.all_reduce(picked)
        return picked

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        mine, places = ctx.saved_tensors
        total = ordered_sum(gradient)
        d_x = gradient.new_zeros(ctx.shape)
        d_x.index_put_((places, mine.nonzero()[:, 1]), total[mine], accumulate=True)
        return d_x, None, None

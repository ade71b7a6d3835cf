"""Dropout in which every replica has its own random stream."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from dfnets.nn import batched
from dfnets.nn.batched import Generators


class Dropout(nn.Module):
    """Sets entries to zero with probability ``rate`` while training, and divides the others by 1 - rate.

    Args:
        rate: in [0, 1).
        relu: whether to set negative entries to zero first.
        replicas: R.

    Attributes:
        streams: one generator per replica, on the device of the data; None is torch's own.

    Shapes: (n, R, c) to the same.
    """

    streams: Generators

    def __init__(self, rate: float, *, relu: bool = False, replicas: int = 1) -> None:
        super().__init__()
        if not 0 <= rate < 1:
            raise ValueError(f"dropout={rate:g} must be a probability in [0, 1)")
        self.rate, self.relu = rate, relu
        self.streams = [None] * replicas

    def forward(self, x: Tensor) -> Tensor:
        """(n, R, c) to the same: in training, entries dropped and the others divided by 1 - rate."""
        rate = self.rate if self.training else 0.0
        dropped = batched.draw(x.shape, rate, self.streams, x.device) if rate else None
        if self.relu:
            return _ReluDropout.apply(x, dropped, 1 / (1 - rate))
        return x if dropped is None else (x / (1 - rate)).masked_fill(dropped, 0)

    def extra_repr(self) -> str:
        """Its rate, for ``print``."""
        return f"{self.rate:g}"


class _ReluDropout(Function):
    """scale max(x, 0), and 0 where dropped.

    Where the result is zero the gradient is, too, whatever the reason; elsewhere it is multiplied by one number. So the
    result is all that the backward pass needs.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, dropped: Tensor | None, scale: float) -> Tensor:
        ctx.scale = scale
        result = (x * scale).clamp_min_(0)
        if dropped is not None:
            result.masked_fill_(dropped, 0)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (result,) = ctx.saved_tensors
        return torch.ops.aten.threshold_backward(gradient, result, 0).mul_(ctx.scale), None, None

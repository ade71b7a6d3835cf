"""Dropout in which every replica has its own random stream."""

from __future__ import annotations

from torch import Tensor, nn

from dfnets.nn import replicas as copies
from dfnets.nn.replicas import Generators


class Dropout(nn.Module):
    """Sets entries to zero with probability ``rate`` while training, and divides the others by 1 - rate.

    Args:
        rate: in [0, 1).
        replicas: R.

    Attributes:
        streams: one generator a replica, on the device of the data; None is torch's own.

    Shapes: (n, R, ...) to the same.
    """

    streams: Generators

    def __init__(self, rate: float, *, replicas: int = 1) -> None:
        super().__init__()
        if not 0 <= rate < 1:
            raise ValueError(f"dropout={rate:g} must be a probability in [0, 1)")
        self.rate = rate
        self.streams = [None] * replicas

    def forward(self, x: Tensor) -> Tensor:
        return copies.dropout(x, self.rate, self.streams) if self.training else x

    def extra_repr(self) -> str:
        return f"{self.rate:g}"

"""A linear layer that takes feature maps side by side, X among them, with dropout of what it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from dfnets.nn import batched
from dfnets.nn.batched import Generators
from dfnets.nn.dropout import Dropout
from dfnets.nn.features import Features
from dfnets.nn.product import Map, multiply
from dfnets.nn.sparse_dropout import dropout_matmul


class Linear(nn.Module):
    """F(dropout([M_0, M_1, ...]) W) + b, where F filters what is narrow already, and is the identity if left out.

    Args:
        in_channels: columns of all maps together.
        out_channels: columns of the result.
        dropout: of the maps; of a sparse X, of its stored entries.
        parts: W makes so many times ``out_channels`` columns, for an F that takes several signals and gives one.
        draws: the columns are made in so many equal blocks, each with entries of its own dropped.
        bias: whether to add b.
        replicas: R.

    Shapes:
        - maps: :class:`Features` (the first only) or (n, R, width) each.
        - output: (n, R, out_channels); F takes (n, R, parts, out_channels) where there are several.
    """

    bias: nn.Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        dropout: float = 0.0,
        parts: int = 1,
        draws: int = 1,
        bias: bool = True,
        replicas: int = 1,
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels, self.parts, self.replicas = in_channels, out_channels, parts, replicas
        self.draws = draws
        self.dropout = Dropout(dropout, replicas=replicas)
        self.weight = nn.Parameter(batched.empty_weight(replicas, in_channels, parts * out_channels))
        self.bias = nn.Parameter(torch.empty(replicas, out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self, streams: Generators | None = None) -> None:
        """Xavier normal weights, each replica's from its own stream; a bias of zeros."""
        own = [None] * self.replicas if streams is None else streams
        batched.xavier_normal_(self.weight, self.in_channels, self.out_channels, own)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, maps: Sequence[Map], filter: Callable[[Tensor], Tensor] | None = None) -> Tensor:
        """The sum over feature maps of map times weight, and the bias: (n, R, out_channels)."""
        out = self._product(maps)
        if self.parts > 1:
            out = out.unflatten(2, (self.parts, self.out_channels))
        if filter is not None:
            out = filter(out)
        return out if self.bias is None else batched.add_row_(out, self.bias)

    def _product(self, maps: Sequence[Map]) -> Tensor:
        rate = self.dropout.rate if self.training else 0.0
        if not rate:
            return multiply(maps, self.weight)
        if self.draws == 1:
            return self._dropped_product(maps, self.weight, rate)
        blocks = self.weight.chunk(self.draws, dim=2)
        return torch.cat([self._dropped_product(maps, block.contiguous(), rate) for block in blocks], dim=2)

    def _dropped_product(self, maps: Sequence[Map], weight: Tensor, rate: float) -> Tensor:
        first, *others = maps
        if not isinstance(first, Features):
            return multiply([self.dropout(one) for one in maps if isinstance(one, Tensor)], weight)
        f = first.shape[1]
        out = dropout_matmul(first, weight[:, :f], rate, self.dropout.streams)
        return out + multiply([self.dropout(one) for one in others], weight[:, f:]) if others else out

    def extra_repr(self) -> str:
        """Its sizes, for ``print``."""
        return f"{self.in_channels}, {self.out_channels}" + (f", parts={self.parts}" if self.parts > 1 else "")

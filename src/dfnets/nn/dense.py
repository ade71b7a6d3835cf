"""Layers that read every feature map before them (Huang et al., 2017), and the head that reads them all."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dfnets.filters import FeedbackLoopedFilter
from dfnets.nn import batched
from dfnets.nn.attention import Neighbours, SelfAttention
from dfnets.nn.batched import Generators
from dfnets.nn.constraints import unit_norm_
from dfnets.nn.conv import FeedbackLoopedConv
from dfnets.nn.dropout import Dropout
from dfnets.nn.features import Features
from dfnets.nn.norm import FoldedBatchNorm, Moments
from dfnets.nn.product import Map, multiply
from dfnets.nn.shifts import Edges, shift_for
from dfnets.shift import Shift


class DenseBlock(nn.Module):
    """Feedback-looped layers with dense connections; layer t is::

        H_t = dropout(ReLU(attention(P norm([X, H_1, ..., H_{t-1}]) theta1_t + Q X theta2_t + b_t)))

    X stays sparse: only H_1, H_2, ... are concatenated. Batch normalisation is folded into theta1, see
    :mod:`dfnets.nn.norm`, with the statistics of each map computed once.

    Args:
        in_channels: columns f of X.
        units: the width of each layer, of one head where there is attention.
        filter: of every layer.
        dropout: one rate, or one a layer.
        dense: if False, a layer reads the map before it only (the first one X), besides X through Q.
        momentum, eps: of the batch normalisation before each layer; momentum None leaves it out.
        heads: of the attention after each layer; None leaves attention out.
        score, attention_dropout: see :class:`SelfAttention`.
        learnable, gamma, unit_norm: see :class:`FeedbackLoopedConv`.
        replicas: R.

    Shapes:
        - x: (n, f) or (n, R, f), or :class:`Features` of (n, f).
        - output: the maps that a head reads: X and each H_t, (n, R, units or heads units); only the last if not dense.
    """

    layers: Sequence[_Layer]
    moments: Sequence[Moments]

    def __init__(
        self,
        in_channels: int,
        units: Sequence[int],
        filter: FeedbackLoopedFilter,
        *,
        dropout: float | Sequence[float] = 0.0,
        dense: bool = True,
        momentum: float | None = 0.9,
        eps: float = 1e-3,
        heads: int | None = None,
        score: str = "leaky-relu",
        attention_dropout: float = 0.0,
        learnable: bool = False,
        gamma: float = 0.9,
        unit_norm: bool = False,
        replicas: int = 1,
    ) -> None:
        super().__init__()
        rates = [dropout] * len(units) if isinstance(dropout, int | float) else list(dropout)
        if len(rates) != len(units):
            raise ValueError(f"dropout has {len(rates)} rates for {len(units)} layers; give one, or one for each")
        self.filter, self.dense, self.replicas = filter, dense, replicas
        # The widths of the maps, X first; layer t reads maps 0 .. t, or map t only.
        self.widths = [in_channels, *(width * (heads or 1) for width in units)]
        reads = [sum(self.widths[: t + 1]) if dense else self.widths[t] for t in range(len(units))]
        self.layers = nn.ModuleList(  # type: ignore[assignment]
            _Layer(
                None if momentum is None else FoldedBatchNorm(read, eps, replicas=replicas),
                FeedbackLoopedConv(
                    read,
                    in_channels,
                    width * (heads or 1),
                    filter,
                    # Attention, where there is any, comes before the non-linearity.
                    activation=None,
                    learnable=learnable,
                    gamma=gamma,
                    unit_norm=unit_norm,
                    heads=heads or 1,
                    replicas=replicas,
                ),
                None
                if heads is None
                else SelfAttention(
                    width, heads, score=score, dropout=attention_dropout, unit_norm=unit_norm, replicas=replicas
                ),
                Dropout(rate, relu=True, replicas=replicas),
            )
            for read, width, rate in zip(reads, units, rates, strict=True)
        )
        self.moments = nn.ModuleList(  # type: ignore[assignment]
            Moments(width, momentum, replicas=replicas) for width in self.widths[:-1] if momentum is not None
        )

    @property
    def out_widths(self) -> list[int]:
        """The widths of the maps that come out."""
        return self.widths if self.dense else self.widths[-1:]

    def reset_parameters(self, streams: Generators | None = None) -> None:
        """Draws the weights of every layer, each replica's from its own stream."""
        for moments in self.moments:
            moments.reset_parameters()
        for layer in self.layers:
            layer.reset_parameters(streams)

    def forward(
        self,
        x: Map,
        edge_index: Edges,
        edge_weight: Tensor | None = None,
        *,
        neighbours: Neighbours | None = None,
    ) -> list[Map]:
        """The maps [X, H_1, ..., H_T], or [H_T].

        Args:
            edge_index: as in PyG, or a Graph, or a Shift (made once, it saves the checks of every call).
            neighbours: of the same graph, for attention; made at every call when left out.
        """
        shift = shift_for(self.filter, edge_index, edge_weight, num_nodes=x.shape[0])
        if self.layers[0].attention is not None and neighbours is None:
            neighbours = Neighbours(shift, device=x.device, dtype=x.dtype)
        first = x if isinstance(x, Features) or x.ndim == 3 else x[:, None].expand(-1, self.replicas, -1)
        maps: list[Map] = [first]
        statistics: list[tuple[Tensor, Tensor]] = []
        for t, layer in enumerate(self.layers):
            if self.moments:
                statistics.append(self.moments[t](maps[t]))
            start = 0 if self.dense else t
            maps.append(layer(first, maps[start:], statistics[start:], shift, neighbours))
        return maps if self.dense else maps[-1:]

    def kernels(self) -> list[nn.Parameter]:
        """What kernel regularisation applies to."""
        return [kernel for layer in self.layers for kernel in layer.kernels()]

    def project_(self) -> None:
        """The constraints of every layer, after an optimiser's step."""
        for layer in self.layers:
            layer.project_()


class _Layer(nn.Module):
    """Batch normalisation, feedback-looped convolution, attention, ReLU, dropout; the first and third may be absent."""

    def __init__(
        self,
        norm: FoldedBatchNorm | None,
        conv: FeedbackLoopedConv,
        attention: SelfAttention | None,
        dropout: Dropout,
    ) -> None:
        super().__init__()
        self.norm, self.conv, self.attention, self.dropout = norm, conv, attention, dropout

    def forward(
        self,
        x: Map,
        maps: Sequence[Map],
        statistics: Sequence[tuple[Tensor, Tensor]],
        shift: Shift,
        neighbours: Neighbours | None,
    ) -> Tensor:
        """The next map.

        Args:
            x: X.
            maps: what the layer reads.
            statistics: their means and variances, where there is normalisation.
        """
        if self.norm is None:
            y = multiply(maps, self.conv.theta1)
        else:
            mean, variance = (torch.cat(parts, dim=1) for parts in zip(*statistics, strict=True))
            theta, row = self.norm.fold(self.conv.theta1, mean, variance)
            y = batched.add_row_(multiply(maps, theta), row)
        h = self.conv.propagate(y, multiply([x], self.conv.theta2), shift)
        if self.attention is not None:
            assert neighbours is not None
            h = self.attention(h, neighbours)
        return self.dropout(h)

    def reset_parameters(self, streams: Generators | None) -> None:
        if self.norm is not None:
            self.norm.reset_parameters()
        self.conv.reset_parameters(streams)
        if self.attention is not None:
            self.attention.reset_parameters(streams)

    def kernels(self) -> list[nn.Parameter]:
        return self.conv.kernels() + ([] if self.attention is None else self.attention.kernels())

    def project_(self) -> None:
        self.conv.project_()
        if self.attention is not None:
            self.attention.project_()


class Readout(nn.Module):
    r"""A linear layer over feature maps, as if they stood side by side: :math:`[M_0, M_1, \dots] W + b`.

    Args:
        widths: columns of each map.
        out_channels: columns of the result.
        unit_norm: whether :meth:`project_` puts the columns of W, and b, on the unit sphere.
        replicas: R.

    Shapes:
        - maps: :class:`Features` or (n, R, width) each; the output is (n, R, out_channels).
    """

    def __init__(self, widths: Sequence[int], out_channels: int, *, unit_norm: bool = False, replicas: int = 1) -> None:
        super().__init__()
        self.unit_norm = unit_norm
        self.kernel = nn.Parameter(batched.empty_weight(replicas, sum(widths), out_channels))
        self.bias = nn.Parameter(torch.empty(replicas, out_channels))
        self.reset_parameters()

    def reset_parameters(self, streams: Generators | None = None) -> None:
        """A Xavier normal kernel, each replica's from its own stream; a bias of zeros."""
        count, fan_in, fan_out = self.kernel.shape
        batched.xavier_normal_(self.kernel, fan_in, fan_out, [None] * count if streams is None else streams)
        nn.init.zeros_(self.bias)

    def forward(self, maps: Sequence[Map]) -> Tensor:
        """(n, R, out_channels) of feature maps side by side."""
        return batched.add_row_(multiply(maps, self.kernel), self.bias)

    def kernels(self) -> list[nn.Parameter]:
        """What kernel regularisation applies to."""
        return [self.kernel]

    @torch.no_grad()
    def project_(self) -> None:
        """Puts kernel and bias back on the unit sphere, where that is asked for."""
        if self.unit_norm:
            unit_norm_(self.kernel)
            unit_norm_(self.bias)

    def extra_repr(self) -> str:
        """Its sizes, for ``print``."""
        return f"{self.kernel.shape[1]}, {self.kernel.shape[2]}"

"""GAT (Velickovic et al., "Graph attention networks", 2018), and GAT with the dense connections of DFNet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from dfnets.graph import Graph
from dfnets.models.base import Sizes
from dfnets.models.spectral import Inputs, Spectral, SpectralConfig
from dfnets.nn import Linear, Neighbours, SelfAttention, batched
from dfnets.nn.attention import SCORES
from dfnets.nn.batched import Generators
from dfnets.nn.product import Map
from dfnets.shift import Shift


class GATConfig(SpectralConfig):
    """Settings of GAT.

    Attributes:
        units: the width of a head, of each hidden layer.
        heads, out_heads: of the hidden layers, side by side; of the last one, whose mean is taken.
        attention_dropout: of alpha.
        value_dropout: of what the neighbours hand over, C W_k, once alpha is made of it.
        own_dropout: whether each head drops entries of its own from what the layer reads.
        dense: whether each layer reads every map before it, X first, and not the last one only.
        l2: of all weights and biases, as in the authors' code.
    """

    learning_rate: float = Field(0.005, gt=0)
    units: tuple[int, ...] = (8,)
    heads: int = Field(8, ge=1)
    out_heads: int = Field(1, ge=1)
    dropout: float = Field(0.6, ge=0, lt=1)
    attention_dropout: float = Field(0.6, ge=0, lt=1)
    value_dropout: float = Field(0.0, ge=0, lt=1)
    own_dropout: bool = False
    dense: bool = False


@dataclass(frozen=True)
class GATInputs(Inputs):
    """What GAT reads of a graph; the edges matter, their weights do not."""

    neighbours: Neighbours


# Velickovic et al.: weight decay 5e-4 (here l2 = 2.5e-4). They stop where neither loss nor accuracy has improved for
# 100 epochs, and keep the weights of the last epoch with the best of both. Every head drops inputs of its own, and
# drops again from what it sums.
PAPER = {
    "units": (8,),
    "heads": 8,
    "out_heads": 1,
    "dropout": 0.6,
    "attention_dropout": 0.6,
    "value_dropout": 0.6,
    "own_dropout": True,
    "learning_rate": 0.005,
    "l2": 2.5e-4,
    "epochs": 100_000,
    "patience": 100,
    "patience_from": "either",
    "select_by": "both",
}


class GAT(Spectral):
    """H_t = ELU([alpha_1 C_1, ..., alpha_K C_K] + b), C_k = dropout(H_{t-1}) W_k, with attention alpha_k over edges.

    See :class:`dfnets.nn.SelfAttention` for alpha. The last layer takes the mean of its heads, and has no ELU. With
    dense connections H_{t-1} stands for [X, H_1, ..., H_{t-1}].
    """

    version = 2
    Config = GATConfig
    presets: ClassVar = {
        "default": {"epochs": 1000, "patience": 100},
        "paper": PAPER,
        "paper-pubmed": {**PAPER, "out_heads": 8, "learning_rate": 0.01, "l2": 5e-4},
    }
    space: ClassVar = {
        "learning_rate": (2e-3, 2e-2, "log"),
        "l2": (1e-5, 1e-2, "log"),
        "dropout": (0.3, 0.8),
        "attention_dropout": (0.2, 0.8),
        "out_heads": [1, 8],
    }
    config: GATConfig

    def __init__(self, config: GATConfig, sizes: Sizes, *, filter: None = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        units = [*config.units, sizes.classes]
        heads = [config.heads] * len(config.units) + [config.out_heads]
        maps = [sizes.features, *(width * config.heads for width in config.units)]
        self.layers = nn.ModuleList(
            GATLayer(
                sum(maps[: t + 1]) if config.dense else maps[t],
                width,
                count,
                mean=t == len(config.units),
                dropout=config.dropout,
                attention_dropout=config.attention_dropout,
                value_dropout=config.value_dropout,
                own_dropout=config.own_dropout,
                replicas=replicas,
            )
            for t, (width, count) in enumerate(zip(units, heads, strict=True))
        )

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> GATInputs:
        both = super().prepare(graph, device, shift=shift)
        return GATInputs(both.features, both.shift, Neighbours(both.shift, device=device))

    def forward(self, inputs: GATInputs) -> Tensor:
        maps: list[Map] = [inputs.features]
        for layer in self.layers:
            h = layer(maps if self.config.dense else maps[-1:], inputs.neighbours)
            maps.append(SCORES["elu"](h))
        return h

    def penalties(self) -> list[tuple[list[nn.Parameter], float]]:
        return [(list(self.parameters()), self.config.l2)]


class GATLayer(nn.Module):
    """Attention over linear maps, its heads side by side or averaged, and a bias.

    Shapes: maps are :class:`Features` (the first only) or (n, R, width); the output is (n, R, width), times heads
    unless they are averaged.
    """

    def __init__(
        self,
        in_channels: int,
        width: int,
        heads: int,
        *,
        mean: bool,
        dropout: float,
        attention_dropout: float,
        value_dropout: float = 0.0,
        own_dropout: bool = False,
        replicas: int = 1,
    ) -> None:
        super().__init__()
        self.mean, self.heads, self.width = mean, heads, width
        draws = heads if own_dropout else 1
        self.linear = Linear(in_channels, width * heads, dropout=dropout, draws=draws, bias=False, replicas=replicas)
        self.attention = SelfAttention(
            width, heads, dropout=attention_dropout, value_dropout=value_dropout, replicas=replicas
        )
        self.bias = nn.Parameter(torch.zeros(replicas, width if mean else width * heads))

    def reset_parameters(self, streams: Generators | None = None) -> None:  # noqa: ARG002 - none is drawn
        """A bias of zeros; the other parts reset themselves."""
        nn.init.zeros_(self.bias)

    def forward(self, maps: list[Map], neighbours: Neighbours) -> Tensor:
        """Every head's weighted mean over the neighbours, the heads side by side or averaged."""
        h = self.attention(self.linear(maps), neighbours)
        if self.mean:
            h = reduce(torch.add, h.split(self.width, dim=2)) / self.heads
        return batched.add_row_(h, self.bias)


class GATDense(GAT):
    """GAT + DenseBlock (Wijesinghe and Wang, 2019): the layers of GAT, each reading all maps before it."""

    presets: ClassVar = {"default": {"epochs": 300, "patience": 100, "dense": True, "units": (8, 8)}}
    space: ClassVar = {**GAT.space, "units": [(8, 8), (8, 16)]}

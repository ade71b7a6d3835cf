"""ARMA networks (Bianchi et al., "Graph neural networks with convolutional ARMA filters", 2019)."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from dfnets.models.base import Sizes
from dfnets.models.spectral import Inputs, Spectral, SpectralConfig, adjacency
from dfnets.nn import Linear, batched
from dfnets.nn.batched import Generators
from dfnets.nn.product import Map
from dfnets.shift import Shift


class ARMAConfig(SpectralConfig):
    """Settings of an ARMA network.

    Attributes:
        stacks: K, filters of order one side by side, whose mean is taken; 1 is ARMA_1.
        depth: T, steps of the recursion.
        skip_dropout: of X on its way around each step.
    """

    stacks: int = Field(1, ge=1)
    depth: int = Field(1, ge=1)
    skip_dropout: float = Field(0.75, ge=0, lt=1)


class ARMA(Spectral):
    """Each layer is the mean over K stacks of H_T, from T steps H_t = s(S H_{t-1} W + X V + b), where H_0 W is X W_0.

    W, V and b are those of the stack, the same in every step. s is ReLU, in the last layer the identity.
    """

    Config = ARMAConfig
    # Bianchi et al. on Cora, as their own example has it: two stacks of one step, l2 5e-5, a stop by patience.
    presets: ClassVar = {
        "default": {},
        "paper": {
            "units": (16,),
            "stacks": 2,
            "depth": 1,
            "dropout": 0.5,
            "skip_dropout": 0.75,
            "l2": 5e-5,
            "learning_rate": 0.01,
            "epochs": 20_000,
            "patience": 100,
            "select_by": "loss",
        },
    }
    space: ClassVar = {
        "learning_rate": (3e-3, 3e-2, "log"),
        "l2": (1e-5, 1e-2, "log"),
        "dropout": (0.2, 0.8),
        "skip_dropout": (0.2, 0.9),
        "units": [(16,), (32,)],
        "depth": [1, 2],
        "stacks": [1, 2, 3],
    }
    config: ARMAConfig

    def __init__(self, config: ARMAConfig, sizes: Sizes, *, filter: None = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        widths = self.widths()
        self.layers = nn.ModuleList(ARMALayer(read, made, config, replicas=replicas) for read, made in pairwise(widths))

    def forward(self, inputs: Inputs) -> Tensor:
        first, *others = self.layers
        h = first(inputs.features, inputs.shift, last=not others)
        for layer in others:
            h = layer(h, inputs.shift, last=layer is others[-1])
        return h

    def penalties(self) -> list[tuple[list[nn.Parameter], float]]:
        kernels = [
            p for name, p in self.named_parameters() if name.startswith("layers.0") and not name.endswith("bias")
        ]
        return [(kernels, self.config.l2)]


class ARMALayer(nn.Module):
    """One layer of :class:`ARMA`.

    Shapes: x is :class:`Features` or (n, R, in_channels); the output is (n, R, out_channels).
    """

    def __init__(self, in_channels: int, out_channels: int, config: ARMAConfig, *, replicas: int = 1) -> None:
        super().__init__()
        self.width, self.stacks, self.depth, self.replicas = out_channels, config.stacks, config.depth, replicas
        made = config.stacks * out_channels
        self.start = Linear(in_channels, made, dropout=config.dropout, bias=False, replicas=replicas)
        self.skip = Linear(in_channels, made, dropout=config.skip_dropout, replicas=replicas)
        self.weight = nn.Parameter(torch.empty(replicas, config.stacks, out_channels, out_channels))
        self.reset_parameters()

    def reset_parameters(self, streams: Generators | None = None) -> None:
        """A Xavier normal W, each replica's from its own stream; the rest is linear layers, which reset themselves."""
        own = [None] * self.replicas if streams is None else streams
        batched.xavier_normal_(self.weight, self.width, self.width, own)

    def forward(self, x: Map, shift: Shift, *, last: bool) -> Tensor:
        """The mean of the stacks; the last layer has no non-linearity."""
        # X V + b is the same in every step.
        around = self.skip([x])
        h = self.start([x])
        for t in range(self.depth):
            if t:
                h = batched.matmul(h.view(len(h), -1, self.width), self.weight.flatten(0, 1)).view_as(around)
            h = adjacency(shift, h) + around
            h = h if last else torch.relu(h)
        return reduce(torch.add, h.split(self.width, dim=2)) / self.stacks

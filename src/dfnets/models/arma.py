"""ARMA networks (Bianchi et al., "Graph neural networks with convolutional ARMA filters", 2019)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from dfnets.graph import Graph
from dfnets.models.base import Sizes
from dfnets.models.spectral import Inputs, Spectral, SpectralConfig, adjacency
from dfnets.nn import Dropout, Linear, batched
from dfnets.nn.attention import SCORES
from dfnets.nn.batched import Generators
from dfnets.nn.product import Map
from dfnets.shift import Shift


class ARMAConfig(SpectralConfig):
    """Settings of an ARMA network.

    Attributes:
        stacks: K, filters of order one side by side, whose mean is taken; 1 is ARMA_1.
        out_stacks: K of the last layer; None is that of the others.
        depth: T, steps of the recursion.
        dropout: of what a layer reads.
        skip_dropout: of X V, what goes around each step.
        activation: s.
        self_loops: whether nodes are their own neighbours, as in S.
        l2: of all kernels.
    """

    stacks: int = Field(1, ge=1)
    out_stacks: int | None = Field(None, ge=1)
    depth: int = Field(1, ge=1)
    skip_dropout: float = Field(0.75, ge=0, lt=1)
    activation: Literal["relu", "elu"] = "relu"
    self_loops: bool = True


@dataclass(frozen=True)
class ARMAInputs(Inputs):
    """A graph as ARMA reads it; ``propagate`` takes (n, R, h) to S times it, S with self-loops or without."""

    propagate: Callable[[Tensor], Tensor]


class ARMA(Spectral):
    """Each layer is s of the mean over K stacks of H_T, T steps H_t = s(S H_{t-1} W + X V + b), where H_0 W is X W_0.

    W, V and b are those of the stack, the same in every step. s is ReLU or ELU, in the last layer the identity. S is
    that of every baseline, or D^-1/2 A D^-1/2 without the self-loops, as the authors have it.
    """

    version = 2
    Config = ARMAConfig
    # Bianchi et al. on Cora, as an early example of theirs in Spektral has it. Keras's l2 is the factor of the squared
    # norm, as here, and its loss the mean over the labelled nodes.
    presets: ClassVar = {
        "default": {},
        "paper": {
            "units": (16,),
            "stacks": 2,
            "out_stacks": 1,
            "depth": 1,
            "activation": "elu",
            "self_loops": False,
            "dropout": 0.75,
            "skip_dropout": 0.75,
            "l2": 5e-4,
            "learning_rate": 0.01,
            "epochs": 20_000,
            "patience": 200,
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
        stacks = [config.stacks] * len(config.units) + [config.out_stacks or config.stacks]
        self.layers = nn.ModuleList(
            ARMALayer(read, made, config, stacks=count, replicas=replicas)
            for (read, made), count in zip(pairwise(self.widths()), stacks, strict=True)
        )

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> ARMAInputs:
        both = super().prepare(graph, device, shift=shift)
        if self.config.self_loops:
            return ARMAInputs(both.features, both.shift, partial(adjacency, both.shift))
        # L^ may be that of a larger graph, so the degrees d of A + I are read from its diagonal 1 - (1 + w_ii) / d_i.
        degrees = (1 + graph.adjacency.diagonal()) / (1 - both.shift.diagonal)
        rescale = np.sqrt(np.divide(degrees, degrees - 1, out=np.zeros_like(degrees), where=degrees > 1 + 1e-9))
        columns = (
            torch.as_tensor(part[:, None, None], device=device, dtype=both.features.dtype)
            for part in (rescale, 1 / degrees)
        )
        return ARMAInputs(both.features, both.shift, partial(_without_loops, both.shift, *columns))

    def forward(self, inputs: ARMAInputs) -> Tensor:
        first, *others = self.layers
        h = first(inputs.features, inputs.propagate, last=not others)
        for layer in others:
            h = layer(h, inputs.propagate, last=layer is others[-1])
        return h

    def penalties(self) -> list[tuple[list[nn.Parameter], float]]:
        kernels = [parameter for name, parameter in self.named_parameters() if not name.endswith("bias")]
        return [(kernels, self.config.l2)]


def _without_loops(shift: Shift, rescale: Tensor, loops: Tensor, x: Tensor) -> Tensor:
    """E (S - D^-1) E x with the diagonal matrices E and D^-1 as columns: D^-1/2 A D^-1/2, D now the degrees of A."""
    scaled = rescale * x
    return rescale * (adjacency(shift, scaled) - loops * scaled)


class ARMALayer(nn.Module):
    """One layer of :class:`ARMA`.

    Shapes: x is :class:`Features` or (n, R, in_channels); the output is (n, R, out_channels).
    """

    def __init__(
        self, in_channels: int, out_channels: int, config: ARMAConfig, *, stacks: int = 1, replicas: int = 1
    ) -> None:
        super().__init__()
        self.width, self.stacks, self.depth, self.replicas = out_channels, stacks, config.depth, replicas
        self.activation = torch.relu if config.activation == "relu" else SCORES[config.activation]
        made = stacks * out_channels
        self.start = Linear(in_channels, made, dropout=config.dropout, bias=False, replicas=replicas)
        self.skip = Linear(in_channels, made, dropout=config.dropout, replicas=replicas)
        self.skip_dropout = Dropout(config.skip_dropout, replicas=replicas)
        self.weight = nn.Parameter(torch.empty(replicas, stacks, out_channels, out_channels))
        self.reset_parameters()

    def reset_parameters(self, streams: Generators | None = None) -> None:
        """A Xavier normal W, each replica's from its own stream; the rest is linear layers, which reset themselves."""
        own = [None] * self.replicas if streams is None else streams
        batched.xavier_normal_(self.weight, self.width, self.width, own)

    def forward(self, x: Map, propagate: Callable[[Tensor], Tensor], *, last: bool) -> Tensor:
        """The mean of the stacks; the last layer has no non-linearity."""
        # X V + b is the same in every step; what is dropped of X V is so before b is added.
        around = self.skip([x], self.skip_dropout)
        h = self.start([x])
        for t in range(self.depth):
            if t:
                h = batched.matmul(h.view(len(h), -1, self.width), self.weight.flatten(0, 1)).view_as(around)
            h = propagate(h) + around
            h = h if last else self.activation(h)
        h = reduce(torch.add, h.split(self.width, dim=2)) / self.stacks
        return h if last else self.activation(h)

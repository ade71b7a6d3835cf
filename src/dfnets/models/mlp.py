"""A network that does not see the graph: the floor that every other model must clear."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn

from dfnets.models.base import Sizes
from dfnets.models.spectral import Inputs, Spectral, SpectralConfig
from dfnets.nn import Linear


class MLP(Spectral):
    """H_t = ReLU(dropout(H_{t-1}) W_t + b_t) from H_0 = X; the last layer, without ReLU, gives the logits."""

    Config: ClassVar[type[SpectralConfig]] = SpectralConfig
    # The settings of GCN.
    presets: ClassVar = {"default": {}}
    space: ClassVar = {
        "learning_rate": (3e-3, 3e-2, "log"),
        "l2": (1e-5, 1e-2, "log"),
        "dropout": (0.2, 0.8),
        "units": [(16,), (64,)],
    }
    config: SpectralConfig

    def __init__(self, config: SpectralConfig, sizes: Sizes, *, filter: None = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        widths = self.widths()
        self.layers = nn.ModuleList(
            Linear(read, made, dropout=config.dropout, replicas=replicas) for read, made in pairwise(widths)
        )

    def forward(self, inputs: Inputs) -> Tensor:
        first, *others = self.layers
        h = first([inputs.features])
        for layer in others:
            h = layer([torch.relu(h)])
        return h

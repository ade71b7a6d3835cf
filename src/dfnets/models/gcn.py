"""GCN (Kipf and Welling, 2017), and GCN with the dense connections of DFNet."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from dfnets.models.base import Sizes
from dfnets.models.spectral import Inputs, Spectral, SpectralConfig, adjacency
from dfnets.nn import Linear
from dfnets.nn.product import Map


class GCNConfig(SpectralConfig):
    """Settings of GCN.

    Attributes:
        dense: whether each layer reads every map before it, X first, and not the last one only.
    """

    dense: bool = False


class GCN(Spectral):
    """H_t = ReLU(S dropout(H_{t-1}) W_t + b_t) from H_0 = X; the last layer, without ReLU, gives the logits.

    With dense connections H_{t-1} stands for [X, H_1, ..., H_{t-1}].
    """

    Config = GCNConfig
    # Kipf and Welling, without their early stopping: weight decay 5e-4 (here l2 = 2.5e-4), and 1e-5 for NELL. What
    # they print for NELL, 66.0, their released code does not reach: about 45 (tkipf/gcn, issues 14 and 115).
    presets: ClassVar = {
        "default": {},
        "paper": {"units": (16,), "learning_rate": 0.01, "dropout": 0.5, "l2": 2.5e-4, "epochs": 200},
        "paper-nell": {"units": (64,), "learning_rate": 0.01, "dropout": 0.1, "l2": 5e-6, "epochs": 200},
    }
    space: ClassVar = {
        "learning_rate": (3e-3, 3e-2, "log"),
        "l2": (1e-5, 1e-2, "log"),
        "dropout": (0.0, 0.9),
        "units": [(16,), (64,)],
    }
    config: GCNConfig

    def __init__(self, config: GCNConfig, sizes: Sizes, *, filter: None = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        widths = self.widths()
        self.layers = nn.ModuleList(
            Linear(
                sum(widths[:t]) if config.dense else widths[t - 1],
                widths[t],
                dropout=config.dropout,
                replicas=replicas,
            )
            for t in range(1, len(widths))
        )

    def forward(self, inputs: Inputs) -> Tensor:
        maps: list[Map] = [inputs.features]
        for layer in self.layers:
            h = layer(maps if self.config.dense else maps[-1:], lambda z: adjacency(inputs.shift, z))
            maps.append(torch.relu(h))
        return h


class GCNDense(GCN):
    """GCN + DenseBlock (Wijesinghe and Wang, 2019): the layers of GCN, each reading all maps before it."""

    # The paper lists no settings for it; `nell` has the dropout and weight decay that GCN's authors took there.
    presets: ClassVar = {
        "default": {"dense": True, "units": (16, 16)},
        "nell": {"dense": True, "units": (32, 32), "dropout": 0.1, "l2": 5e-6},
    }
    space: ClassVar = {**GCN.space, "units": [(16, 16), (32, 32), (8, 16, 32)]}

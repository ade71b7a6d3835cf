"""GCNII (Chen et al., "Simple and deep graph convolutional networks", 2020)."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from dfnets.models.base import Config, Sizes
from dfnets.models.spectral import Inputs, Spectral, polynomial
from dfnets.nn import Dropout, Linear, batched


class GCNIIConfig(Config):
    """Settings of GCNII.

    Attributes:
        width, depth: of every hidden layer, and how many there are.
        initial: alpha, the part of H_0 in each layer.
        decay: lambda; layer t has beta_t = log(lambda / t + 1).
        dropout: before every layer.
        l2: of the hidden weights; ``end_l2``: of the first and the last layer.
    """

    learning_rate: float = Field(0.01, gt=0)
    width: int = Field(64, ge=1)
    depth: int = Field(64, ge=1)
    initial: float = Field(0.1, ge=0, le=1)
    decay: float = Field(0.5, gt=0)
    dropout: float = Field(0.6, ge=0, lt=1)
    l2: float = Field(5e-3, ge=0)
    end_l2: float = Field(2.5e-4, ge=0)


PAPER = {
    "depth": 64,
    "width": 64,
    "initial": 0.1,
    "decay": 0.5,
    "dropout": 0.6,
    "l2": 5e-3,
    "end_l2": 2.5e-4,
    "learning_rate": 0.01,
    "epochs": 1500,
    "patience": 100,
}


class GCNII(Spectral):
    """H_t = ReLU(((1 - alpha) S dropout(H_{t-1}) + alpha H_0) ((1 - beta_t) I + beta_t W_t)), H_0 = ReLU(X W + b).

    X and H_0 are dropped from as well; a linear layer after the last H gives the logits.
    """

    Config = GCNIIConfig
    # The paper has settings for each citation network; `paper` are those of Cora, which are the defaults of Config too.
    presets: ClassVar = {
        "default": {"epochs": 500, "patience": 100},
        "paper": PAPER,
        "paper-citeseer": {**PAPER, "depth": 32, "width": 256, "decay": 0.6, "dropout": 0.7},
        "paper-pubmed": {**PAPER, "depth": 16, "width": 256, "decay": 0.4, "dropout": 0.5, "l2": 2.5e-4},
    }
    space: ClassVar = {
        "learning_rate": (3e-3, 2e-2, "log"),
        "l2": (1e-4, 2e-2, "log"),
        "dropout": (0.4, 0.8),
        "depth": [8, 16],
        "width": [64],
        "decay": [0.4, 0.5, 0.6],
    }
    config: GCNIIConfig

    def __init__(self, config: GCNIIConfig, sizes: Sizes, *, filter: None = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        self.first = Linear(sizes.features, config.width, dropout=config.dropout, replicas=replicas)
        self.hidden = nn.ModuleList(_Mixing(config.width, replicas) for _ in range(config.depth))
        self.last = Linear(config.width, sizes.classes, replicas=replicas)
        self.thin = Dropout(config.dropout, relu=True, replicas=replicas)

    def forward(self, inputs: Inputs) -> Tensor:
        initial, decay = self.config.initial, self.config.decay
        start = torch.relu(self.first([inputs.features]))
        # ReLU changes nothing here: the dropout after it is what every layer reads through.
        h = self.thin(start)
        share = initial * start
        for t, mixing in enumerate(self.hidden, start=1):
            mixed = polynomial(inputs.shift, h, (0.0, 1 - initial)) + share
            h = self.thin(mixing(mixed, math.log(decay / t + 1)))
        return self.last([h])

    def penalties(self) -> list[tuple[list[nn.Parameter], float]]:
        ends = [parameter for layer in (self.first, self.last) for parameter in layer.parameters()]
        return [([mixing.weight for mixing in self.hidden], self.config.l2), (ends, self.config.end_l2)]  # type: ignore[misc]


class _Mixing(Linear):
    """x ((1 - beta) I + beta W): as one product."""

    def __init__(self, width: int, replicas: int) -> None:
        super().__init__(width, width, bias=False, replicas=replicas)

    def forward(self, x: Tensor, beta: float) -> Tensor:  # type: ignore[override]
        kept = torch.eye(self.in_channels, device=x.device, dtype=x.dtype) * (1 - beta)
        return batched.matmul(x, self.weight * beta + kept)

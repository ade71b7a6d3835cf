"""SGC (Wu et al., "Simplifying graph convolutional networks", 2019)."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field
from torch import Tensor

from dfnets.models.base import Config, Sizes
from dfnets.models.spectral import Inputs, Spectral, polynomial
from dfnets.nn import Linear


class SGCConfig(Config):
    """Settings of SGC.

    Attributes:
        hops: K.
        dropout: of X; the paper has none.
        l2: of W.
    """

    epochs: int = Field(100, ge=0)
    learning_rate: float = Field(0.2, gt=0)
    hops: int = Field(2, ge=0)
    dropout: float = Field(0.0, ge=0, lt=1)
    l2: float = Field(6.5e-6, ge=0)


class SGC(Spectral):
    """Logits S^K X W + b: logistic regression on smoothed features, here smoothed after they are multiplied by W."""

    Config = SGCConfig
    # Wu et al. search the weight decay; 1.3e-5 (here l2 = 6.5e-6) is what they found on Cora.
    presets: ClassVar = {
        "default": {},
        "paper": {"hops": 2, "learning_rate": 0.2, "l2": 6.5e-6, "dropout": 0.0, "epochs": 100},
    }
    space: ClassVar = {
        "learning_rate": (3e-2, 3e-1, "log"),
        "l2": (1e-6, 1e-3, "log"),
        "dropout": (0.0, 0.6),
        "hops": [2, 3, 4],
    }
    config: SGCConfig

    def __init__(self, config: SGCConfig, sizes: Sizes, *, filter: None = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        self.layer = Linear(sizes.features, sizes.classes, dropout=config.dropout, replicas=replicas)

    def forward(self, inputs: Inputs) -> Tensor:
        power = [0.0] * self.config.hops + [1.0]
        return self.layer([inputs.features], lambda z: polynomial(inputs.shift, z, power))

"""APPNP (Klicpera et al., "Predict then propagate", 2019)."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field
from torch import Tensor

from dfnets.models.mlp import MLP
from dfnets.models.spectral import Inputs, SpectralConfig, polynomial


class APPNPConfig(SpectralConfig):
    """Settings of APPNP.

    Attributes:
        restart: alpha.
        iterations: K.
    """

    units: tuple[int, ...] = (64,)
    l2: float = Field(2.5e-3, ge=0)
    epochs: int = Field(500, ge=0)
    restart: float = Field(0.1, gt=0, le=1)
    iterations: int = Field(10, ge=0)


class APPNP(MLP):
    """Logits Z_K: personalised PageRank of the predictions H of an MLP, Z_{k+1} = (1 - alpha) S Z_k + alpha H, Z_0 = H.

    The K steps are one polynomial, alpha sum_{k<K} (1 - alpha)^k S^k H + (1 - alpha)^K S^K H, as wide as the classes.
    The authors also drop edges in every step, which is left out here.
    """

    Config = APPNPConfig
    # Klicpera et al.: a penalty of 5e-3 / 2 on the first layer's weights.
    presets: ClassVar = {
        "default": {"patience": 100},
        "paper": {
            "units": (64,),
            "restart": 0.1,
            "iterations": 10,
            "dropout": 0.5,
            "learning_rate": 0.01,
            "l2": 2.5e-3,
            "epochs": 10_000,
            "patience": 100,
        },
    }
    space: ClassVar = {
        "learning_rate": (3e-3, 3e-2, "log"),
        "l2": (3e-4, 3e-2, "log"),
        "dropout": (0.3, 0.9),
        "restart": (0.05, 0.25),
    }
    config: APPNPConfig

    def forward(self, inputs: Inputs) -> Tensor:
        keep, steps = 1 - self.config.restart, self.config.iterations
        weights = [self.config.restart * keep**k for k in range(steps)] + [keep**steps]
        return polynomial(inputs.shift, super().forward(inputs), weights)

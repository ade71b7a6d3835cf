"""GPR-GNN (Chien et al., "Adaptive universal generalized PageRank graph neural network", 2021)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from dfnets.models.learned_polynomial import LearnedPolynomial, LearnedPolynomialConfig


class GPRGNNConfig(LearnedPolynomialConfig):
    """Settings of GPR-GNN.

    Attributes:
        restart: alpha of the personalised PageRank that the coefficients start from.
    """

    restart: float = Field(0.1, gt=0, le=1)


class GPRGNN(LearnedPolynomial):
    """Logits sum_{k=0..K} gamma_k S^k H, S = I - L^, H the predictions of an MLP; every gamma_k is learned.

    They start from personalised PageRank, gamma_k = alpha (1 - alpha)^k and gamma_K = (1 - alpha)^K, so that an
    untrained GPR-GNN is APPNP; they may become negative, which makes it a high-pass where neighbours differ.
    """

    Config = GPRGNNConfig
    presets: ClassVar = {"default": {}, "paper": {}}
    space: ClassVar = {**LearnedPolynomial.space, "restart": [0.1, 0.2, 0.5, 0.9]}
    config: GPRGNNConfig

    def basis_function(self, k: int, x: np.ndarray) -> np.ndarray:
        return (-x) ** k

    def initial_theta(self) -> Tensor:
        alpha, order = self.config.restart, self.config.order
        return torch.tensor([alpha * (1 - alpha) ** k for k in range(order)] + [(1 - alpha) ** order])

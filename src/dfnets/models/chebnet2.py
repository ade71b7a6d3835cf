"""ChebNetII (He et al., "Convolutional neural networks on graphs with Chebyshev approximation, revisited", 2022)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from dfnets.models.learned_polynomial import LearnedPolynomial, LearnedPolynomialConfig


class ChebNetIIConfig(LearnedPolynomialConfig):
    """Settings of ChebNetII; the values of the authors' script for Cora."""

    prediction_dropout: float = Field(0.8, ge=0, lt=1)
    coefficient_l2: float = Field(2.5e-2, ge=0)


class ChebNetII(LearnedPolynomial):
    """Logits h(L^) H, h the polynomial that takes the learned values gamma_j >= 0 at the K + 1 Chebyshev points.

    h = sum_k c_k T_k with c_k = 2 / (K + 1) sum_j gamma_j T_k(x_j), c_0 halved, at x_j = cos((j + 1/2) pi / (K + 1)).
    Learning values instead of coefficients keeps the c_k falling, as those of a smooth response do. All gamma_j start
    at 1, which passes every frequency alike.
    """

    Config = ChebNetIIConfig
    presets: ClassVar = {"default": {}, "paper": {}}

    def basis_function(self, k: int, x: np.ndarray) -> np.ndarray:
        """The polynomial that is 1 at x_k and 0 at the other points."""
        count = self.config.order + 1
        point = np.cos((k + 0.5) * np.pi / count)
        degrees = np.arange(count)
        at_point = np.cos(degrees * np.arccos(point)) * np.where(degrees, 2, 1) / count
        return np.polynomial.chebyshev.chebval(x, at_point)

    def initial_theta(self) -> Tensor:
        return torch.ones(self.config.order + 1)

    def coefficients(self) -> Tensor:
        return torch.relu(self.theta)

"""BernNet (He et al., "BernNet: learning arbitrary graph spectral filters via Bernstein approximation", 2021)."""

from __future__ import annotations

from math import comb
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from dfnets.models.learned_polynomial import LearnedPolynomial


class BernNet(LearnedPolynomial):
    """Logits sum_k theta_k B_k(L^) H with B_k(L^) = 2^-K binom(K, k) (2 I - L^)^(K - k) L^k, theta_k >= 0 learned.

    The B_k are non-negative on [0, 2] and sum to 1 there, so a filter with theta_k = h(2 k / K) follows h, and one with
    theta_k >= 0 is never negative. Their formula takes K (K + 3) / 2 products; here it is one chain of K.
    All theta_k start at 1, which passes every frequency alike.
    """

    presets: ClassVar = {"default": {}, "paper": {}}

    def basis_function(self, k: int, x: np.ndarray) -> np.ndarray:
        order, frequency = self.config.order, x + 1
        return comb(order, k) * (2 - frequency) ** (order - k) * frequency**k / 2**order

    def initial_theta(self) -> Tensor:
        return torch.ones(self.config.order + 1)

    def coefficients(self) -> Tensor:
        return torch.relu(self.theta)

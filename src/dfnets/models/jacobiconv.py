"""JacobiConv (Wang and Zhang, "How powerful are spectral graph neural networks", 2022)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from pydantic import Field
from scipy.special import eval_jacobi
from torch import Tensor

from dfnets.models.learned_polynomial import LearnedPolynomial, LearnedPolynomialConfig


class JacobiConvConfig(LearnedPolynomialConfig):
    """Settings of JacobiConv.

    Attributes:
        a, b: of the Jacobi polynomials P_k^(a, b), orthogonal on [-1, 1] under the weight (1 - s)^a (1 + s)^b.
        bound: gamma', the most by which a coefficient exceeds the one before it.
    """

    units: tuple[int, ...] = ()
    a: float = Field(1.0, gt=-1)
    b: float = Field(1.0, gt=-1)
    bound: float = Field(1.0, gt=0)


class JacobiConv(LearnedPolynomial):
    """Logits Z with Z_c = sum_{k=0..K} alpha_kc P_k^(a, b)(S) (X W + b)_c: linear, and every class has its own filter.

    The coefficients are products, alpha_kc = beta_kc prod_{i=1..k} gamma' tanh(eta_i), so that high powers start small:
    the learned numbers are beta_kc (ones at first) and eta_i, kept behind them in one tensor; tanh(eta_i) = 1/2 first.
    """

    Config = JacobiConvConfig
    presets: ClassVar = {"default": {}, "paper": {}}
    space: ClassVar = {
        **LearnedPolynomial.space,
        "a": [-0.5, 0.0, 0.5, 1.0, 1.5, 2.0],
        "b": [-0.5, 0.0, 0.5, 1.0, 1.5, 2.0],
        "bound": [0.5, 1.0, 1.5, 2.0],
    }
    config: JacobiConvConfig

    def basis_function(self, k: int, x: np.ndarray) -> np.ndarray:
        return eval_jacobi(k, self.config.a, self.config.b, -x)

    def initial_theta(self) -> Tensor:
        beta = torch.ones(self.config.order + 1, self.sizes.classes)
        eta = torch.full((self.config.order + 1, 1), float(np.arctanh(0.5)))
        return torch.cat([beta, eta], dim=1)

    def coefficients(self) -> Tensor:
        beta, eta = self.theta[..., :-1], self.theta[..., 1:, -1]
        factors = torch.cumprod(self.config.bound * torch.tanh(eta), dim=1)
        return beta * torch.nn.functional.pad(factors, (1, 0), value=1.0)[..., None]

"""What networks with a learned polynomial filter have in common: predict from the features, then filter that.

The four of them differ in the basis that their coefficients belong to, which decides how well they can be learned, and
in what they are held to. A polynomial is a polynomial, so all are turned into Chebyshev coefficients by a small matrix
and applied by one chain of K products, however many products the basis would take by its own formula.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from dfnets.models.base import Sizes
from dfnets.models.chebyshev import clenshaw
from dfnets.models.mlp import MLP
from dfnets.models.spectral import Inputs, SpectralConfig
from dfnets.nn import Dropout, batched
from dfnets.nn.batched import Generators


class LearnedPolynomialConfig(SpectralConfig):
    """Settings of a network that learns its polynomial filter.

    Attributes:
        order: K, the degree of the polynomial.
        prediction_dropout: of the predictions, before they are filtered.
        coefficient_l2: of the learned coefficients.
    """

    units: tuple[int, ...] = (64,)
    epochs: int = Field(1000, ge=0)
    patience: int | None = Field(200, ge=1)
    order: int = Field(10, ge=1)
    prediction_dropout: float = Field(0.5, ge=0, lt=1)
    coefficient_l2: float = Field(0.0, ge=0)


class LearnedPolynomial(MLP):
    """Logits h(L^) H with h(L^) = sum_k theta_k p_k(L^ - I), where H is what an MLP predicts from the features alone.

    A subclass names the basis p_0, ..., p_K on [-1, 1] and makes theta of its parameters.

    Shapes: theta is (R, K + 1), or (R, K + 1, classes) where every class has a filter of its own.
    """

    Config: ClassVar[type[SpectralConfig]] = LearnedPolynomialConfig
    space: ClassVar = {
        "features": ["row", "unit", "none"],
        "learning_rate": (3e-3, 3e-2, "log"),
        "l2": (1e-5, 1e-2, "log"),
        "dropout": (0.2, 0.8),
        "prediction_dropout": (0.0, 0.8),
        "coefficient_l2": [0.0, 2.5e-4, 2.5e-2],
    }
    config: LearnedPolynomialConfig
    basis: Tensor

    def __init__(
        self, config: LearnedPolynomialConfig, sizes: Sizes, *, filter: None = None, replicas: int = 1
    ) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        self.prediction_dropout = Dropout(config.prediction_dropout, replicas=replicas)
        rows = [chebyshev_coefficients(partial(self.basis_function, k), config.order) for k in range(config.order + 1)]
        self.register_buffer("basis", torch.tensor(np.array(rows), dtype=torch.float32), persistent=False)
        self.theta = nn.Parameter(torch.empty(replicas, *self.initial_theta().shape))

    @abstractmethod
    def basis_function(self, k: int, x: np.ndarray) -> np.ndarray:
        """p_k at x = frequency - 1, in [-1, 1]."""

    @abstractmethod
    def initial_theta(self) -> Tensor:
        """What one replica's learned parameters start from."""

    def coefficients(self) -> Tensor:
        """theta, of the parameters; they are theta themselves unless the model says otherwise."""
        return self.theta

    def reset_parameters(self, streams: Generators) -> None:
        super().reset_parameters(streams)
        with torch.no_grad():
            self.theta.copy_(self.initial_theta().expand_as(self.theta))

    def forward(self, inputs: Inputs) -> Tensor:
        predicted = self.prediction_dropout(super().forward(inputs))
        theta = self.coefficients()
        per_class = theta if theta.ndim == 3 else theta[..., None].expand(-1, -1, self.sizes.classes)
        # (R, K + 1, classes) in the Chebyshev basis; every term is scaled first, so that one chain serves all.
        weights = batched.matmul(self.basis.T[:, None].expand(-1, self.replicas, -1), per_class).transpose(0, 1)
        return clenshaw(inputs.shift, _Scaled.apply(predicted, weights))

    def penalties(self) -> list[tuple[list[nn.Parameter], float]]:
        weights = [parameter for name, parameter in self.named_parameters() if name.startswith("layers")]
        return [(weights, self.config.l2), ([self.theta], self.config.coefficient_l2)]


class _Scaled(torch.autograd.Function):
    """H times each coefficient: (n, R, c) and (R, K, c) give (n, R, K, c), gradients summed in a fixed order."""

    @staticmethod
    def forward(ctx: Any, predicted: Tensor, weights: Tensor) -> Tensor:
        ctx.save_for_backward(predicted, weights)
        return predicted[:, :, None] * weights

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        predicted, weights = ctx.saved_tensors
        d_weights = batched.column_sums((gradient * predicted[:, :, None]).flatten(2)).view_as(weights)
        d_predicted = gradient[:, :, 0] * weights[:, 0]
        for k in range(1, weights.shape[1]):
            d_predicted.addcmul_(gradient[:, :, k], weights[:, k])
        return d_predicted, d_weights


def chebyshev_coefficients(function: Callable[[np.ndarray], np.ndarray], degree: int) -> np.ndarray:
    """(degree + 1,) coefficients c with function(x) = sum_j c_j T_j(x) on [-1, 1], for a polynomial of that degree.

    >>> chebyshev_coefficients(lambda x: 2 * x**2 + x, 2).round(12)
    array([1., 1., 1.])
    """
    return np.polynomial.chebyshev.chebinterpolate(function, degree)

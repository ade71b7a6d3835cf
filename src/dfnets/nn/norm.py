"""Batch normalisation that is folded into the weights after it.

With s = gamma / sqrt(variance + eps), normalising H and multiplying by theta is

    ((H - mean) s + beta) theta = H (s theta) + (beta - mean s) theta,

so no normalised copy of H is made: theta is scaled, and one row vector is added. The statistics carry gradients. They
belong to the feature map and not to the layer that reads it, so in a dense block each map's are computed once.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from dfnets.nn import replicas
from dfnets.nn.features import Features


class Moments(nn.Module):
    """Mean and biased variance of the columns of one feature map: of the batch to train, running ones to evaluate.

    running <- momentum running + (1 - momentum) batch, from mean 0 and variance 1, as in Keras.

    Args:
        channels: columns of the map.
        momentum: the weight of the past.
        replicas: R.

    Shapes: (n, R, channels), or :class:`Features` of (n, channels), to two tensors (R, channels).
    """

    running_mean: Tensor
    running_variance: Tensor

    def __init__(self, channels: int, momentum: float = 0.9, *, replicas: int = 1) -> None:
        super().__init__()
        self.momentum = momentum
        self.register_buffer("running_mean", torch.zeros(replicas, channels))
        self.register_buffer("running_variance", torch.ones(replicas, channels))

    def forward(self, x: Tensor | Features) -> tuple[Tensor, Tensor]:
        if not self.training:
            return self.running_mean, self.running_variance
        if isinstance(x, Features):
            mean, variance = (moment.expand_as(self.running_mean) for moment in x.moments)
        else:
            mean, variance = _Moments.apply(x)
        with torch.no_grad():
            self.running_mean.lerp_(mean, 1 - self.momentum)
            self.running_variance.lerp_(variance, 1 - self.momentum)
        return mean, variance

    def reset_parameters(self) -> None:
        self.running_mean.zero_()
        self.running_variance.fill_(1.0)

    def extra_repr(self) -> str:
        return f"{self.running_mean.shape[1]}, momentum={self.momentum}"


class FoldedBatchNorm(nn.Module):
    """gamma and beta of the batch normalisation before a layer; :meth:`fold` puts them into the layer's weights.

    Args:
        channels: columns of what is normalised.
        eps: added to the variance.
        replicas: R.
    """

    def __init__(self, channels: int, eps: float = 1e-3, *, replicas: int = 1) -> None:
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(replicas, channels))
        self.beta = nn.Parameter(torch.zeros(replicas, channels))

    def fold(self, theta: Tensor, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor]:
        """(s theta, (beta - mean s) theta).

        Args:
            theta: (R, channels, h), the weight of the layer that follows.
            mean, variance: (R, channels), of what is normalised.

        Returns:
            (R, channels, h), and (R, h) to be added to every row.
        """
        scale = self.gamma * torch.rsqrt(variance + self.eps)
        offset = self.beta - mean * scale
        return theta * scale.unsqueeze(-1), replicas.matmul(offset.unsqueeze(0), theta)[0]

    def reset_parameters(self) -> None:
        nn.init.ones_(self.gamma)
        nn.init.zeros_(self.beta)

    def extra_repr(self) -> str:
        return f"{self.gamma.shape[1]}, eps={self.eps}"


class _Moments(torch.autograd.Function):
    """Mean and biased variance over the nodes, in two passes: (n, R, c) gives (R, c) each."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        n = x.shape[0]
        mean = replicas.column_sums(x) / n
        variance = replicas.column_sums((x - mean).square_()) / n
        ctx.save_for_backward(x, mean)
        return mean, variance

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_mean: Tensor, d_variance: Tensor) -> Tensor:
        x, mean = ctx.saved_tensors
        n = x.shape[0]
        # d variance / d x = 2 (x - mean) / n; the mean inside the variance adds nothing, as x - mean sums to zero.
        return (x - mean) * (2 * d_variance / n) + d_mean / n

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

from dfnets.nn import batched
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
        """(R, c) means and variances of the columns: in training those of x, which join the running ones."""
        if not self.training:
            return self.running_mean, self.running_variance
        if isinstance(x, Features):
            mean, variance = (moment.expand_as(self.running_mean) for moment in x.moments)
        else:
            mean, variance = column_moments(x)
        with torch.no_grad():
            self.running_mean.lerp_(mean, 1 - self.momentum)
            self.running_variance.lerp_(variance, 1 - self.momentum)
        return mean, variance

    def reset_parameters(self) -> None:
        """Sets the running moments back to mean 0 and variance 1."""
        self.running_mean.zero_()
        self.running_variance.fill_(1.0)

    def extra_repr(self) -> str:
        """Its sizes, for ``print``."""
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
        return _Fold.apply(theta, scale, self.beta - mean * scale)

    def reset_parameters(self) -> None:
        """Sets the scale to 1 and the shift to 0."""
        nn.init.ones_(self.gamma)
        nn.init.zeros_(self.beta)

    def extra_repr(self) -> str:
        """Its sizes, for ``print``."""
        return f"{self.gamma.shape[1]}, eps={self.eps}"


def column_moments(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and biased variance over the nodes, with gradients: (n, R, c) gives (R, c) each."""
    return _Moments.apply(x)


class _Moments(torch.autograd.Function):
    """Mean and biased variance over the nodes, in two passes: (n, R, c) gives (R, c) each."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        n = x.shape[0]
        mean = batched.column_sums(x) / n
        variance = batched.column_sums((x - mean).square_()) / n
        ctx.save_for_backward(x, mean)
        return mean, variance

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_mean: Tensor, d_variance: Tensor) -> Tensor:
        x, mean = ctx.saved_tensors
        n = x.shape[0]
        # d variance / d x = 2 (x - mean) / n; the mean inside the variance adds nothing, as x - mean sums to zero.
        return (x - mean) * (2 * d_variance / n) + d_mean / n


class _Fold(torch.autograd.Function):
    """(scale theta, offset theta): (R, c, h), (R, c), (R, c) give (R, c, h) and (R, h)."""

    @staticmethod
    def forward(ctx: Any, theta: Tensor, scale: Tensor, offset: Tensor) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(theta, scale, offset)
        return theta * scale.unsqueeze(-1), batched.products(offset.unsqueeze(1), theta)[0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_scaled: Tensor, d_row: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        theta, scale, offset = ctx.saved_tensors
        buffer = d_scaled * theta  # as large as the weight itself, so it is used twice
        d_scale = buffer.sum(dim=2)
        d_offset = batched.products(d_row.unsqueeze(1), theta.transpose(1, 2))[0]
        d_theta = torch.mul(d_scaled, scale.unsqueeze(-1), out=buffer)
        return d_theta.addcmul_(offset.unsqueeze(-1), d_row.unsqueeze(1)), d_scale, d_offset

"""A loss that asks the predictions for several augmentations of the input to agree, as in GRAND (Feng et al., 2020)."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from dfnets.nn import batched


def ramp_up(steps: Tensor, length: int) -> Tensor:
    """exp(-5 (1 - t / length)^2) up to ``length`` steps, and 1 from there on: the weight of the loss after t steps.

    Slow at first, so that what the network makes of the labels alone is there for the validation nodes to choose.

    >>> ramp_up(torch.tensor([5.0, 10.0, 20.0]), 10)
    tensor([0.2865, 1.0000, 1.0000])
    """
    return torch.exp(-5 * (1 - (steps / length).clamp_max(1)) ** 2)


def consistency(
    log_p: Tensor, temperature: float, least: float, divergence: Literal["squared", "kl"], shares: Tensor | None = None
) -> Tensor:
    """(R,) mean distance of each augmentation's prediction p_s from the sharpened mean q, over the confident nodes.

    q_c is proportional to mean_s(p_s)_c^(1 / temperature), and constant in the gradient. The distance is
    sum_c (p_s - q)_c^2, or the divergence sum_c q_c log(q_c / p_sc).

    Args:
        log_p: (n, R, S, classes) logarithms of the S predictions for each node.
        least: a node counts if the top probability of its mean prediction is above this.
        shares: (R, classes) what the mean predictions are divided by first, to sum to 1 again; with the shares that
            the classes have in all predictions, each gets as much of q as any other.
    """
    p = log_p.exp()
    mean = p.mean(dim=2, keepdim=True).detach()
    if shares is not None:
        mean = mean / shares[:, None]
        mean = mean / mean.sum(dim=-1, keepdim=True)
    # Divided by the largest first, so that a high power of a small probability is not lost.
    # By exp and log: the power of torch rounds the last entries of a tensor otherwise than the rest, and which
    # those are depends on the number of replicas.
    sharp = torch.exp(torch.log(mean / mean.amax(dim=-1, keepdim=True)) / temperature)
    sharp = sharp / sharp.sum(dim=-1, keepdim=True)
    if divergence == "squared":
        distance = (p - sharp).square().sum(dim=-1)
    else:
        distance = (torch.xlogy(sharp, sharp) - sharp * log_p).sum(dim=-1)
    confident = (mean.amax(dim=-1).squeeze(2) > least).to(p.dtype)
    return batched.sums(distance.mean(dim=2) * confident) / batched.sums(confident).clamp_min(1)

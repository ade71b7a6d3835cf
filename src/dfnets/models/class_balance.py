"""Predictions that spread over all classes: the distribution alignment of ReMixMatch (Berthelot et al., 2020).

Agreement between predictions is cheapest when one class takes all, and with few labels it ends there. So the target of
the agreement is divided by the share that each class has had in the predictions so far.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dfnets.nn import batched

# How far the shares move towards those of one step: about 50 steps are remembered.
SHARE_MOMENTUM = 0.02
# The smallest share that is divided by: a class that is hardly predicted is not blown up without bound.
MIN_SHARE = 1e-3


def update_shares_(shares: Tensor, predictions: Tensor) -> None:
    """Moves the (R, classes) running shares towards those of one step's (n, R, classes) probabilities."""
    if len(predictions):
        shares.lerp_(batched.column_sums(predictions) / len(predictions), SHARE_MOMENTUM)


def alignment(shares: Tensor, balance: Tensor) -> Tensor:
    """(R, classes) what the target is divided by: shares times classes where ``balance`` (R,) says so, and 1 elsewhere.

    >>> alignment(torch.tensor([[0.75, 0.25]]), torch.tensor([True]))
    tensor([[1.5000, 0.5000]])
    """
    return torch.where(balance[:, None], shares.clamp_min(MIN_SHARE) * shares.shape[1], 1.0)

"""The unit-norm constraint (Douglas et al., 2000): weights are put back on the unit sphere after every step."""

from __future__ import annotations

import torch
from torch import Tensor

# Keras' guard against a weight of zeros, which stays zero.
EPSILON = 1e-7


@torch.no_grad()
def unit_norm_(weight: Tensor) -> Tensor:
    """Each column of (R, c, h), or a vector of (R, h) as a whole, divided by (its norm + 1e-7), in place.

    >>> unit_norm_(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    # Replica by replica, so that the order of a sum does not depend on their number.
    for own in weight:
        own /= own.square().sum(0).sqrt_().add_(EPSILON)
    return weight

"""Means and variances of filtered features."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from dfnets.nn import rows
from dfnets.nn.features import Features
from dfnets.nn.filter_bank import FilterBank

# Columns of X that are filtered at a time.
BLOCK = 256


def filtered_moments(features: Features, bank: FilterBank) -> tuple[Tensor, Tensor]:
    """(K, f) means and (K, f) variances of the columns of h_k(L^) X, a block of columns at a time."""
    means, variances = [], []
    for start in range(0, features.shape[1], BLOCK):
        part = features.source[:, start : start + BLOCK]
        dense = part if isinstance(part, np.ndarray) else part.toarray()
        filtered = bank.apply_each(torch.as_tensor(dense, device=features.device, dtype=features.dtype))
        mean, variance = rows.moments(bank.shift, filtered)
        means.append(mean)
        variances.append(variance)
    return torch.cat(means, dim=1), torch.cat(variances, dim=1)

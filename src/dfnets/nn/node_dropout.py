"""Dropping whole nodes before a filter, so that a node must be told by what is around it (Feng et al., GRAND, 2020)."""

from __future__ import annotations

import torch
from torch import Tensor

from dfnets.nn import batched
from dfnets.nn.batched import Generators


def node_dropout(x: Tensor, count: int, rate: float, streams: Generators, drops: Tensor) -> Tensor:
    """M_s x / (1 - rate) for ``count`` draws of nodes M_s: (n, R, S or 1, ...) gives (n, R, count, ...).

    Args:
        x: signals; a third dimension of 1 stands for the same signals in every draw.
        rate: the share of nodes whose signals become 0.
        streams: one generator per replica, on the device of x.
        drops: (R,) whether a replica drops nodes at all; those that do not get x as it is.
    """
    if not rate:
        return x.expand(-1, -1, count, *[-1] * (x.ndim - 3))
    dropped = batched.draw((x.shape[0], len(drops), count), rate, streams, x.device)
    trailing = (None,) * (x.ndim - 3)
    keep = torch.where(drops[:, None], 1 - rate, 1.0)[(..., *trailing)]
    return (x / keep).masked_fill((dropped & drops[:, None])[(..., *trailing)], 0)

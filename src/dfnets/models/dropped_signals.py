"""What DFNetPlus filters in a step: X Theta, each time without other nodes and other entries of X."""

from __future__ import annotations

import torch
from torch import Tensor

from dfnets.nn import Features, batched
from dfnets.nn.batched import Generators
from dfnets.nn.node_dropout import node_dropout
from dfnets.nn.product import multiply
from dfnets.nn.sparse_dropout import draw_entries, matmul_without


def dropped_signals(
    features: Features,
    weight: Tensor,
    parts: int,
    rates: tuple[float, float],
    drops: Tensor,
    streams: Generators,
    count: int,
) -> Tensor:
    """(K, n, R S h): S times X Theta, each time without the entries of X and the nodes that are dropped.

    Args:
        features: X, (n, f).
        weight: (R, f, K h) Theta.
        parts: K.
        rates: of entries of X, and of nodes.
        drops: (R,) whether a replica drops nodes at all.
        streams: one generator per replica, on the device of the features.
        count: S.
    """
    n, replicas, width = features.shape[0], len(drops), weight.shape[2] // parts
    of_entries, of_nodes = rates
    if not of_entries:
        product = multiply([features], weight).view(n, replicas, 1, parts, width)
        product = node_dropout(product, count, of_nodes, streams, drops)
        return product.permute(3, 0, 1, 2, 4).reshape(parts, n, -1)
    # Every augmentation has its own: to the product it is one more replica, with the same weight and stream.
    entries = draw_entries(features, of_entries, [stream for stream in streams for _ in range(count)])
    dropped = None
    if of_nodes:
        # A node that its neighbours say nothing about has its own features only, so just their entries are dropped.
        drawn = batched.draw((n, replicas, count), of_nodes, streams, weight.device)
        dropped = (drawn & drops[:, None]).flatten(1)
        weight = weight / torch.where(drops[:, None], 1 - of_nodes, 1.0)[..., None]
    scale, repeated = 1 / (1 - of_entries), weight.repeat_interleave(count, dim=0)
    return matmul_without(features, repeated, entries, scale, rows=dropped, parts=parts).flatten(2)

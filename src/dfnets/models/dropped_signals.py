"""What DFNetPlus filters in a step: X Theta, each time without other nodes and other entries of X."""

from __future__ import annotations

import torch
from torch import Tensor

from dfnets.models.plus_config import DFNetPlusConfig
from dfnets.nn import Features, batched
from dfnets.nn.batched import Generators
from dfnets.nn.node_dropout import node_dropout
from dfnets.nn.product import multiply
from dfnets.nn.sparse_dropout import draw_entries, matmul_without


def dropped_signals(
    features: Features,
    weight: Tensor,
    parts: int,
    config: DFNetPlusConfig,
    drops: Tensor,
    streams: Generators,
    count: int,
) -> Tensor:
    """(K, n, R S h): S times X Theta, each time without the entries of X and the nodes that are dropped.

    Args:
        features: X, (n, f).
        weight: (R, f, K h) Theta.
        parts: K.
        config: has the rates.
        drops: (R,) whether a replica drops nodes at all.
        streams: one generator per replica, on the device of the features.
        count: S.
    """
    n, replicas, width = features.shape[0], len(drops), weight.shape[2] // parts
    if not config.input_dropout:
        product = multiply([features], weight).view(n, replicas, 1, parts, width)
        product = node_dropout(product, count, config.node_dropout, streams, drops)
        return product.permute(3, 0, 1, 2, 4).reshape(parts, n, -1)
    # Every augmentation has its own: to the product it is one more replica, with the same weight and stream.
    entries = draw_entries(features, config.input_dropout, [stream for stream in streams for _ in range(count)])
    dropped = None
    if config.node_dropout:
        # A node that its neighbours say nothing about has its own features only, so just their entries are dropped.
        drawn = batched.draw((n, replicas, count), config.node_dropout, streams, weight.device)
        dropped = (drawn & drops[:, None]).flatten(1)
        weight = weight / torch.where(drops[:, None], 1 - config.node_dropout, 1.0)[..., None]
    scale, repeated = 1 / (1 - config.input_dropout), weight.repeat_interleave(count, dim=0)
    return matmul_without(features, repeated, entries, scale, rows=dropped, parts=parts).flatten(2)

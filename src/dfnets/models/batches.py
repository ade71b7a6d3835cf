"""The nodes that one step of DFNetPlus looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from dfnets.nn.batched import Generators

if TYPE_CHECKING:
    from dfnets.training.objective import Examples, Objective


class Batch(NamedTuple):
    """(L + U, R) nodes, the L labelled ones first, and of these the (L, R) classes and (L, R) weights in the loss."""

    nodes: Tensor
    targets: Tensor
    weights: Tensor


def sample_batch(objective: Objective, num_nodes: int, labelled: int, unlabelled: int, streams: Generators) -> Batch:
    """Labelled nodes of each replica in a random order, and unlabelled ones at random with replacement.

    Args:
        labelled: how many; fewer labelled nodes than that come around again.
        unlabelled: how many; of all nodes where a replica has no unlabelled one.
        streams: one generator per replica, on the device of the data.
    """
    parts = [
        _sample(own, num_nodes, labelled, unlabelled, stream)
        for own, stream in zip(objective.examples, streams, strict=True)
    ]
    return Batch(*(torch.stack(column, dim=1) for column in zip(*parts, strict=True)))


def _sample(own: Examples, num_nodes: int, labelled: int, unlabelled: int, stream: torch.Generator | None) -> Batch:
    device = own.nodes.device
    order = torch.randperm(len(own.nodes), generator=stream, device=device)
    chosen = order[torch.arange(labelled, device=device) % len(order)]
    others = torch.ones(num_nodes, dtype=torch.bool, device=device)
    others[own.nodes] = False
    # Where a replica has every node labelled, it draws from all: replicas of one problem draw equally many.
    pool = others.nonzero().flatten() if bool(others.any()) else torch.arange(num_nodes, device=device)
    drawn = pool[torch.randint(len(pool), (unlabelled,), generator=stream, device=device)]
    return Batch(torch.cat([own.nodes[chosen], drawn]), own.targets[chosen], own.weights[chosen])

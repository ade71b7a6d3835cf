"""The nodes that one step of DFNetPlus looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from dfnets.nn.batched import Generators

if TYPE_CHECKING:
    from dfnets.training.objective import Examples, Objective


# Of more labelled nodes than that, a batch is drawn with replacement: to shuffle all for a few would take longer than
# the step.
MOST_SHUFFLED = 100_000


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
    if objective not in _POOLS:
        _POOLS[objective] = [_unlabelled(own, num_nodes) for own in objective.examples]
    parts = [
        _sample(own, pool, labelled, unlabelled, stream)
        for own, pool, stream in zip(objective.examples, _POOLS[objective], streams, strict=True)
    ]
    return Batch(*(torch.stack(column, dim=1) for column in zip(*parts, strict=True)))


# Found once for an objective, because the host waits for the device to find them.
_POOLS: WeakKeyDictionary[Objective, list[Tensor]] = WeakKeyDictionary()


def _unlabelled(own: Examples, num_nodes: int) -> Tensor:
    others = torch.ones(num_nodes, dtype=torch.bool, device=own.nodes.device)
    others[own.nodes] = False
    # Where a replica has every node labelled, it draws from all: replicas of one problem draw equally many.
    return others.nonzero().flatten() if bool(others.any()) else torch.arange(num_nodes, device=others.device)


def _sample(own: Examples, pool: Tensor, labelled: int, unlabelled: int, stream: torch.Generator | None) -> Batch:
    device = own.nodes.device
    if len(own.nodes) > MOST_SHUFFLED:
        chosen = torch.randint(len(own.nodes), (labelled,), generator=stream, device=device)
    else:
        order = torch.randperm(len(own.nodes), generator=stream, device=device)
        chosen = order[torch.arange(labelled, device=device) % len(order)]
    drawn = pool[torch.randint(len(pool), (unlabelled,), generator=stream, device=device)]
    return Batch(torch.cat([own.nodes[chosen], drawn]), own.targets[chosen], own.weights[chosen])

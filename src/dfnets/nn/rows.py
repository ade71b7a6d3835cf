"""What a model reads of nodes wherever they are: of its own process, or of another one that holds their rows.

On one process these are plain indexing and sums. On a shift of many (:class:`dfnets.distributed.RowBlockShift`) a node
is named by its number in the whole graph, all processes call together, and each gets the same.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dfnets.shift import Shift


def pick(shift: Shift, x: Tensor, nodes: Tensor) -> Tensor:
    """Each replica's rows of (n, R, ...) at its (B, R) nodes, with gradient: (B, R, ...)."""
    if shift.exchange is None:
        return x[nodes, torch.arange(x.shape[1], device=nodes.device)]
    from dfnets.distributed.picking import pick_rows

    return pick_rows(shift, x, nodes)


def indicators(shift: Shift, nodes: Any, device: torch.device, dtype: torch.dtype = torch.float32) -> Tensor:
    """(n, t) one column for each of t nodes, 1 in its row and 0 elsewhere."""
    numbers = torch.as_tensor(nodes, device=device)
    columns = torch.zeros(shift.num_nodes, len(numbers), device=device, dtype=dtype)
    if shift.exchange is None:
        columns[numbers, torch.arange(len(numbers), device=device)] = 1
        return columns
    from dfnets.distributed.picking import own_places

    mine, places = own_places(shift, numbers)
    columns[places, mine.nonzero().flatten()] = 1
    return columns


def total(shift: Shift, x: Tensor) -> Tensor:
    """What every process has, summed; without gradient."""
    if shift.exchange is None:
        return x
    from dfnets.distributed.group import ordered_sum

    return ordered_sum(x)


def moments(shift: Shift, x: Tensor) -> tuple[Tensor, Tensor]:
    """Means and biased variances over the nodes, the last dimension but one: (..., n, f) gives (..., f) twice."""
    if shift.exchange is None:
        return x.mean(dim=-2), x.var(dim=-2, unbiased=False)
    count = float(total(shift, torch.tensor(float(shift.num_nodes), dtype=torch.float64)))
    mean = total(shift, x.double().sum(dim=-2)) / count
    variance = total(shift, (x.double() - mean.unsqueeze(-2)).square().sum(dim=-2)) / count
    return mean.to(x.dtype), variance.to(x.dtype)

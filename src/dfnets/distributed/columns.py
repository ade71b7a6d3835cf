"""The columns of a signal shared out among processes that all hold the graph: nothing is sent while filtering."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from dfnets.filters.base import Filter
from dfnets.graph import Graph
from dfnets.shift import Shift


def apply_columns(filter: Filter, graph: Graph | Shift, x: np.ndarray, **options: Any) -> np.ndarray:
    """``filter.apply(graph, x)`` by all processes together, each filtering its share of the columns.

    Every process passes the same arguments and gets the whole result, equal to that of one process to the bit. A
    memory-mapped ``x`` is read by each process in its own columns only.

    Args:
        x: (n, k).
        options: of :meth:`dfnets.filters.Filter.apply`.
    """
    if x.ndim != 2:
        raise ValueError(f"x has shape {x.shape}: columns are shared out, so give (n, k)")
    rank, world = dist.get_rank(), dist.get_world_size()
    ends = np.linspace(0, x.shape[1], world + 1).round().astype(int)
    own = np.ascontiguousarray(x[:, ends[rank] : ends[rank + 1]])
    done = filter.apply(graph, own, **options) if own.shape[1] else own
    out = np.empty_like(x, shape=x.shape, order="C")
    for source in range(world):
        piece = done if source == rank else np.empty((len(x), ends[source + 1] - ends[source]), dtype=done.dtype)
        if piece.shape[1]:
            tensor = torch.from_numpy(np.ascontiguousarray(piece))
            dist.broadcast(tensor, source)
            out[:, ends[source] : ends[source + 1]] = tensor.numpy()
    return out

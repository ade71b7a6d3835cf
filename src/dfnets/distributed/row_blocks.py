"""The shift of a graph whose rows are shared out among processes, behind the interface of every other shift."""

from __future__ import annotations

import os

import numpy as np
import torch.distributed as dist

from dfnets.distributed.folder import PartitionFolder
from dfnets.distributed.halo import HaloExchange
from dfnets.shift import Shift


class RowBlockShift(Shift):
    """L~ of the whole graph, of which this process holds the rows of its own nodes.

    A signal is the part of it that belongs to these nodes. ``shift @ x``, the engine's chains and ``filter.apply`` work
    as on one process; at every product the values of the bordering nodes are fetched from their processes. All
    processes must therefore call the same things in the same order. The interval is that of the whole graph, so a
    tolerance holds for the whole signal: norms are not needed by the recursion and by Chebyshev expansions, which are
    the methods that can be used here.

    Args:
        folder: a partition with as many parts as there are processes; each reads its own part.
        centre: as for :class:`dfnets.Shift`.

    Attributes:
        nodes: this process's nodes by their numbers in the whole graph.
        exchange: what fetches the bordering nodes.
    """

    def __init__(self, folder: str | os.PathLike[str] | PartitionFolder, *, centre: float | None = None) -> None:
        place = folder if isinstance(folder, PartitionFolder) else PartitionFolder(folder)
        if not dist.is_initialized():
            raise RuntimeError("torch.distributed is not initialised: start with torchrun and init_process_group")
        if dist.get_world_size() != place.parts:
            raise ValueError(
                f"{place.folder} has {place.parts} parts but there are {dist.get_world_size()} processes: start as "
                "many processes as there are parts, or partition the graph again"
            )
        part = place.part(dist.get_rank())
        self._folder, self.nodes = place, part["nodes"]
        self.indptr, self.indices = part["indptr"].astype(np.int64), part["indices"].astype(np.int64)
        self.values, self.diagonal = part["values"], part["diagonal"]
        self.interval, self.certainty = place.interval, place.certainty
        self.centre = self.interval[1] / 2 if centre is None else float(centre)
        self.total_nodes = place.num_nodes
        self.exchange = HaloExchange(part["send"], part["send_to"], part["receive"])

    # Those of the whole graph: every process must come to the same plan.
    @property
    def longest_row(self) -> int:
        """The most entries off the diagonal that any row of the whole graph has."""
        return self._folder.longest_row

    @property
    def diagonal_range(self) -> tuple[float, float]:
        """The smallest and the largest entry on the diagonal of the whole L^."""
        return self._folder.diagonal_range

    def gather(self, x: np.ndarray) -> np.ndarray:
        """(n,) or (n, k): the whole signal, on every process; it must fit into each one's memory."""
        pieces: list[tuple[np.ndarray, np.ndarray] | None] = [None] * dist.get_world_size()
        dist.all_gather_object(pieces, (self.nodes, np.ascontiguousarray(x)))
        whole = np.empty((self.total_nodes, *x.shape[1:]), dtype=x.dtype)
        for piece in pieces:
            assert piece is not None
            whole[piece[0]] = piece[1]
        return whole

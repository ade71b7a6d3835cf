"""The shift of a graph whose rows are shared out among processes, behind the interface of every other shift."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.distributed as dist

from dfnets.distributed.folder import PartitionFolder
from dfnets.distributed.group import gather_tensors
from dfnets.distributed.halo import HaloExchange
from dfnets.graph import Graph
from dfnets.shift import Shift


class RowBlockShift(Shift):
    """L~ of the whole graph, of which this process holds the rows of its own nodes.

    A signal is the part of it that belongs to these nodes. ``shift @ x``, the engine's chains with their gradients,
    ``filter.apply`` and the layers work as on one process; at every product the values of the bordering nodes are
    fetched from their processes. All processes must therefore call the same things in the same order. The interval is
    that of the whole graph, so a tolerance holds for the whole signal: norms are not needed by the recursion and by
    Chebyshev expansions, which are the methods that can be used here.

    Args:
        folder: a partition with as many parts as there are processes; each reads its own part.
        centre: as for :class:`dfnets.Shift`.

    Attributes:
        nodes: this process's nodes by their numbers in the whole graph, sorted.
        exchange: what fetches the bordering nodes.
        total_nodes: of the whole graph.
    """

    exchange: HaloExchange

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
        self.folder, self.nodes, self._part = place, part["nodes"], part
        self.indptr, self.indices = part["indptr"], part["indices"]
        self.values, self.diagonal = part["values"], part["diagonal"]
        self.interval, self.certainty = place.interval, place.certainty
        self.centre = self.interval[1] / 2 if centre is None else float(centre)
        self.total_nodes = place.num_nodes
        self.exchange = HaloExchange(part)

    # Those of the whole graph: every process must come to the same plan.
    @property
    def longest_row(self) -> int:
        """The most entries off the diagonal that any row of the whole graph has."""
        return self.folder.longest_row

    @property
    def diagonal_range(self) -> tuple[float, float]:
        """The smallest and the largest entry on the diagonal of the whole L^."""
        return self.folder.diagonal_range

    def own_graph(self) -> Graph:
        """This process's nodes with their features, for a model that is given this shift: it has no edges."""
        n, part, about = len(self.nodes), self._part, self.folder.about
        features: Any = part.get("features")
        if "feature_data" in part:
            arrays = (part["feature_data"], part["feature_indices"], part["feature_indptr"])
            features = sp.csr_array(arrays, shape=(n, about["features"]))
        names = about["label_names"] or [str(number) for number in range(about["classes"])]
        return Graph(
            sp.csr_array((n, n)),
            features=features,
            name=about["name"],
            label_names=tuple(names) or None,
            feature_names=about["feature_names"] and tuple(about["feature_names"]),
        )

    def feature_entries(self) -> np.ndarray | None:
        """(nnz,) the number of each entry of the own sparse features among those of all nodes; None of dense ones."""
        if "feature_starts" not in self._part:
            return None
        indptr = self._part["feature_indptr"]
        first = np.repeat(self._part["feature_starts"] - indptr[:-1], np.diff(indptr))
        return first + np.arange(indptr[-1])

    def gather(self, x: np.ndarray) -> np.ndarray:
        """(n,) or (n, k): the whole signal, on every process; it must fit into each one's memory."""
        own = {"nodes": torch.from_numpy(self.nodes), "x": torch.from_numpy(np.ascontiguousarray(x))}
        whole = np.empty((self.total_nodes, *x.shape[1:]), dtype=x.dtype)
        for piece in gather_tensors(own):
            whole[piece["nodes"].numpy()] = piece["x"].numpy()
        return whole

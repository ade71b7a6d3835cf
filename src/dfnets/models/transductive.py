"""Models that know the nodes of one graph by their number."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dfnets import checksums
from dfnets.graph import Graph
from dfnets.models.base import Model, Sizes


class Transductive(Model):
    """A model with something of its own for each node of its graph, so that it can predict for no other graph.

    The first graph that it is prepared for is its own. A buffer (R, 32) keeps the checksum of the edges, with the
    weights, so that a model that was saved refuses another graph too.
    """

    transductive = True
    checksum: Tensor

    def __init__(self, config: Any, sizes: Sizes, **options: Any) -> None:
        super().__init__(config, sizes, **options)
        self.register_buffer("checksum", torch.zeros(self.replicas, 32, dtype=torch.uint8))

    def own_(self, graph: Graph) -> None:
        """Makes the graph the model's own, or raises if it has another."""
        if not self.is_own(graph):
            raise ValueError(
                f"{graph.name} ({graph.num_nodes} nodes, {graph.num_edges} edges) is not the graph that the model was "
                f"trained on ({self.sizes.nodes} nodes): {type(self).__name__} is transductive, it predicts for the "
                "nodes of its own graph only; train it on this graph, or take an inductive model"
            )
        self.checksum[:] = self._checksum(graph)

    def is_own(self, graph: Graph) -> bool:
        """Whether this is its graph, or may become it."""
        if graph.num_nodes != self.sizes.nodes:
            return False
        return not self.checksum.any() or torch.equal(self.checksum[0], self._checksum(graph))

    def _checksum(self, graph: Graph) -> Tensor:
        return torch.tensor(list(_checksum(graph)), dtype=torch.uint8, device=self.checksum.device)


def _checksum(graph: Graph) -> bytes:
    adjacency = graph.adjacency
    parts = (part.tobytes() for part in (adjacency.indptr, adjacency.indices, adjacency.data))
    return bytes.fromhex(checksums.of_parts(parts))

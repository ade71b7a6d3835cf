"""Random walks on a graph: a step goes to a neighbour with probability proportional to the weight of the edge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from dfnets.graph import Graph


class Walks:
    """What a random walk looks up.

    Attributes:
        indptr, indices: the adjacency in CSR form.
        upto: (entries + 1,) the sum of the weights before each entry, so that a step is a search for one number.
        degrees: (n,) weighted.
        starts: the nodes that have a neighbour.
    """

    def __init__(self, graph: Graph, device: torch.device) -> None:
        adjacency = graph.adjacency
        self.indptr, self.indices = adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64)
        self.upto = np.concatenate([[0.0], np.cumsum(adjacency.data)])
        self.degrees = graph.degrees
        counts = np.diff(self.indptr)
        # Row i, column j is the number i n + j; in CSR order these numbers ascend.
        keys = np.repeat(np.arange(len(counts)), counts) * len(counts) + self.indices
        parts = (self.indptr, self.indices, self.upto, keys, np.flatnonzero(counts))
        self._indptr, self._indices, self._upto, self._keys, self.starts = (
            torch.as_tensor(part, device=device) for part in parts
        )

    def nodes(self, count: int, stream: torch.Generator | None) -> Tensor:
        """``count`` nodes, drawn evenly."""
        return torch.randint(len(self.degrees), (count,), generator=stream, device=self.starts.device)

    def step(self, nodes: Tensor, stream: torch.Generator | None) -> Tensor:
        """A neighbour of each of (m,) nodes, none of which may be isolated."""
        first, last = self._indptr[nodes], self._indptr[nodes + 1] - 1
        low, high = self._upto[first], self._upto[last + 1]
        goal = low + torch.rand(nodes.shape, generator=stream, device=nodes.device, dtype=low.dtype) * (high - low)
        # Rounding may lead past the ends of the row.
        entry = (torch.searchsorted(self._upto, goal, right=True) - 1).clamp(first, last)
        return self._indices[entry]

    def pairs(self, count: int, window: int, stream: torch.Generator | None) -> tuple[Tensor, Tensor]:
        """``count`` nodes drawn evenly from ``starts``, and for each a node that 1 to ``window`` steps lead to.

        None where the graph has no edges.
        """
        if not len(self.starts):
            return self.starts, self.starts
        device = self.starts.device
        centres = self.starts[torch.randint(len(self.starts), (count,), generator=stream, device=device)]
        steps = torch.randint(1, window + 1, (count,), generator=stream, device=device)
        contexts = centres
        for step in range(window):
            contexts = torch.where(step < steps, self.step(contexts, stream), contexts)
        return centres, contexts

    def joined(self, one: Tensor, two: Tensor) -> Tensor:
        """(m,) whether an edge joins each pair, or they are the same node."""
        keys = one * len(self.degrees) + two
        at = torch.searchsorted(self._keys, keys)
        found = torch.cat([self._keys, self._keys.new_tensor([-1])])[at] == keys
        return found | (one == two)


def rows(maps: Tensor, nodes: Sequence[Tensor]) -> Tensor:
    """The rows of (n, R, k) for each replica's nodes, one replica after the other: (sum of their numbers, k)."""
    count = len(nodes)
    # As an embedding: it adds the gradients of a row that is taken twice in the order of the nodes, while the gradient
    # of an index adds them as threads come.
    return functional.embedding(torch.cat([own * count + r for r, own in enumerate(nodes)]), maps.flatten(0, 1))

"""What DFNetPlus reads when it is trained in mini-batches: the filtered features of some nodes, made row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from dfnets.datasets.features import Scaling, normalise
from dfnets.filters import FeedbackLoopedFilter
from dfnets.graph import Graph
from dfnets.local_push import LocalPush
from dfnets.models.feature_kind import FeatureKind, sampled_kind
from dfnets.nn.sampled_rows import sampled_rows

# Rows that are made at a time where they are not needed all at once.
BLOCK = 4096
# Bytes of filtered rows that are kept from one look at the scores to the next.
ROOM = 2**30


class Rows(Protocol):
    """Rows of h_k(L^) X at m nodes, for K responses."""

    def at(self, places: np.ndarray) -> np.ndarray:
        """(t, K, f) rows at t of the m places, with nothing dropped."""
        ...

    def dropped(self, places: np.ndarray, seeds: np.ndarray, node_rate: float, entry_rate: float) -> np.ndarray:
        """(t, S, K, f): the same with nodes and entries of X dropped, anew for each seed."""
        ...

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """(K, f) means and variances of the columns."""
        ...


class Source(Protocol):
    """Where rows come from: local push on a graph, or features that were filtered before and lie on disk."""

    @property
    def num_features(self) -> int:
        """f."""
        ...

    @property
    def kind(self) -> FeatureKind:
        """What X is like."""
        ...

    def rows(self, nodes: np.ndarray, filters: Sequence[FeedbackLoopedFilter], scaling: Scaling) -> Rows:
        """The rows at some nodes of the graph, for some responses."""
        ...


@dataclass
class RowInputs:
    """m nodes of a graph that stand for all of it.

    Attributes:
        nodes: (m,) numbers in the graph, the ``known`` ones that train, choose or test first, then unlabelled ones.
        rows: of the responses in use; set when these are known.
    """

    source: Source
    nodes: np.ndarray
    known: int
    scaling: Scaling = "none"
    rows: Rows | None = None
    _kept: list[np.ndarray] = field(default_factory=list, repr=False)

    @property
    def num_nodes(self) -> int:
        """m."""
        return len(self.nodes)

    def known_rows(self) -> Iterator[np.ndarray]:
        """The rows of the known nodes, block after block; kept for the next time as far as there is room."""
        assert self.rows is not None
        yield from self._kept
        done = sum(map(len, self._kept))
        for start in range(done, self.known, BLOCK):
            block = self.rows.at(np.arange(start, min(start + BLOCK, self.known)))
            # Without gaps, so that the kept blocks are always the first ones.
            if start == sum(map(len, self._kept)) and start * block[0].nbytes < ROOM:
                self._kept.append(block)
            yield block


class PushedFeatures:
    """A graph as a source of rows: h_k(L^) X by local push, see :mod:`dfnets.local_push`.

    Args:
        graph: with features; may be memory-mapped.
        threshold, keep: of the push.
    """

    def __init__(self, graph: Graph, *, threshold: float = 1e-4, keep: int = 64) -> None:
        if graph.features is None:
            raise ValueError(f"{graph.name} has no features, and DFNetPlus needs them: give the Graph features")
        self.features: Any = graph.features
        self.num_features: int = graph.features.shape[1]
        self.kind = sampled_kind(graph.features)
        self.push = LocalPush(graph, threshold=threshold, keep=keep)

    def rows(self, nodes: np.ndarray, filters: Sequence[FeedbackLoopedFilter], scaling: Scaling) -> PushedRows:
        """Pushes from every node, once for each response, and copies the features of the nodes that were reached."""
        return PushedRows(self, nodes, filters, scaling)


class PushedRows:
    """K sparse (m, u) matrices of filter rows, and the (u, f) features of the u nodes that they name.

    Attributes:
        error: (K, m) proved bounds on the error of each row.
        shares_dropped: (K, m) what keeping the largest entries lost of each row, as a share of its sum.
    """

    def __init__(
        self, source: PushedFeatures, nodes: np.ndarray, filters: Sequence[FeedbackLoopedFilter], scaling: Scaling
    ) -> None:
        found = [source.push.rows(one, nodes) for one in filters]
        self.error = np.stack([one.error for one in found])
        self.shares_dropped = np.stack([one.dropped for one in found])
        # The nodes that any row names, renumbered: training never comes back to the graph.
        named, places = np.unique(np.concatenate([one.matrix.indices for one in found]), return_inverse=True)
        ends = np.cumsum([one.matrix.nnz for one in found])
        self.matrices = [
            sp.csr_array(
                (one.matrix.data.astype(np.float32), part.astype(np.int32), one.matrix.indptr),
                shape=(len(nodes), len(named)),
            )
            for one, part in zip(found, np.split(places, ends[:-1]), strict=True)
        ]
        self.features: Any = normalise(source.features[named], scaling).astype(np.float32)

    def at(self, places: np.ndarray) -> np.ndarray:
        return np.stack([sampled_rows(one, self.features, places)[:, 0] for one in self.matrices], axis=1)

    def dropped(self, places: np.ndarray, seeds: np.ndarray, node_rate: float, entry_rate: float) -> np.ndarray:
        options: dict[str, Any] = {"seeds": seeds, "node_rate": node_rate, "entry_rate": entry_rate}
        return np.stack([sampled_rows(one, self.features, places, **options) for one in self.matrices], axis=2)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        count = self.matrices[0].shape[0]
        sums: Any = 0.0
        squares: Any = 0.0
        for start in range(0, count, BLOCK):
            some = self.at(np.arange(start, min(start + BLOCK, count))).astype(np.float64)
            sums, squares = sums + some.sum(axis=0), squares + (some**2).sum(axis=0)
        mean = sums / count
        return mean, np.maximum(squares / count - mean**2, 0)

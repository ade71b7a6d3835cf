"""The graph: undirected, weighted, sparse, checked once when it is made."""

from __future__ import annotations

import copy
import os
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from dfnets import convert, storage, validation
from dfnets.edges import ConflictingWeights, Duplicates, checked_ids, merge_edges, object_array
from dfnets.validation import Directed

if TYPE_CHECKING:
    import matplotlib.figure
    import networkx
    import torch_geometric.data

    from dfnets.datasets.encoder import FeatureEncoder
    from dfnets.datasets.splits import Split

__all__ = ["ConflictingWeights", "Directed", "Duplicates", "Graph"]


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected weighted graph with n nodes, its features and its labels.

    Input is checked here and trusted everywhere else. Nothing is copied when it already has the right form.

    Args:
        adjacency: symmetric (n, n) weights, a SciPy sparse matrix or array, or a NumPy array. Weights are finite
            and not negative; a zero is no edge. A weight on the diagonal is a self-loop and is kept: the shift adds
            its own I to it.
        features: (n, f), dense or SciPy sparse, finite. A vector of n values is one feature.
        labels: (n,) integers, -1 = unknown.
        name: how the graph is called in tables and messages.
        node_ids: n distinct names, kept through to predictions; None means 0 .. n-1.
        label_names: the name of each class, so that ``labels < len(label_names)``.
        directed: what to do when the adjacency is not symmetric: ``"refuse"``, or take ``"max"`` or ``"mean"`` of
            the two directions.
        splits: the draws of each protocol that the dataset comes with, by protocol name.
        feature_names: the name of each column of ``features``, so that a model finds its columns in another file.
        coordinates: (n, d), where the nodes are, for pictures; no filter and no model uses them.
        encoder: how the columns of a file became ``features``, so that a model can do the same to another file.

    >>> graph = Graph(np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    >>> graph
    Graph('graph', nodes=3, edges=2)
    >>> graph.degrees
    array([1., 3., 2.])
    """

    adjacency: sp.csr_array
    features: np.ndarray | sp.csr_array | None = None
    labels: np.ndarray | None = None
    name: str = "graph"
    node_ids: np.ndarray | None = None
    label_names: tuple[str, ...] | None = None
    directed: Directed = "refuse"
    splits: Mapping[str, tuple[Split, ...]] = field(default_factory=dict)
    feature_names: tuple[str, ...] | None = None
    coordinates: np.ndarray | None = None
    encoder: FeatureEncoder | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "adjacency", validation.checked_adjacency(self.adjacency, self.directed))
        self._check_attributes({entry.name for entry in fields(self)})

    def _check_attributes(self, changed: Collection[str]) -> None:
        assign = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        n = self.num_nodes
        if self.features is not None and "features" in changed:
            assign("features", validation.checked_features(self.features, n))
        if self.label_names is not None:
            assign("label_names", tuple(str(name) for name in self.label_names))
        if self.labels is not None:
            assign("labels", validation.checked_labels(self.labels, n, self.label_names))
        if self.node_ids is not None and "node_ids" in changed:
            assign("node_ids", checked_ids(self.node_ids, n))
        if self.feature_names is not None:
            assign("feature_names", validation.checked_names(self.feature_names, self.features))
        if self.coordinates is not None:
            assign("coordinates", validation.checked_coordinates(self.coordinates, n))
        for protocol, draws in self.splits.items():
            if not isinstance(draws, tuple):
                raise ValueError(
                    f"splits[{protocol!r}] is a {type(draws).__name__}; it must be a tuple, a Split a draw"
                )

    def __repr__(self) -> str:
        parts = [f"nodes={self.num_nodes}", f"edges={self.num_edges}"]
        if self.features is not None:
            parts.append(f"features={self.features.shape[1]}")
        if self.labels is not None:
            parts.append(f"classes={self.num_classes}")
            parts.append(f"labelled={np.count_nonzero(self.labels >= 0)}")
        return f"Graph({self.name!r}, {', '.join(parts)})"

    def _repr_html_(self) -> str:
        """A small table, for notebooks."""
        rows = {"nodes": f"{self.num_nodes:,}", "edges": f"{self.num_edges:,}"}
        if self.features is not None:
            kind = "sparse" if sp.issparse(self.features) else "dense"
            rows["features"] = f"{self.features.shape[1]:,} ({kind})"
        if self.labels is not None:
            rows["labels"] = f"{np.count_nonzero(self.labels >= 0):,} of {self.num_classes} classes"
        for protocol, draws in self.splits.items():
            rows[f"split {protocol}"] = f"{len(draws)} draw{'s' if len(draws) > 1 else ''}"
        cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows.items())
        return f"<table><caption>{escape(self.name)}</caption>{cells}</table>"

    def plot(
        self, signal: Any = None, path: str | os.PathLike[str] | None = None, *, titles: Any = None
    ) -> matplotlib.figure.Figure:
        """The graph with a signal on it, (n,) or (n, k), saved to ``path`` when given.

        The nodes lie at their coordinates; a graph without any is laid out by its slowest oscillations.
        """
        from dfnets import plots

        return plots.signal_figure(self, signal, path, titles=titles)

    @property
    def num_nodes(self) -> int:
        """n."""
        return self.adjacency.shape[0]

    @property
    def num_edges(self) -> int:
        """Undirected edges; a self-loop counts as one."""
        loops = int(np.count_nonzero(self.adjacency.diagonal()))
        return (self.adjacency.nnz - loops) // 2 + loops

    @property
    def num_classes(self) -> int:
        """Named classes, or one more than the largest label."""
        if self.label_names is not None:
            return len(self.label_names)
        return 0 if self.labels is None else int(self.labels.max(initial=-1)) + 1

    @property
    def degrees(self) -> np.ndarray:
        """(n,) sums of weights, without the self-loop that the shift adds."""
        return np.asarray(self.adjacency.sum(axis=1)).ravel()

    def with_(self, **changes: Any) -> Self:
        """The same graph with other features, labels, ids, names or splits; the adjacency is not checked again.

        Names and an encoder belong to the features that they came with: other features are without, unless given.
        """
        allowed = {entry.name for entry in fields(self)} - {"adjacency", "directed"}
        for name in changes.keys() - allowed:
            raise TypeError(f"with_() cannot change {name!r}; it takes {', '.join(sorted(allowed))}")
        if "features" in changes:
            changes = {"feature_names": None, "encoder": None, **changes}
        other = copy.copy(self)
        for name, value in changes.items():
            object.__setattr__(other, name, value)
        other._check_attributes(changes)
        return other

    @classmethod
    def from_edges(
        cls,
        sources: Sequence[Hashable] | np.ndarray,
        targets: Sequence[Hashable] | np.ndarray,
        weights: Sequence[float] | np.ndarray | None = None,
        *,
        num_nodes: int | None = None,
        node_ids: Sequence[Hashable] | np.ndarray | None = None,
        duplicates: Duplicates = "refuse",
        **attributes: Any,
    ) -> Self:
        """The graph of an undirected edge list.

        An edge may be listed once or in both directions: the same pair with the same weight is one edge. A pair with
        several weights is refused, or merged as ``duplicates`` says.

        Args:
            sources, targets: the ends, as node numbers (integers) or as ids of any kind (strings, say).
            weights: one weight an edge, 1 when left out.
            num_nodes: for numbered ends, how many nodes there are (isolated ones have no edge to show them).
            node_ids: every id, in the order that the nodes shall have; None: the order in which they appear.
            duplicates: how several weights of one pair become one: ``"sum"``, ``"max"``, ``"mean"`` or ``"refuse"``.

        >>> Graph.from_edges(["a", "b", "b"], ["b", "a", "c"]).node_ids
        array(['a', 'b', 'c'], dtype=object)
        """
        adjacency, ids = merge_edges(
            sources, targets, weights, num_nodes=num_nodes, node_ids=node_ids, duplicates=duplicates
        )
        return cls(adjacency, node_ids=ids, **attributes)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph, *, weight: str = "weight", **attributes: Any) -> Self:
        """The graph of a NetworkX graph; a directed one needs ``directed="max"`` or ``"mean"``.

        Parallel edges of a multigraph are added up.
        """
        import networkx

        nodes = list(graph)
        if not nodes:
            raise ValueError("graph is empty: a Graph needs at least one node")
        adjacency = networkx.to_scipy_sparse_array(graph, nodelist=nodes, weight=weight, dtype=np.float64)
        return cls(adjacency, node_ids=object_array(nodes), **attributes)

    @classmethod
    def from_pyg(cls, data: torch_geometric.data.Data, **attributes: Any) -> Self:
        """The graph of a PyTorch Geometric ``Data``.

        ``edge_index`` and ``edge_weight`` (or ``edge_attr`` with one value per edge), or ``adj_t``, become the
        adjacency: an undirected graph has both directions of an edge there, and repeated entries are added up. ``x``
        may be sparse, ``pos`` becomes the coordinates. Masks become ``splits["masks"]``; those with several columns,
        several draws.
        """
        adjacency, found = convert.from_pyg(data)
        return cls(adjacency, **{**found, **attributes})

    def to_pyg(self, protocol: str | None = None) -> torch_geometric.data.Data:
        """A PyTorch Geometric ``Data`` with both directions of every edge, in single precision.

        Sparse features stay sparse (``torch.sparse_csr``). Edge weights are left out where all of them are 1.

        Args:
            protocol: the splits that become ``train_mask``, ``val_mask`` and ``test_mask``, a column for each draw
                if there are several; None takes the only ones there are, or none.
        """
        return convert.to_pyg(self, protocol)

    def to_networkx(self) -> networkx.Graph:
        """A NetworkX graph: nodes under their ids, with ``label`` and ``pos`` where known; edges with ``weight``."""
        return convert.to_networkx(self)

    def save(self, folder: str | PathLike[str], *, force: bool = False) -> None:
        """Writes a folder of plain arrays, which :meth:`open` opens at once, however large it is.

        Args:
            force: replace a graph that is there already.
        """
        storage.save(self, folder, force=force)

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> Self:
        """The graph that :meth:`save` wrote, its adjacency and features memory-mapped: read when they are needed.

        A graph may be larger than memory: a product reads its rows in order, and a shift of it keeps its values in a
        temporary file beside it.
        """
        parts = storage.load(folder)
        features = parts.pop("features", None)
        graph = cls(sp.csr_array((1, 1)))
        # The adjacency was checked before it was saved; to do it again would take several copies of it.
        object.__setattr__(graph, "adjacency", parts.pop("adjacency"))
        object.__setattr__(graph, "features", features)
        names = {"feature_names": parts.pop("feature_names"), "encoder": parts.pop("encoder", None)}
        for name, value in names.items():
            object.__setattr__(graph, name, value)
        return graph.with_(**parts)

    def to_scipy(self) -> sp.csr_array:
        """A copy of the adjacency, (n, n)."""
        return self.adjacency.copy()

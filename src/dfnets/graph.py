"""The graph: undirected, weighted, sparse, checked once when it is made."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp

from dfnets.edges import ConflictingWeights, Duplicates, checked_ids, merge_edges, object_array

if TYPE_CHECKING:
    import networkx
    import torch
    import torch_geometric.data

    from dfnets.datasets.splits import Split

__all__ = ["ConflictingWeights", "Directed", "Duplicates", "Graph"]

Directed = Literal["refuse", "max", "mean"]

# Weights that were computed twice in another order differ in the last bits; that is not a directed graph.
SYMMETRY_TOLERANCE = 1e-9


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
        coordinates: (n, 2) places of the nodes in the plane, for pictures.

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
    coordinates: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "adjacency", _checked_adjacency(self.adjacency, self.directed))
        self._check_attributes()

    def _check_attributes(self) -> None:
        assign = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        n = self.num_nodes
        if self.features is not None:
            assign("features", _checked_features(self.features, n))
        if self.label_names is not None:
            assign("label_names", tuple(str(name) for name in self.label_names))
        if self.labels is not None:
            assign("labels", _checked_labels(self.labels, n, self.label_names))
        if self.node_ids is not None:
            assign("node_ids", checked_ids(self.node_ids, n))
        if self.coordinates is not None:
            assign("coordinates", _checked_coordinates(self.coordinates, n))
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
        return f"Graph({self.name!r}, {', '.join(parts)})"

    @property
    def num_nodes(self) -> int:
        return self.adjacency.shape[0]

    @property
    def num_edges(self) -> int:
        """Undirected edges; a self-loop counts as one."""
        loops = int(np.count_nonzero(self.adjacency.diagonal()))
        return (self.adjacency.nnz - loops) // 2 + loops

    @property
    def num_classes(self) -> int:
        if self.label_names is not None:
            return len(self.label_names)
        return 0 if self.labels is None else int(self.labels.max(initial=-1)) + 1

    @property
    def degrees(self) -> np.ndarray:
        """(n,) sums of weights, without the self-loop that the shift adds."""
        return np.asarray(self.adjacency.sum(axis=1)).ravel()

    def with_(self, **changes: Any) -> Self:
        """The same graph with other features, labels, ids, name or splits; the adjacency is not checked again."""
        allowed = {entry.name for entry in fields(self)} - {"adjacency", "directed"}
        for name in changes.keys() - allowed:
            raise TypeError(f"with_() cannot change {name!r}; it takes {', '.join(sorted(allowed))}")
        other = copy.copy(self)
        for name, value in changes.items():
            object.__setattr__(other, name, value)
        other._check_attributes()
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
        """The graph of a PyTorch Geometric ``Data``: ``edge_index``, ``edge_weight``, ``x`` and ``y``.

        An undirected graph has both directions of an edge in ``edge_index``; repeated entries are added up.
        """
        if data.edge_index is None:
            raise ValueError("data has no edge_index")
        n = int(data.num_nodes or 0)
        weight = data.get("edge_weight")
        if weight is None and data.get("edge_attr") is not None and data.edge_attr.numel() == data.edge_index.shape[1]:
            weight = data.edge_attr
        rows, columns = data.edge_index.cpu().numpy()
        values = np.ones(len(rows)) if weight is None else weight.cpu().numpy().astype(np.float64).ravel()
        adjacency = sp.coo_array((values, (rows, columns)), shape=(n, n))
        if data.get("x") is not None:
            attributes.setdefault("features", _from_torch(data.x))
        if data.get("y") is not None:
            attributes.setdefault("labels", data.y.cpu().numpy().ravel())
        return cls(adjacency, **attributes)


def _checked_adjacency(adjacency: Any, directed: Directed) -> sp.csr_array:
    if directed not in ("refuse", "max", "mean"):
        raise ValueError(f"directed={directed!r} is not one of 'refuse', 'max', 'mean'")
    if not sp.issparse(adjacency):
        adjacency = np.asarray(adjacency)
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(f"adjacency has shape {adjacency.shape}; it must be square, one row and one column a node")
    if adjacency.shape[0] == 0:
        raise ValueError("adjacency is empty: a Graph needs at least one node")
    if adjacency.dtype.kind not in "fiub":
        raise ValueError(f"adjacency has entries of type {adjacency.dtype}; weights are real numbers")
    _check_pattern(adjacency, "adjacency")
    matrix = sp.csr_array(adjacency, dtype=np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy() if _shares_memory(matrix, adjacency) else matrix
        matrix.sum_duplicates()
    _check_weights(matrix)
    if np.any(matrix.data == 0):
        matrix = matrix.copy() if _shares_memory(matrix, adjacency) else matrix
        matrix.eliminate_zeros()
    matrix = _symmetric(matrix, directed)
    if matrix.nnz < np.iinfo(np.int32).max and matrix.indices.dtype != np.int32:
        matrix = sp.csr_array(
            (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)), shape=matrix.shape
        )
    return matrix


def _check_pattern(matrix: Any, name: str) -> None:
    # Compiled products read whatever an index out of range points to, so a damaged pattern must not get in.
    if sp.issparse(matrix) and hasattr(matrix, "check_format"):
        try:
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"{name} is not a valid sparse matrix: {error}") from None


def _shares_memory(matrix: sp.csr_array, source: Any) -> bool:
    return sp.issparse(source) and source.format == "csr" and np.shares_memory(matrix.data, source.data)


def _check_weights(matrix: sp.csr_array) -> None:
    # A NaN fails the comparison too, so one pass finds all three kinds.
    wrong = np.flatnonzero(~((matrix.data >= 0) & (matrix.data < np.inf)))
    if len(wrong):
        at = wrong[0]
        row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        raise ValueError(
            f"adjacency[{row}, {matrix.indices[at]}] = {matrix.data[at]} ({len(wrong)} such entries); "
            "weights must be finite and not negative: remove those edges or repair their weights"
        )
    with np.errstate(over="ignore"):
        total = matrix.data.sum()
    if not np.isfinite(total):
        raise ValueError("the weights of adjacency sum to infinity: divide them by their largest value")


def _symmetric(matrix: sp.csr_array, directed: Directed) -> sp.csr_array:
    transposed = matrix.T.tocsr()
    transposed.sort_indices()
    same_pattern = np.array_equal(matrix.indptr, transposed.indptr) and np.array_equal(
        matrix.indices, transposed.indices
    )
    if same_pattern and np.array_equal(matrix.data, transposed.data):
        return matrix
    difference = (matrix - transposed).tocoo()
    gap = np.abs(difference.data)
    if gap.max(initial=0.0) <= SYMMETRY_TOLERANCE * matrix.data.max():
        return sp.csr_array((matrix + transposed) / 2)
    if directed == "refuse":
        at = int(gap.argmax())
        i, j = int(difference.row[at]), int(difference.col[at])
        raise ValueError(
            f"adjacency is not symmetric: adjacency[{i}, {j}] = {matrix[i, j]:g} but "
            f"adjacency[{j}, {i}] = {matrix[j, i]:g} ({len(gap) // 2} such pairs); "
            "pass directed='max' or directed='mean' to make the graph undirected"
        )
    return sp.csr_array(matrix.maximum(transposed) if directed == "max" else (matrix + transposed) / 2)


def _checked_features(features: Any, n: int) -> np.ndarray | sp.csr_array:
    matrix: Any
    if sp.issparse(features):
        _check_pattern(features, "features")
        matrix = sp.csr_array(features)
    else:
        matrix = np.asarray(features)
        if matrix.ndim == 1:
            matrix = matrix[:, None]
    if matrix.ndim != 2 or matrix.shape[0] != n:
        raise ValueError(
            f"features has shape {matrix.shape}, but the graph has {n} nodes; it must be ({n}, number of features)"
        )
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"features has entries of type {matrix.dtype}; features are real numbers")
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    values = matrix.data if sp.issparse(matrix) else matrix
    if not np.isfinite(values).all():
        coordinates = matrix.tocoo() if sp.issparse(matrix) else None
        if coordinates is None:
            row, column = (int(k) for k in np.argwhere(~np.isfinite(matrix))[0])
        else:
            at = int(np.flatnonzero(~np.isfinite(coordinates.data))[0])
            row, column = int(coordinates.row[at]), int(coordinates.col[at])
        raise ValueError(
            f"features[{row}, {column}] = {matrix[row, column]}; features must be finite: fill or drop such values"
        )
    return matrix


def _checked_labels(labels: Any, n: int, names: tuple[str, ...] | None) -> np.ndarray:
    array = np.asarray(labels)
    if array.shape != (n,):
        raise ValueError(f"labels has shape {array.shape}, but the graph has {n} nodes; it must be ({n},)")
    if array.dtype.kind == "f" and np.all(array == np.rint(array)):
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise ValueError(
            f"labels has entries of type {array.dtype}; labels are whole numbers from 0, and -1 where unknown"
        )
    array = array.astype(np.int64, copy=False)
    top = np.iinfo(np.int32).max if names is None else len(names)
    wrong = np.flatnonzero((array < -1) | (array >= top))
    if len(wrong):
        bound = "" if names is None else f" to {top - 1} (there are {top} label_names)"
        raise ValueError(
            f"labels[{wrong[0]}] = {array[wrong[0]]} is out of range: labels run from 0{bound}, and -1 where unknown"
        )
    return array


def _checked_coordinates(coordinates: Any, n: int) -> np.ndarray:
    array = np.asarray(coordinates, dtype=np.float64)
    if array.shape != (n, 2) or not np.isfinite(array).all():
        raise ValueError(f"coordinates has shape {array.shape}: it must be ({n}, 2), with finite entries")
    return array


def _from_torch(tensor: torch.Tensor) -> np.ndarray | sp.csr_array:
    import torch

    if tensor.layout == torch.strided:
        return tensor.cpu().numpy()
    csr = tensor.cpu().to_sparse_csr()
    arrays = (csr.values().numpy(), csr.col_indices().numpy(), csr.crow_indices().numpy())
    return sp.csr_array(arrays, shape=tuple(csr.shape))

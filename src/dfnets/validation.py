"""What the parts of a graph must be: each check gives the part as it is kept, or an error that says what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

Directed = Literal["refuse", "max", "mean"]

# Weights that were computed twice in another order differ in the last bits; that is not a directed graph.
SYMMETRY_TOLERANCE = 1e-9


def checked_adjacency(adjacency: Any, directed: Directed) -> sp.csr_array:
    """A symmetric CSR matrix of finite weights >= 0, sorted, without stored zeros; nothing is copied that is so."""
    if directed not in ("refuse", "max", "mean"):
        raise ValueError(f"directed={directed!r} is not one of 'refuse', 'max', 'mean'")
    if not sp.issparse(adjacency):
        adjacency = np.asarray(adjacency)
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(f"adjacency has shape {adjacency.shape}; it must be square, one row and one column per node")
    if adjacency.shape[0] == 0:
        raise ValueError("adjacency is empty: a Graph needs at least one node")
    if adjacency.dtype.kind not in "fiub":
        raise ValueError(f"adjacency has entries of type {adjacency.dtype}; weights are real numbers")
    check_pattern(adjacency, "adjacency")
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


def check_pattern(matrix: Any, name: str) -> None:
    """Refuses a damaged sparse matrix."""
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
            "pass directed='max' or directed='mean' (--directed max) to make the graph undirected"
        )
    return sp.csr_array(matrix.maximum(transposed) if directed == "max" else (matrix + transposed) / 2)


def checked_features(features: Any, n: int) -> np.ndarray | sp.csr_array:
    """(n, f) finite numbers in single or double precision, dense or CSR."""
    matrix: Any
    if sp.issparse(features):
        check_pattern(features, "features")
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


def checked_labels(labels: Any, n: int, names: tuple[str, ...] | None) -> np.ndarray:
    """(n,) int64 from -1 (unknown) to the number of classes less 1."""
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


def checked_names(names: Sequence[str], features: Any) -> tuple[str, ...]:
    """The names of the feature columns: text, one for each column, all distinct."""
    if features is None:
        raise ValueError(f"feature_names has {len(names)} names, but the graph has no features")
    named = tuple(str(name) for name in names)
    if len(named) != features.shape[1]:
        raise ValueError(f"feature_names has {len(named)} names, but features has {features.shape[1]} columns")
    if len(set(named)) < len(named):
        seen: set[str] = set()
        repeated = next(name for name in named if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"feature_names has {repeated!r} more than once; the columns of features need distinct names")
    return named


def checked_coordinates(coordinates: Any, n: int) -> np.ndarray:
    """Where the nodes are: (n, d) finite numbers."""
    array = np.asarray(coordinates)
    if array.ndim != 2 or array.shape[0] != n or not array.shape[1]:
        raise ValueError(f"coordinates has shape {array.shape}; it must be ({n}, d): one row per node, d = 2 or 3")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"coordinates has entries of type {array.dtype}; coordinates are real numbers")
    array = array.astype(np.float64, copy=False)
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        row, column = (int(k) for k in wrong[0])
        raise ValueError(f"coordinates[{row}, {column}] = {array[row, column]}; coordinates must be finite")
    return array

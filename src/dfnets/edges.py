"""An undirected edge list as a symmetric matrix: nodes numbered, pairs that stand more than once merged."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

Duplicates = Literal["refuse", "sum", "max", "mean"]


class ConflictingWeights(ValueError):
    """A pair of nodes is listed with different weights.

    Attributes:
        nodes: the pair.
        edges: the positions of two entries that disagree.
        weights: what they say.
        pairs: how many pairs are like this one.
    """

    def __init__(
        self, nodes: tuple[Any, Any], edges: tuple[int, int], weights: tuple[float, float], pairs: int
    ) -> None:
        super().__init__(
            f"the edge between {nodes[0]!r} and {nodes[1]!r} is listed with weights {weights[0]:g} and {weights[1]:g} "
            f"({pairs} such pairs); pass duplicates='sum', 'max' or 'mean' (--duplicates sum) to merge them"
        )
        self.nodes, self.edges, self.weights, self.pairs = nodes, edges, weights, pairs


def merge_edges(
    sources: Sequence[Hashable] | np.ndarray,
    targets: Sequence[Hashable] | np.ndarray,
    weights: Sequence[float] | np.ndarray | None,
    *,
    num_nodes: int | None,
    node_ids: Sequence[Hashable] | np.ndarray | None,
    duplicates: Duplicates,
) -> tuple[sp.csr_array, np.ndarray | None]:
    """The adjacency of an edge list, and the ids of its nodes where ends are not numbers.

    The arguments are those of :meth:`dfnets.graph.Graph.from_edges`.
    """
    ends = [_ends(sources), _ends(targets)]
    if ends[0].ndim != 1 or ends[0].shape != ends[1].shape:
        raise ValueError(
            f"sources and targets must be two vectors of one length, not {ends[0].shape} and {ends[1].shape}"
        )
    values = np.ones(len(ends[0])) if weights is None else np.asarray(weights, dtype=np.float64)
    if values.shape != ends[0].shape:
        raise ValueError(f"weights has shape {values.shape}, but there are {len(ends[0])} edges")
    wrong = np.flatnonzero(~((values >= 0) & (values < np.inf)))
    if len(wrong):
        raise ValueError(
            f"weights[{wrong[0]}] = {values[wrong[0]]} ({len(wrong)} such edges); weights must be finite and not "
            "negative: remove those edges or repair their weights"
        )
    if node_ids is None and all(np.issubdtype(end.dtype, np.integer) for end in ends):
        return _merge(ends, values, _count_nodes(ends, num_nodes), None, duplicates), None
    ends, ids = _number_nodes(ends, node_ids)
    if num_nodes is not None and num_nodes != len(ids):
        raise ValueError(f"num_nodes is {num_nodes}, but the ids name {len(ids)} nodes; list them all in node_ids")
    return _merge(ends, values, len(ids), ids, duplicates), ids


def checked_ids(ids: Any, n: int) -> np.ndarray:
    """The ids of n nodes as an array, or an error: one for each, all distinct."""
    array = ids if isinstance(ids, np.ndarray) else object_array(ids)
    if array.shape != (n,):
        raise ValueError(f"node_ids has shape {array.shape}, but the graph has {n} nodes; it must be ({n},)")
    import pandas

    repeated = pandas.Index(array).duplicated()
    if repeated.any():
        raise ValueError(f"node_ids names {array[repeated][0]!r} more than once; ids must be distinct")
    return array


def object_array(values: Iterable[Hashable]) -> np.ndarray:
    """A vector of objects of any kind, each as it is."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def _ends(values: Sequence[Hashable] | np.ndarray) -> np.ndarray:
    if isinstance(values, np.ndarray):
        return values
    listed = list(values)
    # NumPy would turn a list of mixed ids into strings, and one of tuples into a matrix.
    return np.array(listed, dtype=np.int64) if all(type(value) is int for value in listed) else object_array(listed)


def _count_nodes(ends: list[np.ndarray], num_nodes: int | None) -> int:
    low = min((int(end.min()) for end in ends if len(end)), default=0)
    high = max((int(end.max()) for end in ends if len(end)), default=-1)
    n = high + 1 if num_nodes is None else num_nodes
    if low < 0 or high >= n:
        raise ValueError(f"node number {low if low < 0 else high} is out of range: nodes are numbered 0 to {n - 1}")
    if n == 0:
        raise ValueError("the edge list is empty: give num_nodes, or node_ids, of at least one node")
    return n


def _number_nodes(ends: list[np.ndarray], node_ids: Any) -> tuple[list[np.ndarray], np.ndarray]:
    import pandas

    if node_ids is None:
        # Source before target, edge by edge: the order in which a person reads the list.
        codes, ids = pandas.factorize(np.stack(ends, axis=1).astype(object).ravel())
        missing = np.flatnonzero(codes < 0)
        if len(missing):
            raise ValueError(f"edge {missing[0] // 2} has no id at one end; every edge joins two named nodes")
        return [codes[0::2], codes[1::2]], np.asarray(ids)
    ids = checked_ids(node_ids, len(node_ids))
    index = pandas.Index(ids)
    numbers = [index.get_indexer(pandas.Index(end)) for end in ends]
    for end, number in zip(ends, numbers, strict=True):
        unknown = np.flatnonzero(number < 0)
        if len(unknown):
            raise ValueError(
                f"edge {unknown[0]} names {end[unknown[0]]!r}, which is not in node_ids ({len(unknown)} such edges)"
            )
    return numbers, ids


def _merge(
    ends: list[np.ndarray], values: np.ndarray, n: int, ids: np.ndarray | None, duplicates: Duplicates
) -> sp.csr_array:
    """The symmetric matrix of undirected edges, pairs that stand more than once merged.

    Sorted by low * n + high, the pairs are the upper triangle in CSR order; the lower one is its transpose.
    """
    if duplicates not in ("refuse", "sum", "max", "mean"):
        raise ValueError(f"duplicates={duplicates!r} is not one of 'refuse', 'sum', 'max', 'mean'")
    keys = np.minimum(*ends).astype(np.int64) * n + np.maximum(*ends)
    order = np.argsort(keys)
    keys, values = keys[order], values[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    if len(first) < len(keys):
        if duplicates == "refuse":
            _refuse_conflicts(keys, values, first, order, n, ids)
        values = _merged_values(values, first, duplicates)
        keys = keys[first]
    low, high = np.divmod(keys, n)
    index = np.int32 if max(2 * len(keys), n) < np.iinfo(np.int32).max else np.int64
    indptr = np.concatenate([[0], np.cumsum(np.bincount(low, minlength=n))]).astype(index)
    upper = sp.csr_array((values, high.astype(index), indptr), shape=(n, n))
    del keys, order, low, high  # as large as the matrix itself, and no longer needed
    strict = sp.triu(upper, k=1, format="csr") if upper.diagonal().any() else upper
    return sp.csr_array(upper + strict.T.tocsr())


def _merged_values(values: np.ndarray, first: np.ndarray, duplicates: Duplicates) -> np.ndarray:
    if duplicates == "sum":
        return np.add.reduceat(values, first)
    if duplicates == "mean":
        return np.add.reduceat(values, first) / np.diff(np.append(first, len(values)))
    return np.maximum.reduceat(values, first)


def _refuse_conflicts(
    keys: np.ndarray, values: np.ndarray, first: np.ndarray, order: np.ndarray, n: int, ids: np.ndarray | None
) -> None:
    conflicts = np.flatnonzero((np.diff(keys) == 0) & (np.diff(values) != 0))
    if not len(conflicts):
        return
    # The two entries in the order in which they are listed.
    one, two = sorted(conflicts[0] + np.arange(2), key=lambda at: order[at])
    low, high = divmod(int(keys[one]), n)
    raise ConflictingWeights(
        nodes=(low, high) if ids is None else (ids[low], ids[high]),
        edges=(int(order[one]), int(order[two])),
        weights=(float(values[one]), float(values[two])),
        pairs=len(np.unique(np.searchsorted(first, conflicts, side="right"))),
    )

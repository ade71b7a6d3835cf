"""The files of Yang, Cohen and Salakhutdinov, *Revisiting Semi-Supervised Learning with Graph Embeddings* (2016)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from dfnets.datasets import pickles

Read = Callable[[str], bytes]
"""The content of a file by its bare name."""


def assemble(read: Read, name: str) -> dict[str, np.ndarray]:
    """The arrays of a dataset from ``ind.NAME.{x,tx,ty,allx,ally,graph,test.index}``.

    ``allx`` holds the nodes from 0 on, the training nodes ``x`` first, and ``ally`` their labels; row i of ``tx`` is
    node ``test.index[i]``. The test nodes need not be consecutive: Citeseer leaves 15 out, which have neither features
    nor a label, and NELL 55864, its relations. ``graph`` lists neighbours, some twice, some the node itself, some in
    one direction only.
    """
    x, tx, allx = (_matrix(read, f"ind.{name}.{part}") for part in ("x", "tx", "allx"))
    ty, ally = (_one_hot(read, f"ind.{name}.{part}") for part in ("ty", "ally"))
    order = np.array(read(f"ind.{name}.test.index").split(), dtype=np.int64)
    neighbours = _neighbours(read, f"ind.{name}.graph")
    n = len(neighbours)
    if len(order) != tx.shape[0] or len({x.shape[1], tx.shape[1], allx.shape[1]}) > 1:
        raise ValueError(f"ind.{name}.*: {len(order)} test nodes and {tx.shape[0]} rows of tx, or different widths")
    outside = len(order) and (order.min() < 0 or order.max() >= n)
    if len(ally) != allx.shape[0] or len(ty) != tx.shape[0] or outside:
        raise ValueError(f"ind.{name}.*: labels or test nodes do not fit the {n} nodes of the graph")

    rows = np.concatenate([np.arange(allx.shape[0]), order])
    stacked = sp.vstack([allx, tx]).tocoo()
    features = sp.csr_array((stacked.data, (rows[stacked.row], stacked.col)), shape=(n, x.shape[1]))
    labels = np.full(n, -1, dtype=np.int64)
    labels[rows] = np.concatenate([ally, ty])
    is_entity = np.zeros(n, dtype=np.uint8)
    is_entity[rows] = 1

    train = np.arange(x.shape[0])
    return {
        **adjacency_arrays(
            np.repeat(np.fromiter(neighbours, np.int64, n), [len(ends) for ends in neighbours.values()]),
            np.concatenate([np.asarray(ends, dtype=np.int64) for ends in neighbours.values()]),
            n,
        ),
        **feature_arrays(features),
        "labels": labels,
        "is_entity": is_entity,
        "train": train,
        "val": len(train) + np.arange(500),
        "test": np.sort(order),
    }


def citation_network(read: Read, name: str) -> dict[str, np.ndarray]:
    """The arrays of Cora, Citeseer or Pubmed; a paper without features has none, not a column of its own."""
    arrays = assemble(read, name)
    del arrays["is_entity"]
    return arrays


def nell(read: Read) -> dict[str, np.ndarray]:
    """The arrays of NELL at label rate 0.001; the files label train and test, and no validation node."""
    arrays = assemble(read, "nell.0.001")
    return {**arrays, "val_known": arrays["val"][arrays["labels"][arrays["val"]] >= 0]}


def adjacency_arrays(sources: np.ndarray, targets: np.ndarray, n: int) -> dict[str, np.ndarray]:
    """The pattern of an undirected graph: both directions of every pair, once, without self-loops."""
    apart = sources != targets
    ends = sources[apart], targets[apart]
    rows, columns = np.concatenate(ends), np.concatenate(ends[::-1])
    pattern = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    return {
        "adj_indptr": pattern.indptr.astype(np.int32),
        "adj_indices": pattern.indices.astype(np.int32),
        "num_nodes": np.int64(n),
    }


def feature_arrays(features: sp.csr_array) -> dict[str, np.ndarray]:
    """CSR features in the order and the types of the layout."""
    features.sum_duplicates()
    features.eliminate_zeros()
    return {
        "feat_data": features.data.astype(np.float32),
        "feat_indices": features.indices.astype(np.int32),
        "feat_indptr": features.indptr.astype(np.int32),
        "feat_shape": np.array(features.shape, dtype=np.int64),
    }


def _matrix(read: Read, file: str) -> sp.csr_array:
    matrix = pickles.loads(read(file), file)
    if not isinstance(matrix, sp.csr_array):
        raise ValueError(f"{file} holds no sparse matrix")
    return matrix


def _neighbours(read: Read, file: str) -> dict[int, list[int]]:
    """The neighbour lists of the nodes 0 to n - 1."""
    content = read(file)
    lists = pickles.loads(content, file)
    if not isinstance(lists, dict) or lists.keys() != set(range(len(lists))):
        raise ValueError(f"{file} holds no lists of neighbours of the nodes 0, 1, ...")
    total = 0
    for ends in lists.values():
        # A number takes two bytes at least: more of them than bytes are one list that was named many times.
        total += len(ends) if isinstance(ends, list) else len(content) + 1
        if total > len(content) or not all(type(end) is int and 0 <= end < len(lists) for end in ends):
            raise ValueError(f"{file} lists neighbours that are not nodes")
    return lists


def _one_hot(read: Read, file: str) -> np.ndarray:
    rows = pickles.loads(read(file), file)
    if not isinstance(rows, np.ndarray) or rows.ndim != 2:
        raise ValueError(f"{file} holds no table of labels, one row per node")
    return np.where(rows.any(axis=1), rows.argmax(axis=1), -1)

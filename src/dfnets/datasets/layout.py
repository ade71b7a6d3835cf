"""The layout in which a dataset is kept: plain arrays in one .npz file.

- ``num_nodes``: n.
- ``adj_indptr, adj_indices``: CSR pattern of the symmetric adjacency, every edge in both directions.
- ``adj_data``: its weights, 1 when left out.

What follows may all be left out:

- ``feat_data, feat_indices, feat_indptr, feat_shape``: CSR features as published, not normalised.
- ``is_entity``: (n,), 0 where a node has no features of its own; it gets a column for itself.
- ``labels``: (n,), -1 = unknown.
- ``train, val, test``: node numbers of the Planetoid split.
- ``val_known``: those of ``val`` whose label is known.
- ``train_masks, val_masks, test_masks``: (draws, n) booleans.
- ``node_names``: (n,) strings.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dfnets import checksums
from dfnets.datasets.arrays import read as arrays_in
from dfnets.datasets.csr import csr_array
from dfnets.datasets.splits import Split
from dfnets.graph import Graph

Arrays = Mapping[str, np.ndarray]

_DIGESTED = {
    "adj_indptr": "<i4",
    "adj_indices": "<i4",
    "feat_indptr": "<i4",
    "feat_indices": "<i4",
    "feat_data": "<f4",
    "labels": "<i8",
    "train": "<i8",
    "val": "<i8",
    "test": "<i8",
}


ARRAYS = (
    *("num_nodes", "adj_indptr", "adj_indices", "adj_data"),
    *("feat_data", "feat_indices", "feat_indptr", "feat_shape", "is_entity"),
    *("labels", "train", "val", "test", "val_known", "train_masks", "val_masks", "test_masks", "node_names"),
)
"""All that is read of a file; it may hold more."""


def read(file: Path | bytes, name: str | None = None) -> dict[str, np.ndarray]:
    """The arrays of the layout in an .npz file, or in its bytes; see :func:`dfnets.datasets.arrays.read`."""
    return arrays_in(file, ARRAYS, name=name)


def digest(arrays: Arrays) -> str:
    """SHA-256 of the arrays that make a dataset, the same whichever source and file they came from."""
    plain = {key: np.ascontiguousarray(arrays[key], dtype=dtype) for key, dtype in _DIGESTED.items()}
    parts = ((f"{key} {array.shape}\n".encode(), array.tobytes()) for key, array in plain.items())
    return checksums.of_parts(itertools.chain.from_iterable(parts))


def to_graph(arrays: Arrays, name: str, **attributes: Any) -> Graph:
    """The graph in the arrays; ``attributes`` go to :class:`Graph`."""
    missing = [key for key in ("num_nodes", "adj_indptr", "adj_indices") if key not in arrays]
    if missing:
        raise ValueError(
            f"{name} has no array {missing[0]!r}; a graph is kept as num_nodes, adj_indptr and adj_indices "
            f"(found: {', '.join(list(arrays)[:8]) or 'none'}{', ...' if len(arrays) > 8 else ''})"
        )
    try:
        n = _number_of_nodes(arrays)
        weights = arrays["adj_data"] if "adj_data" in arrays else np.ones(arrays["adj_indices"].shape)
        return Graph(
            csr_array(weights, arrays["adj_indices"], arrays["adj_indptr"], (n, n), "adjacency"),
            features=_features(arrays, n),
            labels=arrays.get("labels"),
            name=name,
            node_ids=_names(arrays, n),
            splits=_splits(arrays, n),
            **attributes,
        )
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _number_of_nodes(arrays: Arrays) -> int:
    number = np.asarray(arrays["num_nodes"])
    if number.size != 1 or number.dtype.kind not in "iu" or number.item() < 0:
        raise ValueError(f"num_nodes has shape {number.shape} and type {number.dtype}; it is one whole number")
    return int(number.item())


def _names(arrays: Arrays, n: int) -> np.ndarray | None:
    if "node_names" not in arrays:
        return None
    names = arrays["node_names"]
    if names.shape != (n,) or names.dtype.kind not in "US":
        raise ValueError(f"node_names has shape {names.shape} and type {names.dtype}; it is one text per node")
    return names.astype(str).astype(object)


def _needed(arrays: Arrays, beside: str, *names: str) -> list[np.ndarray]:
    missing = [name for name in names if name not in arrays]
    if missing:
        raise ValueError(f"there is no array {missing[0]!r}, which belongs to {beside!r}")
    return [arrays[name] for name in names]


def _features(arrays: Arrays, n: int) -> sp.csr_array | None:
    if "feat_data" not in arrays:
        return None
    parts = _needed(arrays, "feat_data", "feat_data", "feat_indices", "feat_indptr", "feat_shape")
    features = csr_array(parts[0], parts[1], parts[2], parts[3], "features")
    if "is_entity" not in arrays:
        return features
    if features.shape[0] != n or arrays["is_entity"].shape != (n,):
        shapes = features.shape, arrays["is_entity"].shape
        raise ValueError(f"features and is_entity have the shapes {shapes[0]} and {shapes[1]}, but there are {n} nodes")
    others = np.flatnonzero(arrays["is_entity"] == 0)
    ones = np.ones(len(others), dtype=features.dtype)
    identity = sp.csr_array((ones, (others, np.arange(len(others)))), shape=(n, len(others)))
    return sp.csr_array(sp.hstack([features, identity], format="csr"))


def _splits(arrays: Arrays, n: int) -> dict[str, tuple[Split, ...]]:
    splits: dict[str, tuple[Split, ...]] = {}
    if "train" in arrays:
        validation = "val_known" if "val_known" in arrays else "val"
        train, chosen, test, labels = parts = _needed(arrays, "train", "train", validation, "test", "labels")
        for part, nodes in zip(("train", validation, "test", "labels"), parts, strict=True):
            if np.ndim(nodes) != 1:
                raise ValueError(f"{part} has shape {np.shape(nodes)}; it is one row of numbers")
        splits["planetoid"] = (Split(train, chosen, test, "planetoid", labels=labels),)
    if "train_masks" in arrays:
        kinds = _needed(arrays, "train_masks", "train_masks", "val_masks", "test_masks")
        if any(mask.ndim != 2 or mask.shape[1] != n for mask in kinds):
            raise ValueError(f"train_masks, val_masks and test_masks are (draws, {n}), not {[m.shape for m in kinds]}")
        masks = zip(*kinds, strict=True)
        # Not checked for a training node in every class: Texas has a class of one node, and draws that leave it out.
        splits["masks"] = tuple(
            Split(np.flatnonzero(train), np.flatnonzero(validation), np.flatnonzero(test), "masks", draw, num_nodes=n)
            for draw, (train, validation, test) in enumerate(masks)
        )
    return splits

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

import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

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


def read(file: Path | bytes, name: str | None = None) -> dict[str, np.ndarray]:
    """The arrays of an .npz file, or of its bytes; one that holds anything but plain arrays is refused."""
    name = name or str(file)
    try:
        archive = np.load(io.BytesIO(file) if isinstance(file, bytes) else file, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise ValueError("it holds one array, not an archive of named ones")
        with archive:
            return {key: archive[key] for key in archive.files}
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{name} is not an .npz file of plain arrays: {error}") from None


def digest(arrays: Arrays) -> str:
    """SHA-256 of the arrays that make a dataset, the same whichever source and file they came from."""
    state = hashlib.sha256()
    for key, dtype in _DIGESTED.items():
        array = np.ascontiguousarray(arrays[key], dtype=dtype)
        state.update(f"{key} {array.shape}\n".encode())
        state.update(array.tobytes())
    return state.hexdigest()


def to_graph(arrays: Arrays, name: str, **attributes: Any) -> Graph:
    """The graph in the arrays; ``attributes`` go to :class:`Graph`."""
    missing = [key for key in ("num_nodes", "adj_indptr", "adj_indices") if key not in arrays]
    if missing:
        raise ValueError(
            f"{name} has no array {missing[0]!r}; a graph is kept as num_nodes, adj_indptr and adj_indices "
            f"(found: {', '.join(list(arrays)[:8]) or 'none'}{', ...' if len(arrays) > 8 else ''})"
        )
    n = int(arrays["num_nodes"])
    weights = arrays["adj_data"] if "adj_data" in arrays else np.ones(len(arrays["adj_indices"]))
    try:
        return Graph(
            sp.csr_array((weights, arrays["adj_indices"], arrays["adj_indptr"]), shape=(n, n)),
            features=_features(arrays),
            labels=arrays.get("labels"),
            name=name,
            node_ids=arrays["node_names"].astype(object) if "node_names" in arrays else None,
            splits=_splits(arrays, n),
            **attributes,
        )
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _features(arrays: Arrays) -> sp.csr_array | None:
    if "feat_data" not in arrays:
        return None
    shape = tuple(int(size) for size in arrays["feat_shape"])
    features = sp.csr_array((arrays["feat_data"], arrays["feat_indices"], arrays["feat_indptr"]), shape=shape)
    if "is_entity" not in arrays:
        return features
    others = np.flatnonzero(arrays["is_entity"] == 0)
    ones = np.ones(len(others), dtype=features.dtype)
    identity = sp.csr_array((ones, (others, np.arange(len(others)))), shape=(shape[0], len(others)))
    return sp.csr_array(sp.hstack([features, identity], format="csr"))


def _splits(arrays: Arrays, n: int) -> dict[str, tuple[Split, ...]]:
    splits: dict[str, tuple[Split, ...]] = {}
    if "train" in arrays:
        validation = arrays["val_known"] if "val_known" in arrays else arrays["val"]
        splits["planetoid"] = (
            Split(arrays["train"], validation, arrays["test"], "planetoid", labels=arrays["labels"]),
        )
    if "train_masks" in arrays:
        masks = zip(arrays["train_masks"], arrays["val_masks"], arrays["test_masks"], strict=True)
        # Not checked for a training node in every class: Texas has a class of one node, and draws that leave it out.
        splits["masks"] = tuple(
            Split(np.flatnonzero(train), np.flatnonzero(validation), np.flatnonzero(test), "masks", draw, num_nodes=n)
            for draw, (train, validation, test) in enumerate(masks)
        )
    return splits

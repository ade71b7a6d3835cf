"""A graph as a folder of plain arrays, opened without reading it into memory.

- ``graph.json``: the format, the name, and the names of classes and features;
- ``indptr.npy, indices.npy, weights.npy``: the adjacency in CSR form;
- ``features.npy``, or ``features-indptr.npy, features-indices.npy, features-values.npy`` where they are sparse;
- ``labels.npy``, ``coordinates.npy``, ``ids.npy`` (integers) or ``ids.arrow`` (text), ``splits.npz``.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from dfnets import atomic, validation
from dfnets.inputs import read_json, regular_file

if TYPE_CHECKING:
    from dfnets.datasets.splits import Split
    from dfnets.graph import Graph

FORMAT = "dfnets graph, version 1"
HEADER = "graph.json"
ADJACENCY = ("indptr.npy", "indices.npy", "weights.npy")
SPARSE = ("features-indptr.npy", "features-indices.npy", "features-values.npy")
FILES = (
    HEADER,
    *ADJACENCY,
    "features.npy",
    *SPARSE,
    "labels.npy",
    "coordinates.npy",
    "ids.npy",
    "ids.arrow",
    "splits.npz",
)
_PARTS = ("train", "validation", "test")


def save(graph: Graph, folder: str | os.PathLike[str], *, force: bool = False) -> None:
    """See :meth:`dfnets.Graph.save`."""
    atomic.check_folder(folder, FILES, force=force)
    with atomic.replacing_folder(folder, FILES) as place:
        _write_csr(graph.adjacency, [place / name for name in ADJACENCY])
        if sp.issparse(graph.features):
            _write_csr(graph.features, [place / name for name in SPARSE])
        elif graph.features is not None:
            np.save(place / "features.npy", graph.features)
        for name in ("labels", "coordinates"):
            if getattr(graph, name) is not None:
                np.save(place / f"{name}.npy", getattr(graph, name))
        _write_ids(graph.node_ids, place)
        if graph.splits:
            flat = {
                f"{protocol}/{draw}/{part}": getattr(split, part)
                for protocol, draws in graph.splits.items()
                for draw, split in enumerate(draws)
                for part in _PARTS
            }
            np.savez(place / "splits.npz", **flat)
        header = {
            "format": FORMAT,
            "name": graph.name,
            "nodes": graph.num_nodes,
            "features": None if graph.features is None else graph.features.shape[1],
            "label_names": graph.label_names,
            "feature_names": graph.feature_names,
            "encoder": None if graph.encoder is None else graph.encoder.to_json(),
        }
        (place / HEADER).write_text(json.dumps(header, indent=1), encoding="utf-8")


def load(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The parts of a graph, arrays mapped and not read, as :class:`dfnets.Graph` has them.

    The pattern of the adjacency is checked, because a product with a damaged one reads memory that is not its own;
    that reads the indices once. Weights and features are taken as they were saved, by a graph that had checked them.
    """
    place = Path(folder)
    if not place.is_dir():
        raise FileNotFoundError(f"{place} is not a folder that Graph.save wrote: there is no such folder")
    if not (place / HEADER).exists():
        raise FileNotFoundError(f"{place} is a folder without {HEADER}: give a file, or a folder that Graph.save wrote")
    header = read_json(place / HEADER, "the description of a graph folder")
    n = header.get("nodes")
    if header.get("format") != FORMAT or not isinstance(n, int) or n < 1:
        raise ValueError(f"{place} is not a graph folder: {HEADER} lacks the mark {FORMAT!r}, or the number of nodes")
    parts: dict[str, Any] = {
        "adjacency": _read_csr([place / name for name in ADJACENCY], (n, n), "adjacency"),
        "name": str(header.get("name")),
        "splits": _read_splits(place / "splits.npz", n),
    }
    if (columns := header.get("features")) is not None:
        if (place / "features.npy").exists():
            parts["features"] = _mapped(place / "features.npy", (n, columns))
        else:
            parts["features"] = _read_csr([place / name for name in SPARSE], (n, columns), "features")
    for name in ("labels", "coordinates"):
        if (place / f"{name}.npy").exists():
            parts[name] = np.array(_mapped(place / f"{name}.npy"))
    parts["node_ids"] = _read_ids(place)
    for name in ("label_names", "feature_names"):
        parts[name] = None if header.get(name) is None else tuple(map(str, header[name]))
    if header.get("encoder") is not None:
        from dfnets.datasets.encoder import FeatureEncoder

        parts["encoder"] = FeatureEncoder.from_json(header["encoder"])
    return parts


def like(array: np.ndarray) -> np.ndarray:
    """An empty array of the same shape and type; beside ``array`` on disk, and gone with the program, if it is there.

    A memory-mapped array may be larger than memory, and so would be what is computed from it.
    """
    mapped: Any = array
    while mapped is not None and not isinstance(mapped, np.memmap):
        mapped = getattr(mapped, "base", None)
    if mapped is None or not array.size:
        return np.empty(array.shape, array.dtype)
    import tempfile

    beside = Path(mapped.filename).parent if mapped.filename is not None else None
    writable = beside is not None and os.access(beside, os.W_OK)
    with tempfile.TemporaryFile(dir=beside if writable else None) as file:
        return np.memmap(file, dtype=array.dtype, mode="w+", shape=array.shape)


def _write_csr(matrix: sp.csr_array, paths: list[Path]) -> None:
    for path, array in zip(paths, (matrix.indptr, matrix.indices, matrix.data), strict=True):
        np.save(path, array)


def _read_csr(paths: list[Path], shape: tuple[int, int], name: str) -> sp.csr_array:
    indptr, indices, values = (_mapped(path) for path in paths)
    try:
        matrix = sp.csr_array((values, indices, indptr), shape=shape, copy=False)
        validation.check_pattern(matrix, name)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{paths[0].parent}: {error}; save the graph again") from None
    # What Graph.save wrote is sorted and without duplicates; finding that out again would read everything.
    matrix.has_canonical_format = True
    return matrix


def _mapped(path: Path, shape: tuple[int, ...] | None = None) -> np.ndarray:
    try:
        array = np.load(regular_file(path), mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{path} is missing or damaged: {error}; save the graph again") from None
    if shape is not None and array.shape != shape:
        raise ValueError(f"{path} has shape {array.shape}, not {shape}; save the graph again")
    return array


def _write_ids(ids: np.ndarray | None, place: Path) -> None:
    if ids is None:
        return
    if ids.dtype.kind in "iu":
        np.save(place / "ids.npy", ids)
        return
    if not all(isinstance(one, str) for one in ids):
        other = next(one for one in ids if not isinstance(one, str))
        raise ValueError(f"node_ids has {other!r}; ids in a folder are all text or all integers")
    import pyarrow as pa
    from pyarrow import feather

    feather.write_feather(pa.table({"id": pa.array(ids, pa.large_string())}), place / "ids.arrow", "uncompressed")


def _read_ids(place: Path) -> np.ndarray | None:
    if (place / "ids.npy").exists():
        return np.array(_mapped(place / "ids.npy"))
    if not (place / "ids.arrow").exists():
        return None
    import pyarrow as pa
    from pyarrow import feather

    try:
        return feather.read_table(place / "ids.arrow")["id"].to_numpy()
    except (pa.ArrowInvalid, KeyError) as error:
        raise ValueError(f"{place / 'ids.arrow'} is damaged: {error}; save the graph again") from None


def _read_splits(path: Path, n: int) -> dict[str, tuple[Split, ...]]:
    if not path.exists():
        return {}
    from dfnets.datasets import arrays
    from dfnets.datasets.splits import Split

    drawn: dict[str, dict[int, dict[str, np.ndarray]]] = defaultdict(lambda: defaultdict(dict))
    for key, nodes in arrays.read(path).items():
        protocol, draw, part = key.rsplit("/", 2)
        drawn[protocol][int(draw)][part] = nodes

    def split(protocol: str, draw: int, parts: dict[str, np.ndarray]) -> Split:
        return Split(parts["train"], parts["validation"], parts["test"], protocol, draw, num_nodes=n)

    return {
        protocol: tuple(split(protocol, k, parts) for k, parts in sorted(draws.items()))
        for protocol, draws in drawn.items()
    }

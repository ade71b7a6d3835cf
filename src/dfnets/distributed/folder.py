"""A partitioned graph on disk: one file per part, so that a process reads its own and no other."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dfnets.atomic import replacing
from dfnets.datasets.splits import Split
from dfnets.distributed.halo import halo_of
from dfnets.graph import Graph
from dfnets.models.feature_kind import feature_kind
from dfnets.shift import Shift

FORMAT = "dfnets partition, version 2"
LABELS, SPLITS = "labels.npy", "splits.npz"


def write_partition(graph: Graph, parts: np.ndarray, folder: str | os.PathLike[str]) -> PartitionFolder:
    """Writes a graph, divided as ``parts`` says, into a new folder: its shift, features and labels.

    Labels and splits are written once for all processes: which nodes are trained on is drawn among all of them.

    Args:
        graph: to be written.
        parts: (n,) the part of each node, see :func:`dfnets.distributed.partition`.
        folder: must not exist, or be empty.
    """
    place = Path(folder)
    parts = np.asarray(parts)
    if parts.shape != (graph.num_nodes,) or parts.dtype.kind not in "iu" or parts.min(initial=0) < 0:
        raise ValueError(
            f"parts has shape {parts.shape} and type {parts.dtype}; give ({graph.num_nodes},) part numbers"
        )
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise ValueError(f"{place} is there already: name a new folder")
    place.mkdir(parents=True, exist_ok=True)
    shift, count = Shift(graph), int(parts.max(initial=-1)) + 1
    for number in range(count):
        arrays = halo_of(shift, parts, number, count)
        _write(place / f"part-{number:05d}.npz", **arrays, **_features(graph, arrays["nodes"]))
    if graph.labels is not None:
        with replacing(place / LABELS) as temporary, open(temporary, "wb") as file:
            np.save(file, graph.labels)
    _write(
        place / SPLITS,
        **{
            f"{name}/{number}/{which}": getattr(split, which)
            for name, splits in graph.splits.items()
            for number, split in enumerate(splits)
            for which in ("train", "validation", "test")
        },
    )
    # Last: a folder without it is one whose writing was cut short.
    with replacing(place / "partition.json") as temporary:
        Path(temporary).write_text(json.dumps(_about(graph, shift, count), indent=1))
    return PartitionFolder(place)


def _about(graph: Graph, shift: Shift, count: int) -> dict[str, Any]:
    """What partition.json holds: all that a process must know of the whole graph."""
    features: Any = graph.features
    return {
        "format": FORMAT,
        "name": graph.name,
        "parts": count,
        "nodes": graph.num_nodes,
        "entries": len(shift.indices),
        "interval": list(shift.interval),
        "certainty": shift.certainty,
        "longest_row": shift.longest_row,
        "diagonal_range": list(shift.diagonal_range),
        "has_ids": graph.node_ids is not None,
        "features": 0 if graph.features is None else graph.features.shape[1],
        "feature_entries": features.nnz if sp.issparse(features) else 0,
        "feature_kind": 0 if graph.features is None else int(feature_kind(graph.features)),
        "feature_names": graph.feature_names and list(graph.feature_names),
        "classes": 0 if graph.labels is None else graph.num_classes,
        "label_names": graph.label_names and list(graph.label_names),
        "splits": {name: len(splits) for name, splits in graph.splits.items()},
    }


def _write(path: Path, **arrays: Any) -> None:
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, **arrays)


def _features(graph: Graph, nodes: np.ndarray) -> dict[str, Any]:
    """The rows of some nodes; of sparse ones also where each row begins among the entries of all nodes."""
    features: Any = graph.features
    if features is None:
        return {}
    if not sp.issparse(features):
        return {"features": features[nodes]}
    rows = sp.csr_array(features[nodes])
    starts = features.indptr[nodes].astype(np.int64)
    return {"feature_data": rows.data, "feature_indices": rows.indices, "feature_indptr": rows.indptr,
            "feature_starts": starts}  # fmt: skip


class PartitionFolder:
    """What :func:`write_partition` wrote.

    Attributes:
        parts: how many parts there are.
        num_nodes: of the whole graph.
        interval: that holds the frequencies of the whole graph.
        certainty: what is known of that interval, as in :class:`dfnets.Shift`.
        longest_row, diagonal_range: of the shift of the whole graph, from which rounding is bounded.
        about: everything that partition.json says.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        path = self.folder / "partition.json"
        if not path.is_file():
            raise ValueError(f"{self.folder} holds no partition.json: make it with `dfnets partition`")
        try:
            about = json.loads(path.read_text())
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is damaged ({error}): partition the graph again") from None
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise ValueError(f"{path} is not a {FORMAT}: partition the graph again")
        try:
            self.parts, self.num_nodes = int(about["parts"]), int(about["nodes"])
            low, high = (float(end) for end in about["interval"])
            self.certainty, self.longest_row = str(about["certainty"]), int(about["longest_row"])
            least, most = (float(end) for end in about["diagonal_range"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged ({error!r}): partition the graph again") from None
        self.about: dict[str, Any] = about
        self.interval, self.diagonal_range = (low, high), (least, most)

    def part(self, number: int) -> dict[str, Any]:
        """The arrays of one part."""
        if not 0 <= number < self.parts:
            raise ValueError(f"part {number} of {self.folder}: it has parts 0 to {self.parts - 1}")
        with np.load(self.folder / f"part-{number:05d}.npz", allow_pickle=False) as arrays:
            return dict(arrays)

    def nodes(self, number: int) -> np.ndarray:
        """The nodes of one part by their numbers in the whole graph, in the order in which it keeps them."""
        with np.load(self.folder / f"part-{number:05d}.npz", allow_pickle=False) as arrays:
            return arrays["nodes"]

    def without_edges(self) -> Graph:
        """All nodes with their labels and splits, for choosing which are trained on: no edges, no features."""
        n = self.num_nodes
        labels = np.load(self.folder / LABELS, mmap_mode="r") if (self.folder / LABELS).is_file() else None
        with np.load(self.folder / SPLITS, allow_pickle=False) as arrays:
            splits = {
                name: tuple(_split(arrays, name, draw) for draw in range(count))
                for name, count in self.about["splits"].items()
            }
        names = self.about["label_names"]
        return Graph(
            sp.csr_array((n, n)), labels=labels, name=self.about["name"], splits=splits,
            label_names=None if names is None else tuple(names),
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"PartitionFolder({str(self.folder)!r}, parts={self.parts}, nodes={self.num_nodes})"


def _split(arrays: Any, name: str, draw: int) -> Split:
    train, validation, test = (arrays[f"{name}/{draw}/{which}"] for which in ("train", "validation", "test"))
    return Split(train, validation, test, name, draw)

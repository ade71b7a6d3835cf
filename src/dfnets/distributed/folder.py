"""A partitioned graph on disk: one file per part, so that a process reads its own and no other."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from dfnets.atomic import replacing
from dfnets.distributed.halo import halo_of
from dfnets.graph import Graph
from dfnets.shift import Shift

FORMAT = "dfnets partition, version 1"


def write_partition(graph: Graph, parts: np.ndarray, folder: str | os.PathLike[str]) -> PartitionFolder:
    """Writes the shift of the graph, divided as ``parts`` says, into a new folder.

    Args:
        graph: whose shift is written; its features and labels are not.
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
        with replacing(place / f"part-{number:05d}.npz") as temporary, open(temporary, "wb") as file:
            np.savez(file, **halo_of(shift, parts, number, count))  # type: ignore[arg-type]
    about = {
        "format": FORMAT,
        "parts": count,
        "nodes": graph.num_nodes,
        "entries": len(shift.indices),
        "interval": list(shift.interval),
        "certainty": shift.certainty,
        "longest_row": shift.longest_row,
        "diagonal_range": list(shift.diagonal_range),
    }
    # Last: a folder without it is one whose writing was cut short.
    with replacing(place / "partition.json") as temporary:
        Path(temporary).write_text(json.dumps(about, indent=1))
    return PartitionFolder(place)


class PartitionFolder:
    """What :func:`write_partition` wrote.

    Attributes:
        parts: how many parts there are.
        num_nodes: of the whole graph.
        interval: that holds the frequencies of the whole graph.
        certainty: what is known of that interval, as in :class:`dfnets.Shift`.
        longest_row, diagonal_range: of the shift of the whole graph, from which rounding is bounded.
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

    def __repr__(self) -> str:
        return f"PartitionFolder({str(self.folder)!r}, parts={self.parts}, nodes={self.num_nodes})"

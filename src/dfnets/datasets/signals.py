"""Signals on a graph in files: values of nodes, known by id, read and written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dfnets.atomic import replacing
from dfnets.datasets import library
from dfnets.datasets.dialect import TableOptions
from dfnets.datasets.files import Reading, read
from dfnets.datasets.identity import ids_of
from dfnets.datasets.nodes import FeatureColumns, read_features
from dfnets.datasets.tables import kind_of, refuse_missing_files
from dfnets.graph import Graph

WRITTEN = (".npy", ".npz", ".csv", ".parquet")


@dataclass(frozen=True)
class Signal:
    """Values of the nodes of a graph.

    Attributes:
        values: (n,) or (n, k), row i for node i of the graph.
        names: of the columns, where the file has them.
        understood: what was read, for a person.
    """

    graph: Graph
    values: np.ndarray
    names: tuple[str, ...] | None
    understood: str

    def write(self, path: Path, values: np.ndarray) -> None:
        """Other values of the same nodes, such as filtered ones, with the ids beside them.

        A .npy holds no ids, so it is for nodes 0 to n-1; an .npz has ``values``, ``ids`` and ``names``.
        """
        with replacing(path) as temporary, temporary.open("wb") as file:
            if path.suffix == ".npy":
                np.save(file, values)
                return
            ids = np.arange(len(values)) if self.graph.node_ids is None else self.graph.node_ids
            names = self.names or tuple(f"value{k + 1}" for k in range(values.reshape(len(values), -1).shape[1]))
            if path.suffix == ".npz":
                plain = ids if ids.dtype.kind in "iu" else np.array([str(one) for one in ids])
                np.savez(file, values=values, ids=plain, names=np.array(names))
                return
            import pandas

            frame = pandas.DataFrame(values.reshape(len(values), -1), columns=list(names))
            frame.insert(0, "id", ids)
            if path.suffix == ".parquet":
                frame.to_parquet(file, index=False)
            else:
                frame.to_csv(file, index=False)

    def check_output(self, path: Path) -> None:
        """Refuses a file in which the values would be without their ids."""
        if path.suffix == ".npy" and self.graph.node_ids is not None:
            raise ValueError(
                f"{path}: a .npy has no room for ids, and the nodes have some ({self.graph.node_ids[0]!r}, ...): "
                "write .csv, .parquet or .npz"
            )


def read_signal(graph: str, path: Path, **options: Any) -> Signal:
    """The values in a file, for the nodes of a graph.

    Every node needs a value, and every row a node: nothing is left out and nothing is filled in.

    Args:
        graph: a file of edges, or a dataset by name.
        path: .npy, (n,) or (n, k), for nodes 0 to n-1; or a table with an id in each row; or any other features.
        options: as in :func:`dfnets.datasets.files.read`.
    """
    edges = Path(graph)
    is_file = edges.exists() or bool(edges.suffix)
    refuse_missing_files(edges if is_file and not edges.is_dir() else None, path)
    if is_file:
        done = read(edges, path, unmatched="refuse", encode=False, **options)
    else:
        done = _on_dataset(library.load(graph), path, options)
    values: Any = done.graph.features
    if values is None:
        raise ValueError(f"{path}: it has no column of values beside the ids")
    values = values.toarray() if sp.issparse(values) else values
    if kind_of(path) == ".npy" and np.load(path, mmap_mode="r").ndim == 1:
        values = values[:, 0]
    return Signal(done.graph, values, done.graph.feature_names, str(done))


def _on_dataset(graph: Graph, path: Path, options: dict[str, Any]) -> Reading:
    missing = options.get("missing")
    table = TableOptions(
        options.get("header"), options.get("separator"), options.get("decimal"), tuple(missing) if missing else None
    )
    columns = FeatureColumns(options.get("id"), None, tuple(options.get("ignore") or ()), (), encode=False)
    rows = read_features(path, table, columns, encoder=None, known=ids_of(graph))
    try:
        made = graph.with_(**rows.placed(ids_of(graph), Path(graph.name)))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return Reading(made, f"{made.num_nodes:,} nodes of {graph.name}, {rows.count:,} rows of {path.name}")

"""A person's own graph, from the files that they have."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dfnets.datasets import arrays, layout
from dfnets.datasets.edgelists import read_edge_list
from dfnets.datasets.factors import find
from dfnets.datasets.tables import Table, column_of, open_table, refuse_empty, refuse_repeated
from dfnets.graph import Duplicates, Graph
from dfnets.inputs import regular_file

if TYPE_CHECKING:
    import pyarrow as pa

UNKNOWN = ("", "-1", "NA", "N/A", "NaN", "nan", "None", "null", "NULL")


def read_graph(
    edges: str | PathLike[str],
    features: str | PathLike[str] | None = None,
    labels: str | PathLike[str] | None = None,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    id: str | None = None,
    label: str | None = None,
    header: bool = True,
    unknown: Sequence[str] = UNKNOWN,
    duplicates: Duplicates = "refuse",
    **attributes: Any,
) -> Graph:
    """The graph of an edge file, with features and labels of its nodes.

    Ids are kept as text in ``graph.node_ids`` and names of classes in ``graph.label_names``. With a table of features,
    its rows are the nodes, in its order; without, the nodes are those of the edges, in the order in which they appear.
    Features without ids (NPY, NPZ) are for nodes that are numbered: node k of the edges is row k.

    Args:
        edges: .csv, .tsv or .parquet (one edge a row, listed once or in both directions), .graphml, or .npz (an
            adjacency written by ``scipy.sparse.save_npz``, or a whole graph in the layout of
            :mod:`dfnets.datasets.layout`).
        features: .csv, .tsv or .parquet with an id in each row, .npy, or .npz (written by ``scipy.sparse.save_npz``, or
            with one dense array).
        labels: .csv, .tsv or .parquet with an id and a label in each row. A node that it leaves out, or whose label is
            in ``unknown``, has label -1. Classes are numbered in the order of their names; numbers by value.
        source, target: the columns of the ends; the first two if left out.
        weight: the column of weights; "weight" if left out and there is one (the third column without a header).
        id: the column of ids in features and labels; the first if left out.
        label: the column of labels; the second if left out. A column of that name in ``features`` is no feature, so
            that one file can be both.
        header: whether the first line of a .csv or .tsv names its columns.
        duplicates: as in :meth:`Graph.from_edges`.
        attributes: ``name`` and ``directed``, for :class:`Graph`.

    Raises:
        ValueError: names the file, the line and the column of what is wrong.
    """
    for path in (edges, features, labels):
        if path is not None:
            regular_file(path)
    edges = Path(edges)
    rows = None if features is None else _read_features(Path(features), id, label, header)
    attributes = {"name": edges.stem, **attributes}
    if edges.suffix == ".npz":
        graph = _read_adjacency(edges, attributes)
    else:
        listed = read_edge_list(edges, source=source, target=target, weight=weight, header=header)
        nodes, known = (None, "") if rows is None else (rows.nodes(), f"a row of {rows.path}{rows.numbered()}")
        graph, nodes = listed.graph(nodes, known=known, duplicates=duplicates, **attributes)
        if rows is None or rows.ids is not None:
            graph = _with(graph, edges, node_ids=nodes.to_numpy(zero_copy_only=False))
    if rows is not None:
        graph = _with(graph, rows.path, features=rows.placed(graph, edges))
    if labels is None:
        return graph
    return _labelled(graph, open_table(Path(labels), header=header), id, label, set(unknown), edges)


class _Rows(NamedTuple):
    """Features, and the id of each row; no ids where rows are numbered."""

    path: Path
    values: Any
    ids: pa.StringArray | None

    def nodes(self) -> pa.StringArray:
        return _numbers(self.values.shape[0]) if self.ids is None else self.ids

    def numbered(self) -> str:
        return f", which are numbered 0 to {self.values.shape[0] - 1}" if self.ids is None else ""

    def placed(self, graph: Graph, edges: Path) -> Any:
        """The values in the order of the nodes."""
        if self.values.shape[0] != graph.num_nodes:
            raise ValueError(f"{self.path} has {self.values.shape[0]} rows, but {edges} has {graph.num_nodes} nodes")
        if self.ids is None:
            return self.values
        nodes = _ids(graph)
        order = find(nodes, self.ids)
        if (order < 0).any():
            raise ValueError(f"node {nodes[int((order < 0).argmax())]} of {edges} has no row in {self.path}")
        return self.values[order]


def _read_adjacency(path: Path, attributes: dict[str, Any]) -> Graph:
    held = arrays.names(path)
    if "adj_indptr" in held:
        return layout.to_graph(layout.read(path), **attributes)
    if "format" not in held:
        raise ValueError(
            f"{path}: it holds {_listed(held)}; edges in an .npz are an adjacency written by "
            "scipy.sparse.save_npz, or adj_indptr, adj_indices and num_nodes"
        )
    try:
        return Graph(arrays.sparse(arrays.read(path, arrays.SPARSE), "adjacency"), **attributes)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _read_features(path: Path, id: str | None, label: str | None, header: bool) -> _Rows:
    if path.suffix in (".npy", ".npz"):
        values = _read_array(path)
        if values.ndim not in (1, 2):
            raise ValueError(f"{path}: its array has shape {values.shape}; features are one row a node")
        return _Rows(path, values, None)
    table = open_table(path, header=header)
    name = column_of(table, "id", id, 0)
    numbers = [column for column in table.columns if column not in (name, label)]
    (ids,), matrix = table.read([name], numbers)
    refuse_empty(table, ids, name)
    refuse_repeated(table, ids, name)
    wrong = np.argwhere(~np.isfinite(matrix))
    if len(wrong):
        table.fail(int(wrong[0, 0]), numbers[wrong[0, 1]], "is no feature: features are finite numbers")
    return _Rows(path, matrix, ids.values.take(ids.codes))


def _read_array(path: Path) -> Any:
    if path.suffix == ".npz":
        held = arrays.names(path)
        if "format" in held:
            return arrays.sparse(arrays.read(path, arrays.SPARSE), str(path))
        if len(held) != 1:
            raise ValueError(f"{path}: it holds {len(held)} arrays ({_listed(held)}); features are one array")
        return next(iter(arrays.read(path).values()))
    return arrays.read_npy(path)


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:8])}{', ...' if len(names) > 8 else ''}"


def _labelled(graph: Graph, table: Table, id: str | None, label: str | None, unknown: set[str], edges: Path) -> Graph:
    id, label = column_of(table, "id", id, 0), column_of(table, "label", label, 1)
    (ids, classes), _ = table.read([id, label], [])
    refuse_empty(table, ids, id)
    refuse_repeated(table, ids, id)
    nodes = ids.find(_ids(graph))
    absent = np.flatnonzero(nodes < 0)
    if len(absent):
        table.fail(int(absent[0]), id, f"is not a node of {edges}")
    texts = classes.values.to_pylist()
    names = _sorted_names([text for text in texts if text not in unknown])
    number = {name: k for k, name in enumerate(names)}
    # One more at the end: a missing cell has code -1.
    numbers = np.array([*(number.get(text, -1) for text in texts), -1])
    labels = np.full(graph.num_nodes, -1, dtype=np.int64)
    labels[nodes] = numbers[classes.codes]
    return graph.with_(labels=labels, label_names=tuple(names))


def _sorted_names(names: list[str]) -> list[str]:
    try:
        return sorted(names, key=float)
    except ValueError:
        return sorted(names)


def _with(graph: Graph, path: Path, **attributes: Any) -> Graph:
    try:
        return graph.with_(**attributes)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _ids(graph: Graph) -> pa.StringArray:
    import pyarrow as pa

    return _numbers(graph.num_nodes) if graph.node_ids is None else pa.array(graph.node_ids, pa.string())


def _numbers(n: int) -> pa.StringArray:
    import pyarrow as pa

    return pa.array(np.arange(n)).cast(pa.string())

"""A person's own graph, from the files that they have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
import scipy.sparse as sp

from dfnets.datasets import layout
from dfnets.datasets.graphml import read_graphml
from dfnets.datasets.tables import Factor, Table, open_table
from dfnets.graph import ConflictingWeights, Duplicates, Graph

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
    edges = Path(edges)
    rows = None if features is None else _read_features(Path(features), id, label, header)
    attributes = {"name": edges.stem, **attributes}
    if edges.suffix == ".npz":
        graph = _read_adjacency(edges, attributes)
    else:
        if edges.suffix == ".graphml":
            listed = _read_graphml(edges, weight)
        else:
            listed = _read_edges(open_table(edges, header=header), source, target, weight, header)
        graph = _join(listed, rows, duplicates, attributes)
    if rows is not None:
        graph = graph.with_(features=_placed(rows, graph, edges))
    if labels is None:
        return graph
    return _labelled(graph, open_table(Path(labels), header=header), id, label, set(unknown), edges)


class _Rows(NamedTuple):
    """Features, and the id of each row; no ids where rows are numbered."""

    path: Path
    values: np.ndarray | sp.csr_array
    ids: pa.StringArray | None


class _Edges(NamedTuple):
    """An edge list: ends as text, and how to say where an edge stands and what is wrong with one of its ends."""

    path: Path
    ends: list[Factor]
    weights: np.ndarray | None
    nodes: pa.StringArray | None
    directed: bool
    place: Callable[[int], str]
    fail: Callable[[int, int, str], NoReturn]


def _read_edges(table: Table, source: str | None, target: str | None, weight: str | None, header: bool) -> _Edges:
    if len(table.columns) < 2:
        raise ValueError(
            f"{table.path}: it has one column, {table.columns[0]!r}; edges need two, and the columns of a "
            f"{table.path.suffix} file are separated by {'tabs' if table.path.suffix == '.tsv' else 'commas'}"
        )
    names = [_column(table, "source", source, 0), _column(table, "target", target, 1)]
    if weight is None and (("weight" in table.columns) if header else len(table.columns) > 2):
        weight = "weight" if header else "3"
    numbers = [] if weight is None else [_column(table, "weight", weight, 2)]
    ends, matrix = table.read(names, numbers)
    for end, name in zip(ends, names, strict=True):
        _refuse_empty(table, end, name)
    if header and all(any(_has(end, name) for end in ends) for name in names):
        raise ValueError(
            f"{table.path}: its first line is an edge between {names[0]!r} and {names[1]!r}, which are nodes of other "
            "lines too, and not the names of columns: pass header=False"
        )
    weights = matrix[:, 0] if numbers else None
    if weights is not None:
        wrong = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
        if len(wrong):
            table.fail(int(wrong[0]), numbers[0], "is no weight: a weight is finite and not negative")
    return _Edges(
        table.path, ends, weights, None, False, table.place, lambda row, end, why: table.fail(row, names[end], why)
    )


def _read_graphml(path: Path, weight: str | None) -> _Edges:
    import pyarrow as pa

    nodes, sources, targets, weights, lines, directed = read_graphml(path, weight or "weight")
    ends = []
    for texts in (sources, targets):
        encoded = pa.array(texts, pa.string()).dictionary_encode()
        ends.append(Factor(encoded.indices.to_numpy(), encoded.dictionary))

    def fail(row: int, end: int, why: str) -> NoReturn:
        raise ValueError(f"{path}, line {lines[row]}: {(sources, targets)[end][row]!r} {why}")

    return _Edges(
        path, ends, np.array(weights), pa.array(nodes, pa.string()), directed, lambda row: f"line {lines[row]}", fail
    )


def _read_adjacency(path: Path, attributes: dict[str, Any]) -> Graph:
    arrays = layout.read(path)
    if "adj_indptr" in arrays:
        return layout.to_graph(arrays, **attributes)
    if "format" not in arrays:
        raise ValueError(
            f"{path}: it holds {', '.join(arrays)}; edges in an .npz are an adjacency written by "
            "scipy.sparse.save_npz, or adj_indptr, adj_indices and num_nodes"
        )
    try:
        return Graph(sp.load_npz(path), **attributes)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _read_features(path: Path, id: str | None, label: str | None, header: bool) -> _Rows:
    if path.suffix == ".npy":
        try:
            return _Rows(path, np.load(path, allow_pickle=False), None)
        except (ValueError, EOFError) as error:
            raise ValueError(f"{path} is not a plain .npy array: {error}") from None
    if path.suffix == ".npz":
        arrays = layout.read(path)
        if "format" in arrays:
            return _Rows(path, sp.csr_array(sp.load_npz(path)), None)
        if len(arrays) != 1:
            raise ValueError(f"{path}: it holds {len(arrays)} arrays ({', '.join(arrays)}); features are one array")
        return _Rows(path, next(iter(arrays.values())), None)
    table = open_table(path, header=header)
    name = _column(table, "id", id, 0)
    numbers = [column for column in table.columns if column not in (name, label)]
    (ids,), matrix = table.read([name], numbers)
    _refuse_empty(table, ids, name)
    _refuse_repeated(table, ids, name)
    wrong = np.argwhere(~np.isfinite(matrix))
    if len(wrong):
        table.fail(int(wrong[0, 0]), numbers[wrong[0, 1]], "is no feature: features are finite numbers")
    return _Rows(path, matrix, ids.values.take(ids.codes))


def _join(edges: _Edges, rows: _Rows | None, duplicates: Duplicates, attributes: dict[str, Any]) -> Graph:
    """The graph of an edge list, its nodes in the order of the features where they have one."""
    nodes = edges.nodes
    if rows is not None:
        nodes = _numbers(rows.values.shape[0]) if rows.ids is None else rows.ids
        known = f"a row of {rows.path}" + (f", which are numbered 0 to {len(nodes) - 1}" if rows.ids is None else "")
    else:
        known = "a node of the file"
    if nodes is None:
        ends, nodes = _in_order_of_appearance(edges.ends)
    else:
        ends = [_look_up(end, nodes) for end in edges.ends]
    for k, end in enumerate(ends):
        absent = np.flatnonzero(end < 0)
        if len(absent):
            edges.fail(int(absent[0]), k, f"is not {known}")
    n = len(nodes)
    if n == 0:
        raise ValueError(f"{edges.path}: it has no edges, and there are no features that would list the nodes")
    try:
        if edges.directed:
            weights = np.ones(len(ends[0])) if edges.weights is None else edges.weights
            graph = Graph(sp.coo_array((weights, (ends[0], ends[1])), shape=(n, n)), **attributes)
        else:
            graph = Graph.from_edges(ends[0], ends[1], edges.weights, num_nodes=n, duplicates=duplicates, **attributes)
    except ConflictingWeights as error:
        first, second = (edges.place(row) for row in error.edges)
        raise ValueError(f"{edges.path}, {first} and {second}: {error}") from None
    except ValueError as error:
        raise ValueError(f"{edges.path}: {error}") from None
    if rows is not None and rows.ids is None:
        return graph
    return graph.with_(node_ids=nodes.to_numpy(zero_copy_only=False))


def _placed(rows: _Rows, graph: Graph, edges: Path) -> np.ndarray | sp.csr_array:
    """The features in the order of the nodes."""
    count = rows.values.shape[0] if rows.values.ndim else 0
    if count != graph.num_nodes:
        raise ValueError(f"{rows.path} has {count} rows, but {edges} has {graph.num_nodes} nodes")
    if rows.ids is None:
        return rows.values
    order = _index(_ids(graph), rows.ids)
    if (order < 0).any():
        node = int(np.flatnonzero(order < 0)[0])
        raise ValueError(f"node {_ids(graph)[node]} of {edges} has no row in {rows.path}")
    return rows.values[order]


def _labelled(graph: Graph, table: Table, id: str | None, label: str | None, unknown: set[str], edges: Path) -> Graph:
    id, label = _column(table, "id", id, 0), _column(table, "label", label, 1)
    (ids, classes), _ = table.read([id, label], [])
    _refuse_empty(table, ids, id)
    _refuse_repeated(table, ids, id)
    nodes = _look_up(ids, _ids(graph))
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


def _column(table: Table, argument: str, name: str | None, position: int) -> str:
    if name is None:
        if position >= len(table.columns):
            raise ValueError(f"{table.path}: it has no column {position + 1} to be the {argument}")
        return table.columns[position]
    if name not in table.columns:
        raise ValueError(f"{argument}={name!r}: {table.path} has no such column; it has {', '.join(table.columns)}")
    return name


def _has(column: Factor, text: str) -> bool:
    import pyarrow.compute as pc

    return pc.index(column.values, text).as_py() >= 0


def _refuse_empty(table: Table, column: Factor, name: str) -> None:
    import pyarrow.compute as pc

    # Looked for among the few distinct values first: most columns have no empty cell.
    empty = np.flatnonzero(pc.equal(column.values, "").to_numpy(zero_copy_only=False))
    missing = (column.codes < 0) | np.isin(column.codes, empty) if len(empty) else column.codes < 0
    if missing.any():
        table.fail(int(missing.argmax()), name, "is no id: every row needs one")


def _refuse_repeated(table: Table, ids: Factor, name: str) -> None:
    if len(ids.values) == len(ids.codes):
        return
    _, first = np.unique(ids.codes, return_index=True)
    row = int(np.setdiff1d(np.arange(len(ids.codes)), first)[0])
    table.fail(row, name, "stands in an earlier row too: ids must be distinct")


def _in_order_of_appearance(ends: list[Factor]) -> tuple[list[np.ndarray], pa.StringArray]:
    """Both ends in one numbering: source before target, edge by edge, as a person reads the list."""
    import pandas
    import pyarrow as pa

    sources, targets = ends
    places = _index(targets.values, sources.values)
    new = places < 0
    places = np.where(new, len(sources.values) + np.cumsum(new) - 1, places)
    values = pa.concat_arrays([sources.values, targets.values.filter(pa.array(new))])
    both = np.empty(2 * len(sources.codes), dtype=np.int32)
    both[0::2], both[1::2] = sources.codes, places[targets.codes]
    codes, order = pandas.factorize(both)
    return [codes[0::2], codes[1::2]], values.take(pa.array(order))


def _look_up(column: Factor, nodes: pa.StringArray) -> np.ndarray:
    """The number of the node that each cell names, -1 where there is none."""
    return _index(column.values, nodes)[column.codes]


def _index(values: pa.StringArray, among: pa.StringArray) -> np.ndarray:
    import pyarrow.compute as pc

    return pc.index_in(values, among).fill_null(-1).to_numpy()


def _ids(graph: Graph) -> pa.StringArray:
    import pyarrow as pa

    return _numbers(graph.num_nodes) if graph.node_ids is None else pa.array(graph.node_ids, pa.string())


def _numbers(n: int) -> pa.StringArray:
    import pyarrow as pa

    return pa.array(np.arange(n)).cast(pa.string())

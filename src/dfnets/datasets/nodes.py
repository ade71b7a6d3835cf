"""Features and coordinates of nodes in files, each row known by the id of its node."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dfnets.datasets import arrays
from dfnets.datasets.dialect import MISSING, TableOptions
from dfnets.datasets.encoder import Column, FeatureEncoder, compact
from dfnets.datasets.factors import Factor, find
from dfnets.datasets.tables import Table, column_of, kind_of, open_table, refuse_empty, refuse_repeated

if TYPE_CHECKING:
    import pyarrow as pa

IDS = ("id", "node_id", "nodeid", "node")
# Names of the columns of a long table: one row for each feature of a node that is not zero.
LONG_FEATURES = ("feature", "feature_name", "attribute", "word", "term", "token", "variable")
BESIDE = ("ids", "feature_names")
LONG_VALUES = ("value", "values", "count", "weight")


@dataclass(frozen=True)
class NodeFeatures:
    """Features of nodes, and the id of each row; no ids where rows are numbered."""

    path: Path
    count: int
    values: np.ndarray | sp.csr_array | None
    ids: pa.StringArray | None
    names: tuple[str, ...] | None = None
    encoder: FeatureEncoder | None = None
    coordinates: np.ndarray | None = None
    notes: list[str] = field(default_factory=list)
    summary: str = ""

    def nodes(self) -> pa.StringArray:
        """The id of every row."""
        return numbers(self.count) if self.ids is None else self.ids

    def known(self) -> str:
        """What a node must be, for a message."""
        if self.ids is not None:
            return f"a row of {self.path}"
        return (
            f"a row of {self.path}, which are numbered 0 to {self.count - 1}: give a table with an id in each row, or "
            "number the nodes so"
        )

    def placed(self, nodes: pa.StringArray, edges: Path) -> dict[str, Any]:
        """What :class:`dfnets.Graph` takes, in the order of the nodes; each of them must have a row."""
        rows = None
        if self.ids is None and len(nodes) != self.count:
            raise ValueError(f"it has {self.count} rows, but {edges} has {len(nodes)} nodes")
        if not nodes.equals(self.nodes()):
            rows = find(nodes, self.nodes())
            if (rows < 0).any():
                raise ValueError(f"node {nodes[int((rows < 0).argmax())]} of {edges} has no row")

        def take(array: Any) -> Any:
            return array if array is None or rows is None else array[rows]

        given = {"feature_names": self.names, "encoder": self.encoder, "coordinates": take(self.coordinates)}
        return {"features": take(self.values), **given}


class FeatureColumns(NamedTuple):
    """Which columns of a table are not features, as :func:`dfnets.datasets.files.read` takes them."""

    id: str | None = None
    label: str | None = None
    ignore: tuple[str, ...] = ()
    coordinates: tuple[str, ...] = ()
    encode: bool = True


def read_features(
    path: Path,
    options: TableOptions,
    columns: FeatureColumns,
    *,
    encoder: FeatureEncoder | None,
    known: pa.StringArray | None,
) -> NodeFeatures:
    """The features of a file; see :func:`dfnets.datasets.files.read` for the arguments.

    Args:
        known: ids of nodes, which tell a first row of data from the names of columns.
    """
    if kind_of(path) in (".npy", ".npz"):
        return _from_array(path)
    table = open_with_ids(path, options, known)
    name = column_of(table, "id", columns.id, 0, IDS)
    rest = [column for column in table.columns if column != name]
    if table.header and is_long(rest):
        return _from_long(table, name, rest, encoder)
    places = [column_of(table, "coordinates", one, 0) for one in columns.coordinates]
    left_out = {column_of(table, "ignore", one, 0) for one in columns.ignore} | set(places)
    # A column of labels need not be there.
    left_out |= {column for column in rest if columns.label and column.casefold() == columns.label.casefold()}
    used = [column for column in rest if column not in left_out]
    return _from_wide(table, name, places, used, options, columns.encode, encoder)


def is_long(rest: list[str]) -> bool:
    """Whether columns beside the id are a feature and its value."""
    if len(rest) not in (1, 2) or rest[0].casefold() not in LONG_FEATURES:
        return False
    return len(rest) == 1 or rest[1].casefold() in LONG_VALUES


def numbers(n: int) -> pa.StringArray:
    """ "0" to "n-1"."""
    import pyarrow as pa

    return pa.array(np.arange(n)).cast(pa.string())


def open_with_ids(path: Path, options: TableOptions, known: pa.StringArray | None) -> Table:
    """The table in a file; where its first row could be names or data, an id that is ``known`` makes it data."""
    import pyarrow.compute as pc

    table = open_table(path, options)
    if not table.sure and known is not None and pc.index(known, table.columns[0]).as_py() >= 0:
        return table.without_header()
    return table


def _from_wide(
    table: Table,
    name: str,
    places: list[str],
    columns: list[str],
    options: TableOptions,
    encode: bool,
    encoder: FeatureEncoder | None,
) -> NodeFeatures:
    """One row for each node, one column for each feature."""
    if encoder is not None and table.header:
        _named(table.path, encoder.check, columns)
    text = (table if encoder is None else encoder).text_columns(columns)
    if text and not encode:
        raise ValueError(
            f"{table.path}, column {text[0]!r}: it holds text, not numbers; --ignore {text[0]} leaves it out"
        )
    is_text = set(text)
    numeric = [column for column in columns if column not in is_text]
    found, values = table.read([name, *text], [*numeric, *places])
    ids = found[0]
    refuse_empty(table, ids, name)
    refuse_repeated(table, ids, name)
    for k, cells in enumerate(values):
        kind = "feature" if k < len(numeric) else "coordinate"
        wrong = np.isinf(cells) if k < len(numeric) and encode else ~np.isfinite(cells)
        if wrong.any():
            table.fail(int(wrong.argmax()), [*numeric, *places][k], f"is no {kind}: {kind}s are finite numbers")
    coordinates = np.stack(values[len(numeric) :], axis=1) if places else None
    rows = ids.values.take(ids.codes)
    if not columns:
        return NodeFeatures(table.path, len(rows), None, rows, coordinates=coordinates, summary=table.summary)
    missing = MISSING if options.missing is None else options.missing
    raw: dict[str, np.ndarray | Factor] = dict(zip(numeric, values[: len(numeric)], strict=True))
    raw |= {column: cells.without(missing) for column, cells in zip(text, found[1:], strict=True)}
    raw = {column: raw[column] for column in columns}
    if encoder is None:
        encoder = _named(table.path, FeatureEncoder.fit, raw)
    elif not table.header and len(columns) == len(encoder.columns):
        # Without names, columns are known by their place.
        raw = {column.name: raw[own] for column, own in zip(encoder.columns, columns, strict=True)}
    done = _named(table.path, encoder.encode, raw)
    names = encoder.feature_names if table.header else None
    notes = [*encoder.notes, *done.notes]
    return NodeFeatures(table.path, len(rows), done.values, rows, names, encoder, coordinates, notes, table.summary)


def _from_long(table: Table, name: str, rest: list[str], encoder: FeatureEncoder | None) -> NodeFeatures:
    """One row for each feature of a node that is not zero: id, feature, and a value, 1 where there is none.

    A feature that no row names is 0 everywhere, so features that a model knows need not be in another file.
    """
    (ids, features), values = table.read([name, rest[0]], rest[1:])
    refuse_empty(table, ids, name)
    refuse_empty(table, features, rest[0])
    cells = values[0] if values else np.ones(len(ids.codes))
    wrong = ~np.isfinite(cells)
    if wrong.any():
        table.fail(int(wrong.argmax()), rest[1], "is no feature: features are finite numbers")
    texts = features.values.to_pylist()
    if encoder is None:
        encoder = FeatureEncoder(tuple(Column(text, fill=0.0) for text in sorted_names(texts)))
    names = encoder.feature_names
    place = {text: k for k, text in enumerate(names)}
    columns = np.array([place.get(text, -1) for text in texts], dtype=np.int64)[features.codes]
    keys = ids.codes.astype(np.int64) * len(texts) + features.codes
    _, first = np.unique(keys, return_index=True)
    if len(first) < len(keys):
        row = int(np.setdiff1d(np.arange(len(keys)), first)[0])
        table.fail(row, rest[0], "stands in an earlier row of the same node too")
    notes = [f"{table.path.name}: in long format, one row for each feature of a node that is not zero"]
    if len(unseen := [text for text in texts if text not in place]):
        notes.append(f"{len(unseen)} features that training did not see are left out (the first: {unseen[0]!r})")
    seen = columns >= 0
    shape = (len(ids.values), len(names))
    matrix = sp.csr_array((cells[seen], (ids.codes[seen], columns[seen])), shape=shape)
    return NodeFeatures(table.path, shape[0], matrix, ids.values, names, encoder, None, notes, table.summary)


def _from_array(path: Path) -> NodeFeatures:
    beside: dict[str, np.ndarray] = {}
    values: Any
    if path.suffix == ".npy":
        values = arrays.read_npy(path)
    else:
        held = [name for name in arrays.names(path) if name not in BESIDE]
        beside = arrays.read(path, BESIDE)
        if "format" in held:
            values = arrays.sparse(arrays.read(path, arrays.SPARSE), str(path))
        elif len(held) == 1:
            values = arrays.read(path, held)[held[0]]
        else:
            raise ValueError(
                f"{path}: it holds {len(held)} arrays ({', '.join(held[:8])}); features are one array, beside it "
                "'ids' and 'feature_names' if you like"
            )
    ids, names = (beside.get(name) for name in BESIDE)
    if values.ndim not in (1, 2):
        raise ValueError(f"{path}: its array has shape {values.shape}; features are one row per node")
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub" and values.ndim == 2:
        values = compact(values)
    rows = values.shape[0]
    if ids is not None and ids.shape != (rows,):
        raise ValueError(f"{path}: ids has shape {ids.shape}, but there are {rows} rows")
    named = None if names is None else tuple(map(str, names.ravel()))
    return NodeFeatures(path, rows, values, None if ids is None else _text_ids(path, ids), named)


def _text_ids(path: Path, ids: np.ndarray) -> pa.StringArray:
    import pyarrow as pa

    texts = [str(one) for one in ids.tolist()]
    if len(set(texts)) < len(texts):
        seen: set[str] = set()
        repeated = next(text for text in texts if text in seen or seen.add(text))  # type: ignore[func-returns-value]
        raise ValueError(f"{path}: ids has {repeated!r} more than once; ids must be distinct")
    return pa.array(texts, pa.string())


def _named(path: Path, call: Any, *arguments: Any) -> Any:
    """The call, with the file before what it refuses."""
    try:
        return call(*arguments)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def sorted_names(names: list[str]) -> list[str]:
    """By value where all are numbers, else as text."""
    try:
        return sorted(names, key=float)
    except ValueError:
        return sorted(names)

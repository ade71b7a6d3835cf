"""Tables in files, whatever wrote them; what is wrong in one is named by file, line and column."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, Protocol

import numpy as np

from dfnets.datasets.dialect import TableOptions
from dfnets.datasets.factors import Factor
from dfnets.inputs import regular_file

TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat", ".edges", ".edgelist")
READ = ".csv, .tsv, .txt (also packed: .csv.gz), .parquet, .jsonl or .xlsx"
_PICKLES = (".pkl", ".pickle", ".gpickle", ".p", ".pt", ".pth", ".joblib")
_NETWORKX = {".gexf": "read_gexf", ".gml": "read_gml", ".net": "read_pajek", ".paj": "read_pajek"}


class Table(Protocol):
    """A file with named columns.

    Attributes:
        columns: their names; without a header their places, from "1".
        sure: whether it is certain that the first row names the columns, or that it does not.
        header: whether there are names.
    """

    path: Path
    columns: list[str]
    header: bool
    sure: bool

    @property
    def summary(self) -> str:
        """How the file is written, for a person; empty where that goes without saying."""

    def read(self, text: Sequence[str], numbers: Sequence[str]) -> tuple[list[Factor], list[np.ndarray]]:
        """The text columns, and the number columns, (rows,) each with NaN where a cell is missing."""

    def text_columns(self, names: Sequence[str]) -> list[str]:
        """Those of these columns that hold text rather than numbers."""

    def without_header(self) -> Table:
        """The same file, its first row taken as data."""

    def place(self, row: int) -> str:
        """Where a row of data is, for a message: "line 7"."""

    def fail(self, row: int, column: str, why: str) -> NoReturn:
        """Raise a ValueError that names the file, the place, the column and the cell."""


def open_table(path: Path, options: TableOptions | None = None) -> Table:
    """The table in a file; its suffix says of which kind it is."""
    from dfnets.datasets import columnar, delimited

    options = options or TableOptions()
    suffix = kind_of(path)
    if suffix in TEXT:
        return delimited.DelimitedTable(path, options)
    if suffix == ".parquet":
        return columnar.parquet_table(path)
    if suffix in (".jsonl", ".ndjson"):
        return columnar.json_table(path)
    if suffix == ".xlsx":
        return columnar.excel_table(path)
    raise ValueError(_other_kind(path, suffix))


def kind_of(path: Path) -> str:
    """The suffix that says what a file is, in lower case; that of ``edges.csv.gz`` is ``.csv``."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix == ".gz" else suffix


def _other_kind(path: Path, suffix: str) -> str:
    """What to do with a file that is not read."""
    if suffix in _PICKLES:
        return (
            f"{path} is a pickle, which can run any program when it is opened, so it is not read: open it where it "
            f"came from, and write the graph with networkx.write_graphml(graph, '{path.stem}.graphml'), or a table "
            "with frame.to_parquet"
        )
    if suffix in _NETWORKX:
        return (
            f"{path}: {suffix} is not read; convert it with networkx.write_graphml("
            f"networkx.{_NETWORKX[suffix]}('{path.name}'), '{path.stem}.graphml')"
        )
    if suffix in (".xls", ".ods"):
        return f"{path}: {suffix} is not read; save the sheet as CSV"
    if suffix == ".json":
        return f"{path}: .json is not read; write one object per line, as .jsonl"
    return f"{path}: a table ends in {READ}, not in {suffix!r}"


def refuse_missing_files(*paths: Path | None) -> None:
    """Names all files that are not there, together."""
    given = [path for path in paths if path is not None]
    missing = [str(path) for path in dict.fromkeys(given) if not path.exists()]
    if missing:
        names = missing[0] if len(missing) == 1 else f"{', '.join(missing[:-1])} and {missing[-1]}"
        raise FileNotFoundError(
            f"{names} {'does' if len(missing) == 1 else 'do'} not exist, seen from {Path.cwd()}: check the spelling"
        )
    for path in given:
        regular_file(path)


def column_of(
    table: Table, argument: str, name: str | None, position: int, known: Sequence[str] = (), taken: Sequence[str] = ()
) -> str:
    """The column of that name, in any case; without a name, one that is called as in ``known``, or at that position.

    Args:
        argument: whose it is, for messages.
        taken: columns that it cannot be.
    """
    if name is not None:
        same = [column for column in table.columns if column == name]
        same = same or [column for column in table.columns if column.casefold() == name.casefold()]
        if not same:
            shown = ", ".join(table.columns[:20]) + (", ..." if len(table.columns) > 20 else "")
            raise ValueError(f"{argument}={name!r}: {table.path} has no such column; it has {shown}")
        return same[0]
    if table.header:
        for one in known:
            found = [column for column in table.columns if column.casefold() == one and column not in taken]
            if found:
                return found[0]
    free = [column for column in table.columns if column not in taken]
    position -= len(taken)
    if not 0 <= position < len(free):
        raise ValueError(f"{table.path}: it has no column {position + len(taken) + 1} to be the {argument}")
    return free[position]


def refuse_empty(table: Table, column: Factor, name: str) -> None:
    """Every cell of a column of ids must name something."""
    import pyarrow.compute as pc

    # The code of the empty text, if the column has it at all; -2 is no code.
    empty = pc.index(column.values, "").as_py()
    missing = (column.codes < 0) | (column.codes == (empty if empty >= 0 else -2))
    if missing.any():
        table.fail(int(missing.argmax()), name, "is no id: every row needs one")


def refuse_repeated(table: Table, ids: Factor, name: str) -> None:
    """No two rows may have the same id."""
    _, first = np.unique(ids.codes, return_index=True)
    if len(first) == len(ids.codes):
        return
    row = int(np.setdiff1d(np.arange(len(ids.codes)), first)[0])
    table.fail(row, name, "stands in an earlier row too: ids must be distinct")

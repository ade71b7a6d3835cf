"""Columns of a CSV, TSV or Parquet file, read by Arrow; whatever is wrong in them is named by file, line and column."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Protocol

import numpy as np

from dfnets.datasets.factors import Factor, factors

if TYPE_CHECKING:
    import pyarrow as pa


class Table(Protocol):
    """A file with named columns."""

    path: Path
    columns: list[str]

    def read(self, text: Sequence[str], numbers: Sequence[str]) -> tuple[list[Factor], np.ndarray]:
        """The text columns, and the (rows, columns) matrix of the number columns, NaN where a cell is empty."""

    def place(self, row: int) -> str:
        """Where a row of data is, for a message: "line 7"."""

    def fail(self, row: int, column: str, why: str) -> NoReturn:
        """Raise a ValueError that names the file, the place, the column and the cell."""


def open_table(path: Path, *, header: bool = True) -> Table:
    """The table in a file; its suffix says of which kind it is."""
    if path.suffix in _DELIMITERS:
        return DelimitedTable(path, header)
    if path.suffix == ".parquet":
        return ParquetTable(path)
    raise ValueError(f"{path}: a table ends in .csv, .tsv or .parquet, not in {path.suffix!r}")


_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def column_of(table: Table, argument: str, name: str | None, position: int) -> str:
    """The column of that name, or at that position if no name is given; ``argument`` is whose it is, for messages."""
    if name is None:
        if position >= len(table.columns):
            raise ValueError(f"{table.path}: it has no column {position + 1} to be the {argument}")
        return table.columns[position]
    if name not in table.columns:
        raise ValueError(f"{argument}={name!r}: {table.path} has no such column; it has {', '.join(table.columns)}")
    return name


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
    if len(ids.values) == len(ids.codes):
        return
    _, first = np.unique(ids.codes, return_index=True)
    row = int(np.setdiff1d(np.arange(len(ids.codes)), first)[0])
    table.fail(row, name, "stands in an earlier row too: ids must be distinct")


class DelimitedTable:
    """CSV or TSV in UTF-8. Without a header, columns are called by their position: "1", "2", ..."""

    def __init__(self, path: Path, header: bool) -> None:
        self.path = path
        self._header = header
        _, first = next(self._records(), (1, []))
        if not first:
            raise ValueError(f"{path}, line 1 is empty: the file has no columns")
        self.columns = first if header else [str(k + 1) for k in range(len(first))]
        if header and all(_is_number(name) for name in first):
            raise ValueError(f"{path}, line 1 holds numbers, not the names of columns: pass header=False")
        for name in first if header else ():
            if first.count(name) > 1:
                raise ValueError(f"{path}, line 1 names column {name!r} more than once")

    def read(self, text: Sequence[str], numbers: Sequence[str]) -> tuple[list[Factor], np.ndarray]:
        import pyarrow as pa
        from pyarrow import csv as arrow

        types = {name: pa.large_string() for name in text} | {name: pa.float64() for name in numbers}
        try:
            table = arrow.read_csv(
                self.path,
                arrow.ReadOptions(column_names=self.columns, skip_rows=int(self._header)),
                arrow.ParseOptions(delimiter=_DELIMITERS[self.path.suffix]),
                arrow.ConvertOptions(column_types=types, include_columns=[*text, *numbers]),
            )
        except pa.ArrowInvalid as error:
            self._diagnose(numbers)
            raise ValueError(f"{self.path}: {error}") from None
        return factors([table[name] for name in text]), _matrix(table, numbers)

    def place(self, row: int) -> str:
        return f"line {self._record(row)[0]}"

    def fail(self, row: int, column: str, why: str) -> NoReturn:
        line, cells = self._record(row)
        self._refuse(line, column, f"{cells[self.columns.index(column)]!r} {why}")

    def _refuse(self, line: int, column: str, why: str) -> NoReturn:
        raise ValueError(f"{self.path}, line {line}, column {column!r}: {why}")

    def _diagnose(self, numbers: Sequence[str]) -> None:
        """Find the cell that Arrow could not read, and raise; Arrow's own message has no line when it uses threads."""
        for line, cells in self._data():
            if len(cells) != len(self.columns):
                raise ValueError(
                    f"{self.path}, line {line}: it has {len(cells)} columns, but the file has {len(self.columns)} "
                    f"({', '.join(self.columns[:5])}{', ...' if len(self.columns) > 5 else ''})"
                )
            for column, cell in zip(self.columns, cells, strict=True):
                if any("\udc80" <= letter <= "\udcff" for letter in cell):
                    self._refuse(line, column, "the text is not UTF-8: save the file in that encoding")
                if column in numbers and cell and not _is_number(cell):
                    self._refuse(line, column, f"{cell!r} is not a number")

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """(line, cells) of every line that is not blank, as Arrow counts them; the first may be the header."""
        with self.path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            reader = csv.reader(file, delimiter=_DELIMITERS[self.path.suffix])
            for cells in reader:
                if cells or reader.line_num == 1:
                    yield reader.line_num, cells

    def _data(self) -> Iterator[tuple[int, list[str]]]:
        records = self._records()
        if self._header:
            next(records)
        return records

    def _record(self, row: int) -> tuple[int, list[str]]:
        return next(record for k, record in enumerate(self._data()) if k == row)


class ParquetTable:
    """A Parquet file; a row is named by its number, from 1."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        self.path = path
        try:
            self.columns = list(parquet.read_schema(path).names)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{path} is not a Parquet file: {error}") from None

    def read(self, text: Sequence[str], numbers: Sequence[str]) -> tuple[list[Factor], np.ndarray]:
        import pyarrow as pa
        from pyarrow import parquet

        table = parquet.read_table(self.path, columns=[*text, *numbers])
        for name in numbers:
            kind = table.schema.field(name).type
            if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
                raise ValueError(f"{self.path}, column {name!r}: it holds {kind}, not numbers")
        return factors([table[name] for name in text]), _matrix(table, numbers)

    def place(self, row: int) -> str:
        return f"row {row + 1}"

    def fail(self, row: int, column: str, why: str) -> NoReturn:
        from pyarrow import parquet

        cell = parquet.read_table(self.path, columns=[column])[column][row].as_py()
        raise ValueError(f"{self.path}, {self.place(row)}, column {column!r}: {cell!r} {why}")


def _matrix(table: pa.Table, names: Sequence[str]) -> np.ndarray:
    import pyarrow as pa

    matrix = np.empty((table.num_rows, len(names)))
    for k, name in enumerate(names):
        matrix[:, k] = table[name].cast(pa.float64()).to_numpy()
    return matrix


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True

"""Tables whose columns have types: Parquet, JSON lines, Excel."""

from __future__ import annotations

import importlib.util
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from dfnets.datasets.dialect import MISSING, open_bytes
from dfnets.datasets.factors import Factor, factors
from dfnets.datasets.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa


class ColumnarTable:
    """A table in memory whose columns have names and types; a row is named by its number, from 1."""

    header = sure = True
    summary = ""

    def __init__(self, path: Path, table: pa.Table) -> None:
        self.path = path
        self.columns = list(table.column_names)
        repeated = [name for name, times in Counter(self.columns).items() if times > 1]
        if repeated:
            raise ValueError(f"{path} names column {repeated[0]!r} more than once")
        self._table = table

    def read(self, text: Sequence[str], numbers: Sequence[str]) -> tuple[list[Factor], list[np.ndarray]]:
        import pyarrow as pa

        for name in [*text, *numbers]:
            kind = self._table.schema.field(name).type
            if pa.types.is_nested(kind) or pa.types.is_binary(kind):
                raise ValueError(f"{self.path}, column {name!r}: it holds {kind}; a cell is a text or a number")
            if name in numbers and not _is_numeric(kind):
                raise ValueError(f"{self.path}, column {name!r}: it holds {kind}, not numbers")
        cells = [_as_text(self._table[name]) for name in text]
        values = [self._table[name].cast(pa.float64()).to_numpy() for name in numbers]
        return [factor.stripped() for factor in factors(cells)], values

    def text_columns(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if not _is_numeric(self._table.schema.field(name).type)]

    def without_header(self) -> Table:
        return self

    def place(self, row: int) -> str:
        return f"row {row + 1}"

    def fail(self, row: int, column: str, why: str) -> NoReturn:
        cell = self._table[column][row].as_py()
        raise ValueError(f"{self.path}, {self.place(row)}, column {column!r}: {cell!r} {why}")


def parquet_table(path: Path) -> ColumnarTable:
    """The table of a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
        table.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a readable Parquet file: {error}") from None
    return ColumnarTable(path, table)


def json_table(path: Path) -> ColumnarTable:
    """The table of a file with one JSON object in each line."""
    import pyarrow as pa
    from pyarrow import json

    with open_bytes(path) as file:
        try:
            table = json.read_json(file)
            table.validate(full=True)
        except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
            raise ValueError(f"{path} is not a file of one JSON object per line: {error}") from None
    return ColumnarTable(path, table)


def excel_table(path: Path) -> ColumnarTable:
    """The first sheet of an Excel file, where openpyxl is there to read it."""
    if importlib.util.find_spec("openpyxl") is None:
        raise ValueError(f"{path}: reading .xlsx needs openpyxl (pip install openpyxl); or save the sheet as CSV")
    import pandas
    import pyarrow as pa

    try:
        frame = pandas.read_excel(path, keep_default_na=False, na_values=list(MISSING))
    except Exception as error:  # of an archive of XML files it raises whatever their parsers raise
        raise ValueError(f"{path} is not a readable .xlsx file: {error}") from None
    frame = frame.dropna(how="all").dropna(how="all", axis=1)
    for name in frame.columns:
        if frame[name].dtype == object:
            # Ids may be numbers in some rows and text in others; a whole number is written as one.
            frame[name] = [None if pandas.isna(cell) else str(cell) for cell in frame[name]]
    frame.columns = [str(name) for name in frame.columns]
    return ColumnarTable(path, pa.Table.from_pandas(frame, preserve_index=False))


def _is_numeric(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    )


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cells as text; 3.0 among floating-point numbers is 3, because a gap turns whole numbers into such."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):
        whole = column.combine_chunks()
        if pc.all(pc.equal(pc.round(whole), whole)).as_py():
            return pa.chunked_array([pc.cast(whole, pa.int64(), safe=False)])
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column

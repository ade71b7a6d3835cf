"""CSV and its relatives, parsed by Arrow."""

from __future__ import annotations

import dataclasses
import gzip
import io
import mmap
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from dfnets.datasets.dialect import (
    MISSING,
    TableOptions,
    has_thousands,
    is_number,
    open_bytes,
    recognise,
    single_byte,
    split_rows,
)
from dfnets.datasets.factors import Factor, factors
from dfnets.datasets.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa


class DelimitedTable:
    """A table in text. Columns that are empty from the header down, as spreadsheets leave them, are not there."""

    def __init__(self, path: Path, options: TableOptions) -> None:
        self.path = path
        self._options = options
        self._missing = MISSING if options.missing is None else options.missing
        try:
            self._dialect = recognise(path, options)
        except ValueError as error:
            raise error if str(path) in str(error) else ValueError(f"{path}, {error}") from None
        self.header, self.sure = self._dialect.header, self._dialect.sure
        self._names = self._name_columns()
        self.columns = [name for name in self._names if name]
        if not self.columns:
            raise ValueError(f"{path} is empty: the file has no column with a name or a cell")

    @property
    def summary(self) -> str:
        return str(self._dialect)

    def without_header(self) -> Table:
        return DelimitedTable(self.path, dataclasses.replace(self._options, header=False))

    def read(self, text: Sequence[str], numbers: Sequence[str]) -> tuple[list[Factor], list[np.ndarray]]:
        import pyarrow as pa

        try:
            table = self._table(text, numbers)
        except (pa.ArrowInvalid, ValueError, OSError, EOFError, zlib.error) as error:
            if self._dialect.encoding == "utf-8" and (other := self._other_encoding()):
                # The first lines were plain ASCII, and what came later is not UTF-8.
                self._dialect = dataclasses.replace(self._dialect, encoding=other)
                return self.read(text, numbers)
            self._diagnose(numbers)
            raise ValueError(f"{self.path}: {error}") from None
        table = _without_blank_end(table)
        found = [factor.stripped() for factor in factors([table[name] for name in text])]
        return found, [table[name].to_numpy() for name in numbers]

    def text_columns(self, names: Sequence[str]) -> list[str]:
        """Those in which less than half of the cells at the beginning of the file are numbers."""
        found = []
        place = {name: k for k, name in enumerate(self._names)}
        for name in names:
            k = place[name]
            cells = [row[k].strip() for row in self._rows_of_sample() if k < len(row)]
            cells = [cell for cell in cells if cell not in self._missing]
            numeric = sum(is_number(cell, self._dialect.decimal) or has_thousands(cell) for cell in cells)
            if numeric < len(cells) / 2:
                found.append(name)
        return found

    def place(self, row: int) -> str:
        return f"line {self._record(row)[0]}"

    def fail(self, row: int, column: str, why: str) -> NoReturn:
        line, cells = self._record(row)
        k = self._names.index(column)
        self._refuse(line, column, f"{cells[k] if k < len(cells) else ''!r} {why}")

    def _name_columns(self) -> list[str]:
        """A name for every column of the file, empty for one that has neither a name nor a cell."""
        first, sample = self._dialect.first, self._rows_of_sample()
        width = min((len(row) for row in sample), default=len(first))
        if not self.header:
            empty = [all(not row[k].strip() for row in sample if k < len(row)) for k in range(len(first))]
            return ["" if gone else str(k + 1) for k, gone in enumerate(empty)]
        names = [" ".join(cell.split()) for cell in first]
        if width == len(names) + 1:
            # R leaves out the name of the row names; a line may also end in one separator more than the header.
            ends_empty = all(not row[-1].strip() for row in sample)
            names = [*names, ""] if ends_empty else ["", *names]
        for k, name in enumerate(names):
            if not name and any(k < len(row) and row[k].strip() for row in sample):
                names[k] = "id" if k == 0 and "id" not in names else str(k + 1)
        repeated = [name for name, times in Counter(names).items() if name and times > 1]
        if repeated:
            raise ValueError(f"{self.path}, line {self._dialect.skip + 1} names column {repeated[0]!r} more than once")
        return names

    def _rows_of_sample(self) -> list[list[str]]:
        return self._dialect.sample if self.header else [self._dialect.first, *self._dialect.sample]

    def _table(self, text: Sequence[str], numbers: Sequence[str]) -> pa.Table:
        """The columns, text as large strings and numbers as doubles, by Arrow's own reader."""
        import pyarrow as pa
        from pyarrow import csv as arrow

        if self._dialect.runs:
            return self._table_of_runs(text, numbers)
        # A name for every column, also for those that are left out; they must be distinct.
        names = [name or f"\0{k}" for k, name in enumerate(self._names)]
        types = {name: pa.large_string() for name in text} | {name: pa.float64() for name in numbers}
        longest = max((sum(map(len, row)) for row in [self._dialect.first, *self._dialect.sample]), default=0)
        with open_bytes(self.path) as file:
            return arrow.read_csv(
                file if _is_packed(file) else str(self.path),  # Arrow reads ahead in threads where it has a path
                arrow.ReadOptions(
                    column_names=names,
                    skip_rows=self._dialect.skip,
                    skip_rows_after_names=int(self.header),
                    encoding=_ARROW.get(self._dialect.encoding, self._dialect.encoding),
                    # A row has to fit into a block.
                    block_size=max(2**20, 16 * longest),
                ),
                arrow.ParseOptions(
                    delimiter=self._dialect.separator,
                    # Rows can only be told apart by reading every quote from the start, which takes longer.
                    newlines_in_values=self._has_quotes(),
                    invalid_row_handler=_skip_blank if self._dialect.blank else None,
                ),
                arrow.ConvertOptions(
                    column_types=types,
                    include_columns=[*text, *numbers],
                    null_values=list(self._missing),
                    decimal_point=self._dialect.decimal,
                ),
            )

    def _table_of_runs(self, text: Sequence[str], numbers: Sequence[str]) -> pa.Table:
        """Columns that are separated by any number of spaces, which Arrow does not read and pandas does."""
        import pandas
        import pyarrow as pa

        with open_bytes(self.path) as file:
            frame = pandas.read_csv(
                file,
                sep=r"\s+",
                header=None,
                names=[name or f"\0{k}" for k, name in enumerate(self._names)],
                index_col=False,
                skiprows=self._dialect.skip + self.header,
                dtype=dict.fromkeys(numbers, np.float64) | dict.fromkeys(text, str),
                na_values={name: list(self._missing) for name in numbers},
                keep_default_na=False,
                decimal=self._dialect.decimal,
                encoding=self._dialect.encoding,
            )
        types = [(name, pa.large_string()) for name in text] + [(name, pa.float64()) for name in numbers]
        return pa.Table.from_pandas(frame[[*text, *numbers]], pa.schema(types), preserve_index=False)

    def _has_quotes(self) -> bool:
        if self._dialect.encoding.startswith("utf-16"):
            return True
        with open_bytes(self.path) as file:
            if _is_packed(file):
                return True
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return content.find(b'"') >= 0

    def _other_encoding(self) -> str | None:
        """The single-byte encoding of a file that is not UTF-8."""
        with open_bytes(self.path) as file:
            raw = file.read()
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            return single_byte(raw)
        return None

    def _diagnose(self, numbers: Sequence[str]) -> None:
        """Find the cell that could not be read, and raise; Arrow's own message has no line when it uses threads."""
        wanted = [(self._names.index(name), name) for name in numbers]
        for line, cells in self._data():
            if len(cells) != len(self._names):
                raise ValueError(
                    f"{self.path}, line {line}: it has {len(cells)} columns, but the file has {len(self._names)} "
                    f"({', '.join(self.columns[:5])}{', ...' if len(self.columns) > 5 else ''})"
                )
            for k, name in wanted:
                cell = cells[k].strip()
                if cell in self._missing or is_number(cell, self._dialect.decimal):
                    continue
                if has_thousands(cell):
                    self._refuse(line, name, f"{cell!r} has thousands separators, or another decimal point than "
                                 f"{self._dialect.decimal!r}: write plain numbers, or say --decimal")  # fmt: skip
                self._refuse(line, name, f"{cell!r} is not a number; if it stands for none, say --missing {cell}")

    def _refuse(self, line: int, column: str, why: str) -> NoReturn:
        raise ValueError(f"{self.path}, line {line}, column {column!r}: {why}")

    def _data(self) -> Iterator[tuple[int, list[str]]]:
        """(line, cells) of every row of data, as Arrow counts them."""
        with open_bytes(self.path) as file:
            text = io.TextIOWrapper(file, self._dialect.encoding, errors="replace", newline="")
            if text.read(1) != "\ufeff":
                text.seek(0)
            for _ in range(self._dialect.skip):
                text.readline()
            rows = split_rows(text, self._dialect.separator, self._dialect.runs)
            for k, (line, cells) in enumerate(rows):
                if k or not self.header:
                    yield line + self._dialect.skip, cells

    def _record(self, row: int) -> tuple[int, list[str]]:
        return next(record for k, record in enumerate(self._data()) if k == row)


# Arrow knows these by other names.
_ARROW = {"utf-8": "utf8", "utf-8-sig": "utf8"}


def _skip_blank(row: Any) -> str:
    return "error" if row.text.strip() else "skip"


def _is_packed(file: Any) -> bool:
    return isinstance(file, gzip.GzipFile)


def _without_blank_end(table: pa.Table) -> pa.Table:
    """Spreadsheets leave rows without any cell at the end."""
    rows = table.num_rows
    while rows and all(_is_blank(table[name][rows - 1].as_py()) for name in table.column_names):
        rows -= 1
    return table.slice(0, rows)


def _is_blank(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())

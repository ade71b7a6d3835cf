"""How a text file writes a table: its encoding, separator, header and decimal point, recognised from its beginning."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

MISSING = ("", "?", "NA", "N/A", "n/a", "na", "NaN", "nan", "None", "null", "NULL", "#N/A")
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
# Names that columns often have. One of them alone may also be a node (a word, say); two are a header.
KNOWN = frozenset(
    {
        *("id", "ids", "node", "nodes", "node_id", "nodeid", "name", "key", "source", "target", "src", "dst", "from"),
        *("to", "head", "tail", "weight", "weights", "label", "labels", "class", "classes", "feature", "value", "type"),
    }
)
SAMPLE = 2**18

_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:([,. '\u00a0\u202f])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class TableOptions:
    """What a person says about their tables; whatever is None is recognised.

    Attributes:
        header: whether the first line names the columns.
        separator: one character between cells.
        decimal: the decimal point, "." or ",".
        missing: cells that stand for no value.
    """

    header: bool | None = None
    separator: str | None = None
    decimal: str | None = None
    missing: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        named = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "bar": "|", "pipe": "|"}
        if self.separator is not None:
            object.__setattr__(self, "separator", named.get(self.separator, self.separator))
            if len(self.separator) != 1 or self.separator in '"\r\n':
                raise ValueError(f"separator={self.separator!r}: it is one character, such as ; or tab (--separator)")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal={self.decimal!r}: the decimal point is . or , (--decimal)")


@dataclass(frozen=True)
class Dialect:
    """How a file is written.

    Attributes:
        skip: lines before the table: blank ones, and comments that start with # or %.
        header: whether the first row names the columns; ``sure`` is False where that is a guess.
        runs: cells are separated by any number of spaces or tabs.
        first: the cells of the first row.
        sample: the rows after it that the beginning of the file holds.
        blank: whether there are lines with nothing but blanks.
    """

    encoding: str
    separator: str
    decimal: str
    skip: int
    header: bool
    sure: bool
    runs: bool
    first: list[str]
    sample: list[list[str]]
    blank: bool

    def __str__(self) -> str:
        """The facts that a person would want to check; commas and UTF-8 go without saying."""
        said = []
        if self.separator != "," or self.runs:
            said.append(f"separated by {SEPARATORS.get(self.separator, repr(self.separator))}")
        if self.decimal == ",":
            said.append("decimal commas")
        if self.encoding not in ("utf-8", "utf-8-sig"):
            said.append(f"encoding {self.encoding}")
        if not self.header:
            said.append("no header")
        return ", ".join(said)


def recognise(path: Path, options: TableOptions) -> Dialect:
    """The dialect of a file; what ``options`` say is taken as it is."""
    raw, whole = _beginning(path)
    encoding = _encoding(raw)
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(raw, final=whole).removeprefix("\ufeff")
    skip, text = _without_comments(text)
    if not text.strip():
        raise ValueError(f"{path}, line 1 is empty: the file has no columns")
    separator, runs = _separator(text, options.separator, path.name.removesuffix(".gz").endswith(".tsv"))
    rows = [cells for _, cells in split_rows(io.StringIO(text, newline=""), separator, runs)]
    if not rows or not any(cell.strip() for row in rows for cell in row):
        raise ValueError(f"{path} is empty: the file has no columns")
    if not whole and len(rows) > 1:
        rows.pop()  # cut off somewhere
    first, sample = rows[0], rows[1:]
    missing = MISSING if options.missing is None else options.missing
    decimal = options.decimal or _decimal([first, *sample], separator)
    header = _has_header(first, sample, decimal, missing) if options.header is None else options.header
    blank = any(line.isspace() and line.strip("\r\n") for line in text.splitlines(keepends=True))
    sure = header is not None
    return Dialect(encoding, separator, decimal, skip, header is not False, sure, runs, first, sample, blank)


def open_bytes(path: Path) -> IO[bytes]:
    """The file, unpacked if it is packed with gzip."""
    file = path.open("rb")
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return gzip.open(file) if packed else file  # type: ignore[return-value]


def split_rows(file: IO[str], separator: str, runs: bool) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of every row that is not blank; ``line`` is where the row starts, from 1."""
    limit = csv.field_size_limit(sys.maxsize if sys.maxsize < 2**31 else 2**31 - 1)
    try:
        reader = csv.reader(file, delimiter=" " if runs else separator, skipinitialspace=runs)
        line = 1
        for cells in reader:
            cells = [cell for text in cells for cell in text.split("\t") if cell] if runs else cells
            if cells and not (len(cells) == 1 and not cells[0].strip()):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(f"line {line}: {error}") from None
    finally:
        csv.field_size_limit(limit)


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell is a number; ``nan`` and ``inf`` are."""
    if decimal == ",":
        if "." in cell:
            return False
        cell = cell.replace(",", ".")
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def has_thousands(cell: str) -> bool:
    """Whether a cell looks like a number with separated thousands."""
    return _THOUSANDS.fullmatch(cell.strip()) is not None


def _beginning(path: Path) -> tuple[bytes, bool]:
    """Enough of a file to see several lines, and whether that is all of it."""
    size = SAMPLE
    with open_bytes(path) as file:
        try:
            raw = file.read(size)
            while len(raw) == size and raw.count(b"\n") < 4 and size < 2**28:
                raw += file.read(size)
                size *= 2
            return raw, len(raw) < size
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} cannot be read: {error}") from None


def _encoding(raw: bytes) -> str:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if raw.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    zeros = raw.count(b"\0")
    if zeros > len(raw) / 4:
        return "utf-16-le" if raw[1::2].count(0) > raw[0::2].count(0) else "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(raw)
    except UnicodeDecodeError:
        return single_byte(raw)
    return "utf-8"


def single_byte(raw: bytes) -> str:
    """Windows' Western encoding, or Latin-1 where a byte means nothing in that."""
    try:
        raw.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def _without_comments(text: str) -> tuple[int, str]:
    skip = 0
    while text:
        line, end, rest = text.partition("\n")
        if line.strip() and not line.startswith(("#", "%")):
            break
        skip, text = skip + bool(end), rest
    return skip, text


def _separator(text: str, said: str | None, tabs: bool) -> tuple[str, bool]:
    """The separator that cuts most lines into the same number of cells, two at least, and whether runs of it count."""
    lines = text.splitlines()[:200]
    if said is None:
        candidates = ["\t", ",", ";", "|", " "] if tabs else [",", ";", "\t", "|", " "]
        scores = [_score(text, candidate) for candidate in candidates]
        said = candidates[scores.index(max(scores))] if max(scores) > (0, 0) else candidates[0]
    runs = said == " " and any("  " in line.strip() or line[:1] == " " or "\t" in line for line in lines)
    return said, runs


def _score(text: str, separator: str) -> tuple[float, int]:
    """The share of rows with the most common number of cells, and that number; decimal commas cut rows in two too."""
    counts: list[int] = []
    try:
        for _, cells in split_rows(io.StringIO(text, newline=""), separator, separator == " "):
            counts.append(len(cells))
            if len(counts) == 200:
                break
    except ValueError:
        return 0, 0
    counts = counts[: max(1, len(counts) - 1)] if len(counts) > 2 else counts
    if not counts:
        return 0, 0
    common = max(set(counts), key=counts.count)
    if common < 2:
        return 0, 0
    # A space also stands inside of text: it separates only where nothing else does.
    return counts.count(common) / len(counts) * (0.5 if separator == " " else 1), common


def _decimal(rows: list[list[str]], separator: str) -> str:
    """A comma where numbers have one, and none has a point; 1,234 alone is taken for a thousand."""
    cells = [cell.strip() for row in rows[:500] for cell in row]
    if any(_DECIMAL_POINT.fullmatch(cell) for cell in cells):
        return "."
    commas = [cell for cell in cells if _DECIMAL_COMMA.fullmatch(cell)]
    if not commas or (separator != ";" and all(has_thousands(cell) for cell in commas)):
        return "."
    return ","


def _has_header(first: list[str], sample: list[list[str]], decimal: str, missing: tuple[str, ...]) -> bool | None:
    """Whether the first row names the columns; None where it cannot be told from the beginning of the file alone."""
    cells = [cell.strip() for cell in first]
    twice = {cell for cell in cells if cell and cells.count(cell) > 1}
    if twice and any(cell.strip() in twice for row in sample for cell in row):
        return False  # no header has a name twice, and what stands below as well is a node that is joined to itself
    known = [cell for cell in cells if cell.casefold() in KNOWN]
    if cells[0].casefold() in ("id", "node_id", "nodeid"):
        return True
    # Two such words and a number are an edge with its weight; the names of many columns may be numbers.
    if len(known) > 1 and not (len(cells) == 3 and any(is_number(cell, decimal) for cell in cells)):
        return True
    if not cells[0] and any(cells):
        return True  # the index of a data frame is often without a name, and an id cannot be empty
    numbered = [str(k) for k in range(len(cells))]
    if len(cells) > 3 and not is_number(cells[0], decimal) and cells[1:] in (numbered[:-1], numbered[1:]):
        return True
    if any(is_number(cell, decimal) for cell in cells):
        return False
    for k, cell in enumerate(cells):
        below = [row[k].strip() for row in sample if k < len(row) and row[k].strip() not in missing]
        if cell and cell not in missing and below and all(is_number(other, decimal) for other in below):
            return True
    return None

"""The tables of a study as text: CSV for a spreadsheet, LaTeX for a paper, Markdown for a page."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

from dfnets.atomic import replacing
from dfnets.studies.showing.document import Table, cell

ESCAPED = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}", "~": r"\~{}"}
ESCAPED |= {"\\": r"\textbackslash{}", "^": r"\^{}", "±": r"$\pm$", "–": "--", "<": r"$<$", ">": r"$>$", "|": r"$|$"}


def write(table: Table, folder: Path) -> list[Path]:
    """Writes a table as .csv and .tex; returns their paths."""
    paths = [folder / f"{table.name}.csv", folder / f"{table.name}.tex"]
    for path, text in zip(paths, (as_csv(table), as_latex(table)), strict=True):
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="")
    return paths


def as_csv(table: Table) -> str:
    """Numbers to four decimals, a gap as nothing.

    >>> print(as_csv(Table("t", "T", ["a", "b"], [["x", 1 / 3], ["y", None]])), end="")
    a,b
    x,0.3333
    y,
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([[_number(value) for value in row] for row in table.rows])
    return text.getvalue()


def read_csv(path: Path, note: str = "") -> Table:
    """A table that :func:`as_csv` wrote; its title is its name."""
    with path.open(encoding="utf-8", newline="") as file:
        columns, *rows = list(csv.reader(file))
    return Table(path.stem, path.stem, columns, rows, note)


def as_markdown(table: Table) -> str:
    """The rows for a page, numbers to two decimals, and the note below them.

    A table gives the same text whether it was just made or read from its CSV file.

    >>> print(as_markdown(Table("t", "T", ["a", "b"], [["x|y", 1 / 3], ["z", None]], "Note.")))
    | a | b |
    |---|---|
    | x\\|y | 0.33 |
    | z | – |
    <BLANKLINE>
    Note.
    """
    head = "| " + " | ".join(table.columns) + " |"
    lines = [head, "|" + "---|" * len(table.columns)]
    lines += ["| " + " | ".join(_markdown_cell(value) for value in row) + " |" for row in table.rows]
    return "\n".join([*lines, "", table.note] if table.note else lines)


def _markdown_cell(value: Any) -> str:
    text = str(_number(value)) if value is not None else ""
    if re.fullmatch(r"-?\d+\.\d+(e-?\d+)?|-?\d(\.\d+)?e-\d+", text):
        text = cell(float(text))
    return text.replace("|", "\\|") or cell(None)


def as_latex(table: Table) -> str:
    r"""A tabular with its caption.

    >>> print(as_latex(Table("t", "50 %", ["a"], [[0.5]])).splitlines()[1])
    \caption{50 \%}
    """
    head, *rows = [
        " & ".join(_escaped(cell(value)) for value in row) + r" \\" for row in ([*table.columns], *table.rows)
    ]
    lines = [
        r"\begin{table}",
        rf"\caption{{{_escaped(table.title)}}}",
        rf"\begin{{tabular}}{{{'l' * len(table.columns)}}}",
    ]
    lines += [r"\hline", head, r"\hline", *rows, r"\hline", r"\end{tabular}"]
    if table.note:
        lines.append(rf"\par {_escaped(table.note)}")
    return "\n".join([*lines, r"\end{table}", ""])


def _number(value: Any) -> Any:
    if isinstance(value, float):
        return "" if value - value != 0 else f"{value:.4f}" if abs(value) >= 1e-3 or value == 0 else f"{value:.4g}"
    return value


def _escaped(text: str) -> str:
    return "".join(ESCAPED.get(letter, letter) for letter in text)

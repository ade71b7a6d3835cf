"""The tables of a study as files: CSV for a spreadsheet, LaTeX for a paper."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from dfnets.atomic import replacing
from dfnets.studies.shown import Table, cell

ESCAPED = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}", "~": r"\~{}"}
ESCAPED |= {"\\": r"\textbackslash{}", "^": r"\^{}", "±": r"$\pm$", "–": "--", "<": r"$<$", ">": r"$>$", "|": r"$|$"}


def write(table: Table, folder: Path) -> list[Path]:
    """A table as .csv and .tex; where they are."""
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

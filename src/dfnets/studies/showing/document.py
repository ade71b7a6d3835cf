"""The parts of a report as data: text, tables and figures, drawn elsewhere for the screen, for print and as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Table:
    """Rows of words and numbers; None is a gap.

    Attributes:
        name: of its files.
        note: what its numbers depend on.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""

    def find(self, **wanted: Any) -> list[dict[str, Any]]:
        """The rows whose columns have these values, each as a dictionary.

        >>> Table("t", "T", ["model", "mean"], [["gcn", 81.5], ["gat", 83.0]]).find(model="gat")
        [{'model': 'gat', 'mean': 83.0}]
        """
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


@dataclass(frozen=True)
class Series:
    """A line, points or bars; ``error`` is drawn as a bar about each y, ``classes`` colour points one by one."""

    name: str
    x: Sequence[Any]
    y: Sequence[float]
    error: Sequence[float] | None = None
    kind: Literal["line", "points", "bar"] = "line"
    classes: Sequence[int] | None = None


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    series: Sequence[Series]
    x: str = ""
    y: str = ""
    log: bool = False
    ticks: bool = True


@dataclass(frozen=True)
class Figure:
    """Panels side by side."""

    name: str
    title: str
    panels: Sequence[Panel] = field(default_factory=tuple)
    note: str = ""


Part = Text | Table | Figure


def cell(value: Any, gap: str = "–") -> str:
    """A value of a table for a reader.

    >>> [cell(v) for v in (81.234, None, 3, "gcn", float("inf"))]
    ['81.23', '–', '3', 'gcn', '–']
    """
    if value is None or (isinstance(value, float) and value - value != 0):
        return gap
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) >= 0.1 or value == 0 else f"{value:.3g}"
    return str(value)

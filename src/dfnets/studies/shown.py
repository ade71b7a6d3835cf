"""What a study shows, as data: the report draws it for the screen, for print, and for a spreadsheet."""

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

"""What several commands share: speaking to a person, checking where a result goes, reading a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console

from dfnets import atomic
from dfnets.graph import Graph
from dfnets.terminal import cell, plain

if TYPE_CHECKING:
    import pandas

console = Console()

Force = Annotated[bool, typer.Option("--force", help="Replace files that exist already.")]


def say(text: object, *, to: Console | None = None) -> None:
    """Prints a text as it is: no markup, no colours, no line breaks of our own."""
    (to or console).print(plain(text), markup=False, highlight=False, soft_wrap=True, emoji=False)


def without_formulas(frame: pandas.DataFrame) -> pandas.DataFrame:
    """A table whose texts a spreadsheet shows and does not run: ``=1+1`` becomes ``'=1+1``, in headings too."""

    def safe(value: Any) -> Any:
        return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value

    return frame.map(safe).rename(columns=safe)


def show(frame: pandas.DataFrame, rows: int = 20, width: int = 100) -> None:
    """Prints the first rows of a table, and as many of its columns as fit; says how many there are besides."""
    from rich.table import Table

    texts = frame.head(rows).map(lambda value: f"{value:.3f}" if isinstance(value, float) else plain(value))
    sizes = [max([len(plain(name)), *map(len, texts[name])]) + 3 for name in texts.columns]
    fitting = max(1, int(np.searchsorted(np.cumsum(sizes), min(width, console.width) - 1, side="right")))
    table = Table()
    for name in texts.columns[:fitting]:
        table.add_column(cell(name), justify="right" if frame[name].dtype.kind == "f" else "left")
    for row in texts.iloc[:, :fitting].itertuples(index=False):
        table.add_row(*map(cell, row))
    console.print(table)
    more = [f"{count} more {what}" for count, what in ((len(frame) - rows, "rows"), (len(sizes) - fitting, "columns"))
            if count > 0]  # fmt: skip
    if more:
        say(f"and {' and '.join(more)}")


def check_outputs(*paths: Path | None, figure: Path | None = None, force: bool) -> None:
    """Raises before the work where a result could not be written after it; None is an output that nobody asked for."""
    if figure is not None:
        from dfnets.plots import check_figure

        check_figure(figure)
    given = [path for path in (*paths, figure) if path is not None]
    for path in given:
        if given.count(path) > 1:
            raise ValueError(f"{path} is named for two results: give each a file of its own")
        atomic.check_file(path, force=force)


def read_graph(source: str) -> Graph:
    """A graph from a file of edges, or a dataset by name."""
    from dfnets import datasets

    if Path(source).exists():
        return datasets.files.read_graph(edges=source)
    return datasets.load(source)

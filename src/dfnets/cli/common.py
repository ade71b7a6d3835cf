"""What several commands share: speaking to a person, checking where a result goes, reading a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from dfnets import atomic
from dfnets.graph import Graph
from dfnets.terminal import plain

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

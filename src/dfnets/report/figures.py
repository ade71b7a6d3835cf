"""The figures of a study: panel by panel for the page, side by side for print."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dfnets.atomic import replacing
from dfnets.plots import COLOURS
from dfnets.plots.style import new_figure
from dfnets.studies.showing.document import Figure, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

PAPER = "the paper"
# Of the distance between two values of x: what series with error bars are spread over, lest the bars hide each other.
SPREAD = 0.3


def for_page(panel: Panel) -> Sheet:
    """A panel as a figure of its own, with its legend under it."""
    sheet = new_figure(5.4, 4.6)
    axes = sheet.subplots()
    names = dict.fromkeys(series.name for series in panel.series)
    _draw(axes, panel, dict(zip(names, itertools.cycle(COLOURS))))
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        sheet.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return sheet


def for_print(figure: Figure, folder: Path) -> list[Path]:
    """Writes a figure as PNG and PDF; returns their paths."""
    sheet = new_figure(4.6 * max(1, len(figure.panels)), 4.0)
    if figure.panels:
        handles: dict[str, Any] = {}
        # By name: where a series is missing from one panel, the others keep their colours.
        names = dict.fromkeys(series.name for panel in figure.panels for series in panel.series)
        colours = dict(zip(names, itertools.cycle(COLOURS)))
        for axes, panel in zip(sheet.subplots(1, len(figure.panels), squeeze=False)[0], figure.panels, strict=True):
            _draw(axes, panel, colours)
            handles |= {name: handle for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)}
        if handles:
            # One for all panels, beside the data and not on them.
            columns = min(len(handles), 3 * len(figure.panels))
            sheet.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=columns, fontsize=8)
    paths = [folder / f"{figure.name}.{ending}" for ending in ("png", "pdf")]
    for path in paths:
        with replacing(path) as temporary:
            # No date in the file: the same figure is the same bytes.
            sheet.savefig(
                temporary,
                format=path.suffix[1:],
                dpi=150,
                metadata=None if path.suffix == ".png" else {"CreationDate": None},
            )
    return paths


def _draw(axes: Axes, panel: Panel, colours: Mapping[str, str]) -> None:
    names = list(dict.fromkeys(x for series in panel.series for x in series.x if isinstance(x, str)))
    for i, series in enumerate(panel.series):
        colour = colours[series.name]
        x = [names.index(value) if isinstance(value, str) else value for value in series.x]
        if series.classes is not None:
            colours_of = [COLOURS[c % len(COLOURS)] for c in series.classes]
            # Thousands of points are smaller as one image than as so many shapes.
            axes.scatter(x, series.y, s=2, c=colours_of, linewidths=0, rasterized=True)
        elif series.kind == "bar":
            step = 0.9 * (x[1] - x[0]) if len(x) > 1 else 0.9
            axes.bar(x, series.y, step, yerr=series.error, color=colour, alpha=0.8, label=series.name)
        else:
            if series.error is not None and not panel.log:
                x = _aside(x, i, len(panel.series))
            line = "-" if series.kind == "line" else "none"
            # What the paper prints has a mark of its own; the legend shows it.
            mark: dict[str, Any] = (
                {"marker": "D", "ms": 6, "mfc": "none"} if series.name == PAPER else {"marker": "o", "ms": 4}
            )
            axes.errorbar(x, series.y, series.error, color=colour, lw=1.2, linestyle=line, label=series.name, **mark)
    if names:
        axes.set_xticks(range(len(names)), names)
        if max(map(len, names)) > 6:
            axes.tick_params(axis="x", labelrotation=90, labelsize=7)
    if panel.log:
        axes.set_xscale("log")
        axes.set_yscale("log")
    if not panel.ticks:
        axes.set(xticks=[], yticks=[])
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)


def _aside(x: Sequence[float], i: int, count: int) -> list[float]:
    """The values of series i of ``count``, a little to one side."""
    gap = min((b - a for a, b in itertools.pairwise(sorted(set(x)))), default=1.0)
    return [value + SPREAD * gap * ((i + 0.5) / count - 0.5) for value in x]

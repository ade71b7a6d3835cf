"""The figures of a study, drawn twice: by Plotly for the page, by Matplotlib for print."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dfnets.atomic import replacing
from dfnets.plots import BLUE, GREEN, GREY, ORANGE, RED
from dfnets.studies.showing.document import Figure, Panel

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from matplotlib.axes import Axes

# Okabe and Ito's palette, but for its yellow, which is hard to see on paper.
COLOURS = (BLUE, ORANGE, GREEN, RED, "#CC79A7", "#56B4E9", "#000000", GREY)
# Of the distance between two values of x: what series with error bars are spread over, lest the bars hide each other.
SPREAD = 0.3


def for_page(panel: Panel) -> go.Figure:
    """A panel as a Plotly figure."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for series, colour in zip(panel.series, itertools.cycle(COLOURS)):
        error = None if series.error is None else {"type": "data", "array": list(series.error), "thickness": 1}
        common: dict[str, Any] = {"x": list(series.x), "y": list(series.y), "name": series.name}
        if series.classes is not None:
            marker = {"size": 3, "color": [COLOURS[c % len(COLOURS)] for c in series.classes]}
            figure.add_scatter(**common, mode="markers", marker=marker, showlegend=False)
        elif series.kind == "bar":
            figure.add_bar(**common, error_y=error, marker_color=colour, opacity=0.8)
        else:
            mode = "lines+markers" if series.kind == "line" else "markers"
            style = {"color": colour, "size": 7}
            figure.add_scatter(**common, error_y=error, mode=mode, marker=style, line={"color": colour})
    scale = "log" if panel.log else "-"
    figure.update_xaxes(title=panel.x, showticklabels=panel.ticks, type=scale)
    figure.update_yaxes(title=panel.y, showticklabels=panel.ticks, type=scale)
    figure.update_layout(title={"text": panel.title, "font": {"size": 14}})
    return figure


def for_print(figure: Figure, folder: Path) -> list[Path]:
    """Writes a figure as PNG and PDF; returns their paths."""
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(figsize=(4.6 * max(1, len(figure.panels)), 4.0), layout="constrained")
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
            axes.scatter(x, series.y, s=2, c=[COLOURS[c % len(COLOURS)] for c in series.classes], linewidths=0)
        elif series.kind == "bar":
            step = 0.9 * (x[1] - x[0]) if len(x) > 1 else 0.9
            axes.bar(x, series.y, step, yerr=series.error, color=colour, alpha=0.8, label=series.name)
        else:
            if series.error is not None and not panel.log:
                x = _aside(x, i, len(panel.series))
            line = "-" if series.kind == "line" else "none"
            axes.errorbar(
                x, series.y, series.error, color=colour, marker="o", ms=4, lw=1.2, linestyle=line, label=series.name
            )
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

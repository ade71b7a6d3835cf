"""What all pictures share: colours, a legend that covers nothing, files and SVG."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dfnets.atomic import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Place = str | os.PathLike[str] | None

# Okabe and Ito's palette: apart for every kind of colour vision. Its yellow is left out, which is hard to see on paper.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#999999"
COLOURS = (BLUE, ORANGE, GREEN, RED, "#CC79A7", "#56B4E9", "#000000", GREY)
# The colour of letters and axes. In an SVG for a page it becomes the page's own, light or dark.
INK = "#010203"


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of that size in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def legend_below(axes: Axes, columns: int = 2) -> None:
    """A legend under the axes, where it hides no line."""
    handles, names = axes.get_legend_handles_labels()
    if handles:
        axes.legend(
            handles, names, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=columns, fontsize=8, frameon=False
        )


def finished(figure: Figure, path: Place) -> Figure:
    """The figure, written to ``path`` where one is given."""
    if path is not None:
        save_figure(figure, path)
    return figure


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Writes a figure in the format that the ending of ``path`` names; an existing file is replaced whole or not."""
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150, format=check_figure(path))


def check_figure(path: str | os.PathLike[str]) -> str:
    """The format that the ending of a figure's file names, or an error that lists those that there are."""
    from matplotlib.figure import Figure

    known = Figure().canvas.get_supported_filetypes()
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in known:
        raise ValueError(f"{path}: a figure cannot be written as {ending!r}; its name ends in .{', .'.join(known)}")
    return ending


def as_svg(figure: Figure, alt: str, prefix: str = "figure") -> str:
    """The figure as an SVG element for a page: letters stay letters, and take the page's colour, light or dark.

    Args:
        alt: what the figure shows, in words, for those who do not see it.
        prefix: makes the ids of the parts differ from those of another figure on the same page.
    """
    from html import escape

    import matplotlib

    file = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": prefix}):
        _recolour(figure)
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*" height="[^"]*"', r"\1", re.sub(r'(height|width)="[\d.]+pt" ', "", text))
    # Ids such as "axes_1" are counted from the start in each figure.
    for mark in (' id="', "url(#", 'href="#'):
        text = text.replace(mark, f"{mark}{prefix}-")
    text = text.replace(INK, "currentColor").replace("<svg ", f'<svg role="img" aria-label="{escape(alt)}" ', 1)
    return re.sub(r"font(-family)?: [^;\"]*'DejaVu Sans'[^;\"]*", _font, text)


def _font(match: re.Match[str]) -> str:
    size = re.search(r"[\d.]+px", match.group(0))
    return f"font: {size.group(0)} system-ui, sans-serif" if size else "font-family: system-ui, sans-serif"


def _recolour(figure: Figure) -> None:
    """Whatever is black becomes ink: letters, axes, ticks and lines."""
    from matplotlib.colors import to_hex
    from matplotlib.text import Text

    def black(colour: Any) -> bool:
        return isinstance(colour, str | tuple) and to_hex(colour) == "#000000"

    for artist in figure.findobj():
        if isinstance(artist, Text) and black(artist.get_color()):
            artist.set_color(INK)
    for axes in figure.axes:
        for spine in axes.spines.values():
            spine.set_edgecolor(INK)
        axes.tick_params(colors=INK, which="both")
        for line in axes.lines:
            if black(line.get_color()):
                line.set_color(INK)

"""Certificates and filters as a person reads them: text for a terminal, HTML for a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dfnets.filters.base import Filter
    from dfnets.shift import Shift

Row = tuple[str, str]
Section = tuple[str, list[Row]]


def as_text(title: str, sections: list[Section]) -> str:
    """Two columns under a title, with a heading for each section."""
    width = max((len(name) for _, rows in sections for name, _ in rows), default=0)
    lines = [title]
    for heading, rows in sections:
        lines += ["", heading]
        lines += [f"  {name:<{width}}  {value}" for name, value in rows]
    return "\n".join(lines)


def as_html(title: str, sections: list[Section]) -> str:
    """The same as an HTML table; every word is escaped."""
    body = []
    for heading, rows in sections:
        body.append(f'<tr><th colspan="2" style="text-align:left">{html.escape(heading)}</th></tr>')
        cells = (f'<td style="text-align:left">{html.escape(cell)}</td>' for row in rows for cell in row)
        body += [f"<tr>{name}{value}</tr>" for name, value in zip(cells, cells, strict=True)]
    caption = f'<caption style="text-align:left">{html.escape(title)}</caption>'
    return f"<table>{caption}<tbody>{''.join(body)}</tbody></table>"


def filter_html(f: Filter) -> str:
    """A filter's description and a small drawing of its response, with its target dashed under it."""
    low, high = f.interval
    rows = [("frequencies", f"[{low:g}, {high:g}]"), ("wanted", "not known" if f.target is None else str(f.target))]
    picture = _curves(f) if low < high else ""
    return as_html(repr(f), [("filter", rows)]) + picture


def shift_html(shift: Shift) -> str:
    """A shift's size and interval as a small table."""
    rows = [
        ("nodes", f"{shift.num_nodes:,}"),
        ("entries off the diagonal", f"{len(shift.indices):,}"),
        ("frequencies", f"[{shift.interval[0]:.6g}, {shift.interval[1]:.6g}], {shift.certainty}"),
        ("centre", f"{shift.centre:.6g}"),
    ]
    return as_html("Shift", [("L~ = L^ - centre I", rows)])


def _curves(f: Filter) -> str:
    """An SVG of 360 by 120 pixels."""
    grid = np.linspace(*f.interval, 181)
    with np.errstate(all="ignore"):
        gains = np.clip(np.nan_to_num(f.response(grid)), -2, 4)
    target = None if f.target is None else np.clip(f.target(grid), -2, 4)
    seen = gains if target is None else np.concatenate([gains, target])
    bottom, top = min(0.0, float(seen.min())), max(1.0, float(seen.max()))
    x = np.linspace(4, 356, len(grid))

    def line(values: np.ndarray, style: str) -> str:
        y = 116 - 112 * (values - bottom) / (top - bottom)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        return f'<polyline points="{points}" fill="none" {style}/>'

    dashed = "" if target is None else line(target, 'stroke="#E69F00" stroke-dasharray="4 3"')
    solid = line(gains, 'stroke="#0072B2" stroke-width="2"')
    return f'<svg width="360" height="120" role="img" aria-label="response of the filter">{dashed}{solid}</svg>'

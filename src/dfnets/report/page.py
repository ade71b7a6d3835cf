"""One self-contained HTML page: headings, paragraphs, tables and figures, in the order they are added."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dfnets.atomic import replacing
from dfnets.plots import as_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What a verdict looks like: never by colour alone.
SIGNS = {"holds": ("good", "✓"), "refuted": ("bad", "✗"), "not reproduced": ("bad", "✗"), "undecided": ("open", "?")}
MISSING = ("not run", "not measured")


class Page:
    """A report in the making. Text is escaped; figures are drawn into the file, so that it works without a network.

    >>> page = Page("A report", "What it is about.")
    >>> page.heading("Accuracy")
    >>> page.table(["model", "accuracy"], [["DFNet", "97.1 ± 0.2"]])
    """

    def __init__(self, title: str, lead: str) -> None:
        self.title, self.lead = title, lead
        self.parts: list[dict[str, Any]] = []
        self._figures = 0

    def heading(self, text: str) -> None:
        """A section with this title begins; the page's list of contents names it."""
        self.parts.append({"kind": "heading", "text": text})

    def subheading(self, text: str) -> None:
        """A smaller title."""
        self.parts.append({"kind": "subheading", "text": text})

    def text(self, text: str) -> None:
        """A paragraph."""
        self.parts.append({"kind": "text", "text": text})

    def html(self, content: str) -> None:
        """A piece of HTML as it is: whoever makes it escapes what is in it."""
        self.parts.append({"kind": "html", "content": content})

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], *, folded: bool = False) -> None:
        """A table; a folded one shows its rows when it is opened or printed.

        A column called "verdict" gets signs and colours. Rows of which nothing was measured are shown on request.
        """
        verdict = list(columns).index("verdict") if "verdict" in columns else None
        self.parts.append(
            {
                "kind": "table",
                "columns": list(columns),
                "rows": [
                    {
                        "cells": [_cell(value, k == verdict) for k, value in enumerate(row)],
                        "missing": _missing(row, verdict),
                    }
                    for row in rows
                ],
                "folded": folded,
            }
        )

    def figure(self, figure: Figure, alt: str = "", caption: str = "") -> None:
        """A Matplotlib figure, with what it shows in words for those who do not see it, and a caption."""
        self.parts.append({"kind": "figures", "all": [self._drawn(figure, alt, caption)], "wide": True})

    def figures(self, figures: Iterable[Figure]) -> None:
        """Figures side by side where there is room, below each other where there is not."""
        self.parts.append(
            {"kind": "figures", "all": [self._drawn(figure, "", "") for figure in figures], "wide": False}
        )

    def _drawn(self, figure: Figure, alt: str, caption: str) -> dict[str, str]:
        self._figures += 1
        titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
        name = f"figure-{self._figures}"
        return {"id": name, "svg": as_svg(figure, alt or "; ".join(titles) or "figure", name), "caption": caption}

    def write(self, path: str | os.PathLike[str]) -> Path:
        """The page as one file; an existing one is replaced whole or not at all."""
        import jinja2

        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("dfnets.report", "."), autoescape=True, undefined=jinja2.StrictUndefined
        )
        headings = [part["text"] for part in self.parts if part["kind"] == "heading"]
        content = environment.get_template("page.html").render(
            title=self.title, lead=self.lead, parts=self.parts, headings=headings
        )
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_text(content, encoding="utf-8")
        return path


def _cell(value: object, verdict: bool) -> dict[str, str]:
    text = str(value)
    # "holds under protocol authors" is a kind of "holds".
    kind, sign = next((look for word, look in SIGNS.items() if verdict and text.startswith(word)), ("", ""))
    return {"text": text, "kind": kind, "sign": sign}


def _missing(row: Sequence[object], verdict: int | None) -> bool:
    """Whether nothing of a row was measured: its verdict says so, or no cell beside the first has a number of ours."""
    cells = [str(value) for value in row]
    if verdict is not None:
        return cells[verdict] in MISSING
    own = [re.sub(r"\[.*?\]", "", text).strip() for text in cells[1:]]
    return any(text in MISSING for text in own) and not any(re.search(r"\d", text) for text in own)

"""One self-contained HTML page: headings, paragraphs, tables and Plotly figures, in the order they are added."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dfnets.atomic import replacing

if TYPE_CHECKING:
    import plotly.graph_objects as go

FONT = "system-ui, -apple-system, Segoe UI, Roboto, sans-serif"


class Page:
    """A report in the making. Text is escaped; the script of Plotly is part of the file, so it works without a network.

    >>> page = Page("A report", "What it is about.")
    >>> page.heading("Accuracy")
    >>> page.table(["model", "accuracy"], [["DFNet", "97.1 ± 0.2"]])
    """

    def __init__(self, title: str, lead: str) -> None:
        self.title, self.lead = title, lead
        self.parts: list[dict[str, Any]] = []

    def heading(self, text: str) -> None:
        self.parts.append({"kind": "heading", "text": text})

    def subheading(self, text: str) -> None:
        self.parts.append({"kind": "subheading", "text": text})

    def text(self, text: str) -> None:
        self.parts.append({"kind": "text", "text": text})

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], *, folded: bool = False) -> None:
        """A table; a folded one shows its rows when it is opened or printed."""
        self.parts.append(
            {"kind": "table", "columns": list(columns), "rows": [list(row) for row in rows], "folded": folded}
        )

    def figure(self, figure: go.Figure, height: int = 420) -> None:
        self.parts.append({"kind": "figure", "json": self._json(figure, height)})

    def figures(self, figures: Iterable[go.Figure], height: int = 360) -> None:
        """Figures side by side where there is room, below each other where there is not."""
        self.parts.append({"kind": "figures", "all": [self._json(figure, height) for figure in figures]})

    @staticmethod
    def _json(figure: go.Figure, height: int) -> str:
        figure.update_layout(
            template="plotly_white",
            height=height,
            margin={"l": 60, "r": 20, "t": 50, "b": 50},
            font={"family": FONT, "size": 13},
            legend={"orientation": "h", "y": -0.18, "itemsizing": "constant"},
        )
        # "</" would end the script element that carries the figure.
        return figure.to_json().replace("</", "<\\/")

    def write(self, path: str | os.PathLike[str]) -> Path:
        """The page as one file; an existing one is replaced whole or not at all."""
        import jinja2
        from plotly.offline import get_plotlyjs

        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("dfnets.report", "."), autoescape=True, undefined=jinja2.StrictUndefined
        )
        template = environment.get_template("page.html")
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_text(
                template.render(title=self.title, lead=self.lead, parts=self.parts, plotly=get_plotlyjs()),
                encoding="utf-8",
            )
        return path

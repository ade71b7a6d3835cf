"""Figures for print: one legend serves every panel."""

from __future__ import annotations

from dfnets.studies.shown import Figure, Panel, Series
from matplotlib.figure import Figure as Sheet
from matplotlib.legend import Legend

from dfnets.report import figures


def test_a_series_has_one_colour_in_every_panel_and_in_the_legend(tmp_path, monkeypatch) -> None:
    sheets = []
    save = Sheet.savefig
    monkeypatch.setattr(Sheet, "savefig", lambda self, *a, **k: (sheets.append(self), save(self, *a, **k))[1])
    whole = Panel("whole", [Series(name, ["1", "2"], [1.0, 2.0], [0.1, 0.1]) for name in ("gcn", "gat", "dfnet")])
    partial = Panel("partial", [Series(name, ["1", "2"], [1.0, 2.0], [0.1, 0.1]) for name in ("gat", "dfnet")])
    paths = figures.for_print(Figure("two", "Two panels", [partial, whole]), tmp_path)
    assert all(path.stat().st_size > 1000 for path in paths)
    sheet = sheets[0]
    drawn = [
        {container.get_label(): container.lines[0].get_color() for container in axes.containers} for axes in sheet.axes
    ]
    assert drawn[0] == {name: drawn[1][name] for name in ("gat", "dfnet")}
    assert len(set(drawn[1].values())) == 3
    (legend,) = (child for child in sheet.get_children() if isinstance(child, Legend))
    assert sorted(text.get_text() for text in legend.get_texts()) == ["dfnet", "gat", "gcn"]

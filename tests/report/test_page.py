"""The page: whole, self-contained, safe, and drawn by a browser."""

from __future__ import annotations

import re

import browser
import plotly.graph_objects as go

from dfnets.report import Page


def make() -> Page:
    page = Page("A <title>", "About & more")
    page.heading("Numbers")
    page.text("<script>alert(1)</script>")
    page.table(["a", "b"], [["x", 1], ["</table>", 2.5]])
    page.figure(go.Figure(go.Scatter(x=[1, 2], y=[3, 4], name="</script><b>")))
    page.figure(go.Figure(go.Bar(x=["u", "v"], y=[1, 2])))
    page.subheading("Side by side")
    page.figures([go.Figure(go.Bar(x=["u"], y=[height])) for height in (1, 2)])
    page.table(["c"], [["folded"]], folded=True)
    return page


def without_plotly(path) -> str:
    """The page without the first script, which is Plotly's own."""
    return re.sub(r"<script>.*?</script>", "", path.read_text(encoding="utf-8"), count=1, flags=re.S)


def test_text_is_escaped(tmp_path) -> None:
    content = without_plotly(make().write(tmp_path / "page.html"))
    assert "A &lt;title&gt;" in content
    assert "<script>alert" not in content
    assert "&lt;/table&gt;" in content
    assert "</script><b>" not in content


def test_nothing_is_fetched(tmp_path) -> None:
    content = without_plotly(make().write(tmp_path / "page.html"))
    assert "http://" not in content
    assert "https://" not in content
    assert 'src="' not in content


def test_folders_are_made(tmp_path) -> None:
    path = make().write(tmp_path / "a" / "b" / "page.html")
    assert path.exists()
    assert list(path.parent.iterdir()) == [path]


@browser.needed
def test_a_browser_draws_every_figure(tmp_path) -> None:
    dom, log = browser.drawn(make().write(tmp_path / "page.html"), tmp_path / "profile")
    assert "CONSOLE" not in log
    figures = re.findall(r'<div class="figure[^"]*" id="figure-[\d-]+".*?(?=<div class="figure|</body>)', dom, re.S)
    assert len(figures) == 4
    assert all("main-svg" in figure for figure in figures)
    assert len(re.findall(r"<tr>", dom)) == 5

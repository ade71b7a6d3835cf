"""The page: whole, self-contained, safe, and drawn by a browser."""

from __future__ import annotations

import browser
import pytest
from matplotlib.figure import Figure

from dfnets.report import Page


def bars(*heights: float) -> Figure:
    figure = Figure()
    figure.subplots().bar(range(len(heights)), heights)
    figure.axes[0].set_title("Bars & </svg>")
    return figure


def make() -> Page:
    page = Page("A <title>", "About & more")
    page.heading("Numbers")
    page.text("<script>alert(1)</script>")
    page.table(["a", "b"], [["x", 1], ["</table>", 2.5]])
    page.figure(bars(1, 2), "Two bars", "A caption")
    page.subheading("Side by side")
    page.figures([bars(height) for height in (1, 2)])
    page.table(["c"], [["folded"]], folded=True)
    page.heading("Claims")
    rows = [["A", "holds"], ["B", "refuted"], ["C", "undecided"], ["D", "not measured"]]
    page.table(["claim", "verdict"], rows)
    page.table(["model", "cora"], [["gcn", "81.5 ± 0.1"], ["gat", "not run [83.0]"], ["mlp", "not run"]])
    return page


def test_text_is_escaped(tmp_path) -> None:
    content = make().write(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "A &lt;title&gt;" in content
    assert "<script>alert" not in content
    assert "&lt;/table&gt;" in content
    assert "Bars &amp; &lt;/svg&gt;" in content


def test_nothing_is_fetched_and_it_is_small(tmp_path) -> None:
    path = make().write(tmp_path / "page.html")
    content = path.read_text(encoding="utf-8").replace("http://www.w3.org/", "")
    assert "http://" not in content
    assert "https://" not in content
    assert 'src="' not in content
    assert path.stat().st_size < 200_000


def test_folders_are_made(tmp_path) -> None:
    path = make().write(tmp_path / "a" / "b" / "page.html")
    assert path.exists()
    assert list(path.parent.iterdir()) == [path]


def test_contents_captions_and_signs(tmp_path) -> None:
    content = make().write(tmp_path / "page.html").read_text(encoding="utf-8")
    assert '<a href="#section-2">Claims</a>' in content
    assert "<figcaption>A caption</figcaption>" in content
    assert 'aria-label="Two bars"' in content
    assert '<td class="good"><span aria-hidden="true">✓ </span>holds</td>' in content
    assert '<td class="bad"><span aria-hidden="true">✗ </span>refuted</td>' in content


@browser.driver_needed
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_a_browser_draws_it(tmp_path, width: int, dark: bool) -> None:
    from selenium.webdriver.common.by import By

    with browser.driven(width, dark=dark) as driver:
        driver.get(make().write(tmp_path / "page.html").as_uri())
        drawings = driver.find_elements(By.CSS_SELECTOR, ".figure svg")
        assert len(drawings) == 3
        # Side by side, each fits its cell; one that stands alone may be scrolled.
        cells = driver.find_elements(By.CSS_SELECTOR, ".figures:not(.alone) figure")
        for drawing, cell in zip(drawings[1:], cells, strict=True):
            assert 100 < drawing.size["width"] <= cell.size["width"]
        # What was not run waits until it is asked for.
        assert [row.is_displayed() for row in driver.find_elements(By.CSS_SELECTOR, "tr.missing")] == [False] * 3
        driver.find_elements(By.CSS_SELECTOR, ".part input")[0].click()
        assert driver.find_elements(By.CSS_SELECTOR, "tr.missing")[0].is_displayed()
        assert driver.execute_script("return document.documentElement.scrollWidth - innerWidth") <= 0
        assert browser.accessibility(driver) == []
        assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []

"""The site builds without a warning, and its pages fetch nothing from anywhere else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import browser
import pytest

ROOT = Path(__file__).parents[2]
FETCHED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}


# The elements that pages are made of: what else stands in angle brackets was text, and is lost to the reader.
ELEMENTS = (
    "a abbr article aside audio b base blockquote body br button circle code dd defs del details dialog div dl dt em "
    "figcaption figure footer form g h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins label li line link "
    "main math meta nav noscript ol option p path picture pre q rect s samp script section select small source span "
    "strong style sub summary sup svg table tbody td text textarea tfoot th thead time title tr u ul use var"
)


class Fetches(HTMLParser):
    """What a browser loads with a page, other than through a click."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.unknown: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.unknown |= {tag}.difference(ELEMENTS.split())
        attributes = dict(attrs)
        if tag in FETCHED and attributes.get("rel") != "canonical":
            self.found.append(attributes.get(FETCHED[tag]) or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    # The variable silences an advertisement of the theme.
    # Code in pages is run by `make docs`, and by tests of its own here.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "DOCS_RUN": "0"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    return folder


def test_every_page_is_there_and_fetches_nothing(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert pages <= {path.relative_to(site) for path in site.rglob("*.html")}
    for page in site.rglob("*.html"):
        fetches = Fetches()
        fetches.feed(page.read_text())
        outside = [address for address in fetches.found if re.match(r"(https?:)?//", address)]
        assert not outside, f"{page.relative_to(site)} loads {outside}"
        assert not fetches.unknown, f"{page.relative_to(site)} loses text that looks like elements: {fetches.unknown}"


def test_docstrings_come_out_as_markdown(site: Path) -> None:
    for page in (site / "reference").glob("*.html"):
        text = page.read_text()
        assert "::: dfnets" not in text, f"{page.name}: a module was not rendered"
        assert not re.search(r":(attr|class|data|func|meth|mod):", text), f"{page.name}: a reference was not rendered"
        assert "<blockquote>" not in text, f"{page.name}: an example was taken for a quotation"
    assert 'href="graph.html#dfnets.Graph"' in (site / "reference" / "estimators.html").read_text()


def test_every_command_and_every_setting_is_on_its_page(site: Path) -> None:
    import typer

    from dfnets import models
    from dfnets.cli import app

    commands = (site / "command-line.html").read_text()
    for name in typer.main.get_command(app).commands:  # type: ignore[attr-defined]
        assert f"dfnets {name}" in commands
    assert "--gamma" in commands
    settings = (site / "reference" / "configs.html").read_text()
    for name in models.names():
        assert models.get(name).Config.__qualname__ in settings
    pictures = (site / "reference" / "plots.html").read_text()
    assert "signal_figure" in pictures


@browser.driver_needed
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_pages_are_readable_by_everyone(site: Path, width: int, dark: bool) -> None:
    """Opened from the disk: equations are drawn, nothing is cut off, and axe finds nothing serious."""
    with browser.driven(width, dark=dark) as driver:
        for page in ("index.html", "filters.html", "reference/filters.html"):
            driver.get((site / page).as_uri())
            assert driver.execute_script("return document.documentElement.scrollWidth - innerWidth") <= 0, page
            assert browser.accessibility(driver) == [], page
            assert all(url.startswith(("file:", "data:", "blob:")) for url in browser.requests(driver))
        driver.get((site / "filters.html").as_uri())
        assert len(driver.execute_script("return document.querySelectorAll('.katex-display .katex-html')")) >= 3


@browser.driver_needed
def test_the_search_works_from_a_disk(site: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    with browser.driven() as driver:
        driver.get((site / "index.html").as_uri())
        driver.find_element(By.CSS_SELECTOR, "input.md-search__input").send_keys("certificate")
        WebDriverWait(driver, 600).until(lambda d: d.find_elements(By.CSS_SELECTOR, ".md-search-result__item"))

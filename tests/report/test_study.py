"""The report of the studies: whole, drawn by a browser, with every table and figure as files."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import browser
import pytest
from studies.synthetic import measured, runs

from dfnets.report.study import StudyReport
from dfnets.run_file import read_runs
from dfnets.store import Store
from dfnets.studies.planning import Plan
from dfnets.studies.showing import embeddings
from dfnets.studies.showing.document import Figure, Table


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A first look in which everything was run."""
    store = Store(tmp_path_factory.mktemp("report") / "s.db")
    rows = []
    for each in Plan(quick=True).studies.values():
        for group in each.groups():
            if group.measure == "complexity":
                size = float(group.overrides["edges"])
                rows += measured(group, products=43, seconds=size / 1e9, working=int(size), held=int(8 * size))
            elif group.measure == "stability":
                numbers = {"bound": [10, 20, 30], "iterations": [9, 19, 29], "spectrum": [0.5, 0.5]}
                numbers |= {"frequencies": [0.5, 1.5], "feedback": [0.1, -0.2], "recursion": 150, "cheapest": 30}
                numbers |= dict.fromkeys(("contraction", "universal", "radius", "error", "rms"), 0.5)
                numbers |= dict.fromkeys(("nodes", "edges", "classes", "features"), 7)
                rows += measured(group, **numbers, lmax=1.5, ritz=1.4, proved=1.9, method="chebyshev")
            elif group.measure == "embedding":
                points = [[float(i), float(i % 5)] for i in range(20)]
                scores = dict.fromkeys(embeddings.MEASURES, 0.4)
                rows += measured(group, points=points, labels=[i % 3 for i in range(20)], **scores)
            else:
                rows += runs(group, 80.0)
    store.add(rows)
    return store


@pytest.fixture(scope="module")
def report(store: Store) -> StudyReport:
    made = StudyReport(store.path)
    made.write_tables(store.path.parent / "results")
    return made


@pytest.fixture(scope="module")
def page(store: Store, report: StudyReport) -> Path:
    return report.write(store.path.parent / "out")


def parts(report: StudyReport, kind: type) -> list:
    return [part for own in report.parts.values() for part in own if isinstance(part, kind)]


def test_every_table_and_figure_is_a_file(store: Store, report: StudyReport, page: Path) -> None:
    for table in parts(report, Table):
        for ending in ("csv", "tex"):
            assert (page.parent / "tables" / f"{table.name}.{ending}").stat().st_size > 0
        lines = (store.path.parent / "results" / f"{table.name}.csv").read_text().splitlines()
        assert len(lines) == 1 + len(table.rows)
    names = [part.name for part in parts(report, Table) + parts(report, Figure)]
    for figure in parts(report, Figure):
        for ending in ("png", "pdf"):
            assert (page.parent / "figures" / f"{figure.name}.{ending}").stat().st_size > 0
    assert len(names) == len({(name, i < len(parts(report, Table))) for i, name in enumerate(names)})
    about = json.loads((store.path.parent / "results" / "about.json").read_text())
    assert about["command"] == "dfnets reproduce all --quick"
    assert about["machines"] == [f"a machine ({about['runs']} runs)"]
    assert about["runs"] == about["planned runs"] == len(store)
    assert about["of older code"] == 0


def test_a_part_of_the_full_plan_is_reported_as_that(tmp_path: Path) -> None:
    """The committed runs: some are those of the first look too, and a larger share of it than all are of the plan."""
    with Store(tmp_path / "s.db") as some:
        some.add(read_runs(Path(__file__).parents[2] / "results" / "runs.jsonl.gz"))
    assert not StudyReport(tmp_path / "s.db").results.plan.quick


def test_the_page_says_what_it_is_about(page: Path) -> None:
    content = re.sub(r"<script>.*?</script>", "", page.read_text(encoding="utf-8"), count=1, flags=re.S)
    assert "https://" not in content
    assert "A first look (--quick)" in content
    for each in Plan().studies.values():
        assert f"<h2>{html.escape(each.title)}</h2>".replace("&#x27;", "&#39;") in content
    assert "a machine" in content
    assert Plan().stability.left_out in content
    assert Plan().complexity.left_out in content


@browser.needed
def test_a_browser_draws_it_all(report: StudyReport, page: Path, tmp_path: Path) -> None:
    dom, log = browser.drawn(page, tmp_path / "profile")
    assert "CONSOLE" not in log
    figures = re.findall(r'<div class="figure[^"]*" id="figure-[\d-]+".*?(?=<div class="figure|</body>)', dom, re.S)
    assert len(figures) == sum(len(figure.panels) for figure in parts(report, Figure))
    assert all("<svg" in figure for figure in figures)
    bodies = re.findall(r"<tbody>(.*?)</tbody>", dom, re.S)
    rows = [len(re.findall("<tr[ >]", body)) for body in bodies]
    assert rows[:-1] == [len(table.rows) for table in parts(report, Table)]


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="`dfnets reproduce` makes it"):
        StudyReport(tmp_path / "s.db")

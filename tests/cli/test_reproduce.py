"""`dfnets reproduce` and `dfnets report`, on a study of one small group."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
import typer
from studies import tiny
from typer.testing import CliRunner

from dfnets import studies
from dfnets.cli.reproduce import report_command, reproduce_command
from dfnets.store import Store
from dfnets.studies.planning import Group, Plan, StudyPlan
from dfnets.studies.showing.document import Table, Text

app = typer.Typer()
app.command("reproduce")(reproduce_command)
app.command("report")(report_command)


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


class TinyStudy(StudyPlan):
    """One small group, or two."""

    name: ClassVar = "tiny"
    title: ClassVar = "A small study"

    def groups(self) -> list[Group]:
        return tiny.groups()[: 1 if self.quick else 2]


class TinyPlan(Plan):
    """Nothing but the small study."""

    @property
    def studies(self) -> dict[str, StudyPlan]:
        return {"tiny": TinyStudy(self.quick)}


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_thread: None) -> None:  # noqa: ARG001
    tiny.write_data(tmp_path)
    monkeypatch.setenv("DFNETS_DATA", str(tmp_path))
    monkeypatch.setattr(studies, "Plan", TinyPlan)
    monkeypatch.setattr("dfnets.report.study.Plan", TinyPlan)
    numbers = Table("numbers", "Numbers", ["run", "figure"], [["first", 1.5]])
    monkeypatch.setattr("dfnets.report.study.SHOW", {"tiny": lambda _: [Text("Small."), numbers]})


def test_reproduce_and_report(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    common = ("--store", store, "--device", "cpu", "--workers", 1)
    assert "100% of the planned runs" in run("reproduce", "tiny", "--quick", *common)
    assert len(Store(store)) == 3
    assert "0% of the planned runs" in run("reproduce", "tiny", *common, "--datasets", "cora")
    assert "not measured: DFNet reaches 85.2 % on cora." in run("reproduce", "all", *common)
    assert len(Store(store)) == 6
    page = tmp_path / "page.md"
    page.write_text("Before\n<!-- table: numbers -->\n<!-- end of table -->\nAfter\n")
    out = ("--out", tmp_path / "out", "--tables", tmp_path / "results", "--pages", page, "--full")
    said = run("report", "--store", store, *out)
    assert str(tmp_path / "out" / "index.html") in said
    assert "1 tables written to" in said
    assert (tmp_path / "results" / "about.json").exists()
    filled = page.read_text()
    assert "| first | 1.50 |" in filled
    page.write_text(filled.replace("1.50", "9.99"))
    run("report", "--from-tables", tmp_path / "results", "--pages", page)
    assert page.read_text() == filled
    with pytest.raises(ValueError, match="is not one of 'claims', 'tiny', 'all'"):
        run("reproduce", "orders", *common)

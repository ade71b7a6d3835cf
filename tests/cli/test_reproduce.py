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
    assert "not measured: DFNet reaches 85.2 % on cora." in run("reproduce", "all", *common)
    assert len(Store(store)) == 6
    page = tmp_path / "page.md"
    page.write_text("Before\n<!-- table: numbers -->\n<!-- end of table -->\nAfter\n")
    out = ("--out", tmp_path / "out", "--tables", tmp_path / "results", "--pages", page, "--full")
    said = run("report", "--store", store, *out)
    assert str(tmp_path / "out" / "index.html") in said
    assert "1 tables written to" in said
    assert (tmp_path / "results" / "about.json").exists()
    # Elsewhere, the runs behind the tables are taken as done: no time is left to run any.
    known = ("--known", tmp_path / "results" / "runs.jsonl.gz", "--minutes", 0)
    assert "100% of the planned runs" in run("reproduce", "tiny", "--store", tmp_path / "other.db", *known)
    assert {own.key for own in Store(tmp_path / "other.db").runs()} == {own.key for own in Store(store).runs()}
    filled = page.read_text()
    assert "| first | 1.50 |" in filled
    page.write_text(filled.replace("1.50", "9.99"))
    run("report", "--from-tables", tmp_path / "results", "--pages", page)
    assert page.read_text() == filled
    with pytest.raises(ValueError, match="is not one of 'claims', 'tiny', 'all'"):
        run("reproduce", "orders", *common)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--device", "abacus", "device='abacus' is not known"),
        ("--device", "meta", "device='meta' is not supported"),
        ("--workers", "-3", "workers=-3: at least 1 process"),
        ("--minutes", "nan", "minutes=nan: give a number, 0 or more"),
        ("--datasets", "kora", "datasets='kora' is in no run of these studies; they have"),
        ("--models", "perceptron", "models='perceptron' is in no run of these studies; they have"),
    ],
)
def test_options_that_cannot_be_meant(tmp_path: Path, option: str, value: str, message: str) -> None:
    """Before, every run was stored as failed, or none was run, and the command ended well."""
    with pytest.raises(ValueError, match=message):
        run("reproduce", "tiny", "--store", tmp_path / "s.db", option, value)
    assert not (tmp_path / "s.db").exists()


def test_failed_runs_are_reported_and_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the [machine] is on fire")

    common = ("tiny", "--quick", "--store", tmp_path / "s.db", "--device", "cpu", "--workers", 1)
    with monkeypatch.context() as patch:
        patch.setattr("dfnets.training.fit", broken)
        with pytest.raises(ArithmeticError, match=r"3 runs failed, first .* seed 0: .*the \[machine\] is on fire"):
            run("reproduce", *common)
    assert "100% of the planned runs" in run("reproduce", *common)
    assert len(Store(tmp_path / "s.db").runs(status="done")) == 3

"""`dfnets reproduce` and `dfnets report`, on a study of one small group."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from studies import tiny
from typer.testing import CliRunner

from dfnets import studies
from dfnets.cli.reproduce import report_command, reproduce_command
from dfnets.store import Store
from dfnets.studies.plan import Study
from dfnets.studies.shown import Text

app = typer.Typer()
app.command("reproduce")(reproduce_command)
app.command("report")(report_command)


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_thread: None) -> None:  # noqa: ARG001
    tiny.write_data(tmp_path)
    monkeypatch.setenv("DFNETS_DATA", str(tmp_path))
    study = Study("tiny", "A small study", lambda quick: tiny.groups()[: 1 if quick else 2], lambda _: [Text("Small.")])
    monkeypatch.setattr(studies, "STUDIES", {"tiny": study})
    monkeypatch.setattr("dfnets.report.study.STUDIES", {"tiny": study})


def test_reproduce_and_report(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    common = ("--store", store, "--device", "cpu", "--workers", 1)
    assert "100% of the planned runs" in run("reproduce", "tiny", "--quick", *common)
    assert len(Store(store)) == 3
    assert "0% of the planned runs" in run("reproduce", *common, "--datasets", "cora")
    run("reproduce", "all", *common)
    assert len(Store(store)) == 6
    said = run("report", "--store", store, "--out", tmp_path / "out", "--tables", tmp_path / "results", "--full")
    assert str(tmp_path / "out" / "index.html") in said
    assert (tmp_path / "results" / "about.json").exists()
    with pytest.raises(ValueError, match="is not one of 'tiny', 'all'"):
        run("reproduce", "orders", *common)

"""``dfnets bench``: which device it measures on, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import typer
from typer.testing import CliRunner

from dfnets.cli.bench import bench_command
from dfnets.engine import bench


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    found: list[tuple] = []
    monkeypatch.setattr(
        bench, "run", lambda device, folder, quick, docs: found.append((device, str(folder), quick, docs))
    )
    return found


def invoke(*arguments: str):
    app = typer.Typer()
    app.command()(bench_command)
    return CliRunner().invoke(app, list(arguments))


def test_options_reach_the_run(calls):
    assert invoke("--device", "cpu", "--out", "here", "--quick", "--docs", "page.md").exit_code == 0
    assert calls == [("cpu", "here", True, Path("page.md"))]


def test_auto_takes_a_gpu_where_there_is_one(calls, monkeypatch):
    for there in (True, False):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
        assert invoke().exit_code == 0
    assert [device for device, *_ in calls] == ["cuda", "cpu"]


def test_a_device_that_is_not_here(calls):
    result = invoke("--device", "abacus")
    assert result.exit_code == 2
    assert "'abacus' is not here" in result.output
    assert calls == []

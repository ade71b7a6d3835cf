"""The study of DFNet-plus, whether or not the model is there."""

from __future__ import annotations

import pytest
from studies.synthetic import runs, together

from dfnets.models import registry
from dfnets.studies import accuracy
from dfnets.studies.plus_parts import PARTS
from dfnets.studies.results import Results
from dfnets.studies.shown import Table, Text


def test_nothing_is_planned_without_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(registry.MODELS, accuracy.OURS, raising=False)
    assert accuracy.plan(False) == accuracy.plan(True) == []
    assert accuracy.show(Results([])) == [Text("dfnet-plus is not registered.")]


def test_the_plan_has_all_that_is_asked_for() -> None:
    plan = accuracy.plan(False)
    assert all(group.registered and group.config for group in plan if group.model in registry.MODELS)
    own = {(group.dataset, group.protocol, group.seeds) for group in plan if group.model == accuracy.OURS}
    assert {("cora", "planetoid", 20), ("nell", "planetoid", 20), ("pubmed", "random", 20)} <= own
    assert {("texas", "masks", 10), ("actor", "masks", 10), ("amazon_computers", "random", 10)} <= own
    assert {("cora", "planetoid", 10)} <= own
    rivals = {group.model for group in plan if group.protocol == "random" and group.dataset == "cora"}
    assert rivals == {accuracy.OURS, *accuracy.STRONG}


def test_the_tables_follow_the_runs() -> None:
    groups = [group for group in accuracy.plan(False) if group.registered]
    rows = together(runs(group, 85.0 if group.model == accuracy.OURS else 80.0) for group in groups)
    # A group that others are part of has its runs once.
    once = list({run.key: run for run in rows}.values())
    shown = {part.name: part for part in accuracy.show(Results(once)) if isinstance(part, Table)}
    for row in shown["accuracy-random"].rows:
        found = dict(zip(shown["accuracy-random"].columns, row, strict=True))
        assert found["pairs"] == 20
        assert found["low"] > 0
        assert found["p"] < 0.05
    assert [row[0] for row in shown["accuracy-parts"].rows] == [accuracy.WHOLE, *PARTS]
    assert {row[0] for row in shown["accuracy-unseen"].rows} == set(accuracy.UNSEEN)
    assert all(row[5] > 4 for row in shown["accuracy-unseen"].rows)
    assert [row[1] for row in shown["accuracy"].rows] == [20, 20, 20, 20]
    assert [row[6] for row in shown["accuracy"].rows] == [85.2, 74.2, 84.3, 68.3]

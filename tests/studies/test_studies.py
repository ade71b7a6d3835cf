"""Every study: a plan that can be run, and tables that say what is missing."""

from __future__ import annotations

import pytest
from studies.synthetic import runs

from dfnets import datasets, models, studies
from dfnets.studies import accuracy, baselines, published
from dfnets.studies.plan import DATASETS
from dfnets.studies.results import Results
from dfnets.studies.run import jobs_of
from dfnets.studies.shown import Table

# Models that the studies know; one that is not registered (yet) is left out with a note.
KNOWN = {*published.MODELS.values(), "feedback-looped", "mlp", "sgc", "appnp", "gcnii", "dfnet-plus"}
PROTOCOLS = {"planetoid", "authors", "masks", "random", "low-label", "one signal"}


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", studies.STUDIES)
def test_a_plan_is_valid(name: str, quick: bool) -> None:
    for group in studies.STUDIES[name].plan(quick):
        assert not group.trains or group.model in KNOWN
        assert group.dataset in DATASETS or group.measure == "complexity"
        assert group.protocol in PROTOCOLS
        assert group.seeds >= 1
        assert str(group)
        if group.registered:
            assert group.config.startswith("{")  # every setting exists, and is in its range
            assert group.at_once >= 1


def test_a_first_look_is_part_of_the_whole_and_much_smaller() -> None:
    whole, quick = (jobs_of(studies.groups_of(studies.chosen([]), quick=look)) for look in (False, True))
    assert sum(job.cost for job in quick) < 0.1 * sum(job.cost for job in whole)
    assert [job.cost for job in whole] == sorted(job.cost for job in whole)


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", studies.STUDIES)
def test_without_runs_every_row_says_so(name: str, quick: bool) -> None:
    shown = studies.STUDIES[name].show(Results([], quick=quick))
    assert shown
    for table in (part for part in shown if isinstance(part, Table)):
        assert table.rows
        for row in table.rows:
            assert len(row) == len(table.columns)
            words = " ".join(map(str, row))
            assert table.name == "hyperparameters" or any(
                note in words for note in ("not run", "not registered", "not measured")
            ), (table.name, row)


def test_a_row_for_every_rule_beside_the_paper() -> None:
    group = baselines.group("dfnet", "cora")
    shown = baselines.show(Results(runs(group, 83.0)))
    table = next(part for part in shown if isinstance(part, Table) and part.name == "baselines-runs")
    own = [
        dict(zip(table.columns, row, strict=True)) for row in table.rows if row[1:4] == ["dfnet", "cora", "planetoid"]
    ]
    assert [row["rule"] for row in own] == ["validation", "final", "oracle"]
    assert own[0]["runs"] == 10
    assert own[0]["seeds"] == "seeds 0-9"
    assert own[0]["paper"] == 85.2
    assert own[0]["difference"] == pytest.approx(own[0]["mean"] - 85.2)
    assert own[0]["from"] < own[0]["difference"] < own[0]["to"] < 0


def test_runs_of_older_code_are_shown_and_marked() -> None:
    from dataclasses import replace

    group = baselines.group("dfnet", "cora")
    old = [replace(run, code="older", validation=50.0) for run in runs(group, 83.0)]
    assert Results(old).of(group).note == "older code"
    # A few new runs do not hide the many that there are; as many do.
    assert Results(old + runs(group, 83.0)[:4]).of(group).note == "older code"
    assert Results(old + runs(group, 83.0)).of(group).note == ""
    assert Results(old[:3] + runs(group, 83.0)[:4]).of(group).note == "4 of 10 runs"


def test_failures_are_told() -> None:
    from dataclasses import replace

    group = baselines.group("dfnet", "cora")
    rows = runs(group, 83.0)
    rows[3] = replace(rows[3], status="failed", reason="DivergedError: the loss", validation=None)
    sample = Results(rows).of(group)
    assert sample.note == "1 failed: DivergedError: the loss"
    assert sample.estimate().count == 9


def test_the_best_baseline_is_chosen_in_its_favour() -> None:
    rows = [run for m, mean in (("mlp", 70.0), ("gcn", 60.0)) for run in runs(accuracy.unseen(m, "texas"), mean)]
    assert accuracy.best(Results(rows), "texas").model == "mlp"
    assert accuracy.best(Results([]), "texas") is None


def test_the_papers_tables_are_complete() -> None:
    assert len(published.table("baselines")) == len(published.MODELS) == 17
    assert published.baseline("dfnet-att", "pubmed") == 85.2
    assert published.filter_accuracy("feedback-looped", "citeseer") == 71.5
    assert published.low_label("gcn", "pubmed", 0.03) == 57.9
    assert published.standard_percent("citeseer") == 3.6
    assert {row["dataset"] for row in published.table("datasets")} <= set(datasets.names())


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="study='tables' is not one of 'claims'"):
        studies.chosen(["tables"])
    assert len(studies.chosen(["claims"])) == len(studies.STUDIES)
    assert [study.name for study in studies.chosen(["orders"])] == ["orders"]
    groups = studies.groups_of(studies.chosen([]), datasets=["cora"], models=["dfnet"])
    assert {(group.dataset, group.model) for group in groups} == {("cora", "dfnet")}
    assert "dfnet" in models.names()

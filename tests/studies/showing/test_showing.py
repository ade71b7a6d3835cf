"""Every study's tables: beside the paper's figures, and with a word for what is missing."""

from __future__ import annotations

import pytest
from studies.synthetic import runs, together

from dfnets.studies.analysing.results import Results
from dfnets.studies.planning import Plan
from dfnets.studies.planning.accuracy import MODEL, OTHER_GRAPHS, WHOLE
from dfnets.studies.showing import SHOW, accuracy, baselines, summary
from dfnets.studies.showing.document import Part, Table

PLAN = Plan()
MISSING = ("not run", "not registered", "not measured", "not searched")


def tables(parts: list[Part]) -> dict[str, Table]:
    return {part.name: part for part in parts if isinstance(part, Table)}


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", SHOW)
def test_without_runs_every_row_says_so(name: str, quick: bool) -> None:
    shown = SHOW[name](Results([], Plan(quick=quick)))
    assert shown
    for table in tables(shown).values():
        assert table.rows
        for row in table.rows:
            assert len(row) == len(table.columns)
            words = " ".join(map(str, row))
            assert table.name == "hyperparameters" or any(note in words for note in MISSING), (table.name, row)


def test_every_study_that_is_planned_is_shown() -> None:
    assert set(PLAN.studies) | {"claims", "summary"} == set(SHOW)


def test_a_row_for_every_rule_beside_the_paper() -> None:
    table = tables(baselines.show(Results(runs(PLAN.baselines.group("dfnet", "cora"), 83.0))))["baselines-runs"]
    own = table.find(model="dfnet", dataset="cora", protocol="planetoid", settings="default")
    assert [row["rule"] for row in own] == ["validation", "final", "oracle"]
    assert own[0]["runs"] == 10
    assert own[0]["trials"] == 0
    assert own[0]["seeds"] == "seeds 0-9"
    assert own[0]["paper"] == 85.2
    assert own[0]["difference"] == pytest.approx(own[0]["mean"] - 85.2)
    assert own[0]["from"] < own[0]["difference"] < own[0]["to"] < 0


def test_default_settings_are_never_compared_with_tuned_ones() -> None:
    table = tables(baselines.show(Results([])))["baselines-pairs"]
    for row in table.find():
        if row["settings"] == "default":
            assert row["trials"] == "0, 0"


def test_the_summary_has_figures_runs_trials_and_the_paper() -> None:
    rows = runs(PLAN.baselines.group("dfnet", "cora"), 82.6, 0.0) + runs(
        PLAN.baselines.group("dfnet", "cora", "authors"), 85.6, 0.0
    )
    table = tables(summary.show(Results(rows)))["summary"]
    found = {(row["model"], row["settings"], row["protocol"]): row for row in table.find()}
    assert found["DFNet", "default", "planetoid"]["cora"] == "82.6 ± 0.0 (10 runs, 0 trials) [85.2]"
    assert found["DFNet", "default", "authors"]["cora"] == "85.6 ± 0.0 (10 runs, 0 trials) [85.2]"
    assert found["DFNet", "default", "authors"]["nell"] == "no such split"
    assert ("GCN", "default", "planetoid") not in found
    empty = tables(summary.show(Results([])))["summary"]
    assert empty.find(model="GCN", settings="default")[0]["cora"] == "not run [81.5]"


def test_the_best_baseline_is_chosen_in_its_favour() -> None:
    rows = [run for m, mean in (("mlp", 70.0), ("gcn", 60.0)) for run in runs(PLAN.accuracy.other(m, "texas"), mean)]
    assert [group.model for group in accuracy.rivals(Results(rows), "texas", "default")] == ["mlp", "gcn"]
    assert accuracy.rivals(Results([]), "texas", "default") == []
    plus = runs(PLAN.accuracy.other(MODEL, "texas"), 65.0)
    table = tables(accuracy.show(Results(rows + plus)))["contest-default"]
    row = table.find(dataset="texas")[0]
    assert (row["best baseline"], row["place"], row["pairs"]) == ("mlp", "2 of 3", 10)
    assert row["high"] < 0
    assert "(1), of models that were run on all of them: mlp 1.0, dfnet-plus 2.0, gcn 3.0." in table.note


def test_one_default_is_compared_with_tuned_baselines_on_the_split_of_the_paper_too() -> None:
    rows = runs(PLAN.baselines.group("gcn", "cora", tuning="tuned"), 80.0)
    rows += runs(PLAN.accuracy.standard("cora", "default"), 85.0)
    row = tables(accuracy.show(Results(rows)))["contest-tuned"].find(dataset="cora")[0]
    assert (row["best baseline"], row["place"], row["pairs"]) == ("gcn", "1 of 2", 10)
    assert row["low"] > 0


def test_the_tables_of_dfnet_plus_follow_the_runs() -> None:
    groups = PLAN.accuracy.groups()
    rows = together(runs(group, 85.0 if group.model == MODEL else 80.0) for group in groups)
    # A group that others are part of has its runs once.
    once = list({run.key: run for run in rows}.values())
    shown = tables(accuracy.show(Results(once)))
    for row in shown["accuracy-random"].find():
        assert row["pairs"] == 20
        assert row["low"] > 0
        assert row["low, nodes too"] > 0
        assert row["p"] <= row["p, Holm"] < 0.05
    assert shown["accuracy-parts"].rows[0][0] == WHOLE
    other = [row for row in shown["contest-default"].find() if row["dataset"] in OTHER_GRAPHS]
    assert {row["dataset"] for row in other} == set(OTHER_GRAPHS)
    assert all(row["difference"] > 4 for row in other)
    assert {row["runs"] for row in shown["accuracy"].find()} == {20}
    assert [row["paper's DFNet"] for row in shown["accuracy"].find(settings="default")] == [85.2, 74.2, 84.3, 68.3]


def test_the_contest_says_on_which_graphs_the_default_was_developed() -> None:
    rows = tables(accuracy.show(Results([])))["contest-tuned"].find()
    assert {row["dataset"] for row in rows if row["in sight"] == "no"} == {"wordnet"}
    assert {"cora", "digits", "kanji"} <= {row["dataset"] for row in rows if row["in sight"] == "yes"}


@pytest.mark.parametrize("name", SHOW)
def test_every_column_has_a_name_of_its_own(name: str) -> None:
    for table in tables(SHOW[name](Results([]))).values():
        assert len(set(table.columns)) == len(table.columns), table.name

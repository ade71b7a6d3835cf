"""Every plan can be run, the first look is small, and the paper's tables are complete."""

from __future__ import annotations

import pytest

from dfnets import datasets, models, studies
from dfnets.studies.planning import Plan, paper_tables
from dfnets.studies.planning.accuracy import MODEL, STRONG
from dfnets.studies.planning.group import DATASETS
from dfnets.studies.planning.plan import QUICK_EPOCHS, QUICK_SEEDS, tunings
from dfnets.studies.running.jobs import jobs_of

PROTOCOLS = {"planetoid", "authors", "masks", "random", "low-label", "one signal"}


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", Plan().studies)
def test_a_plan_is_valid(name: str, quick: bool) -> None:
    for group in Plan(quick=quick).studies[name].groups():
        assert group.registered
        assert group.dataset in DATASETS or group.measure == "complexity"
        assert group.protocol in PROTOCOLS
        assert 1 <= group.seeds <= (QUICK_SEEDS if quick else 20)
        assert str(group)
        assert group.config.startswith("{")  # every setting exists, and is in its range
        assert group.replicas_at_once >= 1
        if quick and group.measure is None:
            assert group.all_settings()["epochs"] <= QUICK_EPOCHS


def test_a_first_look_is_part_of_the_whole_and_much_smaller() -> None:
    whole, quick = (jobs_of(Plan(quick=look).groups()) for look in (False, True))
    assert sum(job.cost for job in quick) < 0.1 * sum(job.cost for job in whole)
    assert [job.cost for job in whole] == sorted(job.cost for job in whole)


def test_default_and_tuned_settings_are_apart() -> None:
    plan = Plan().baselines
    assert tunings("lp", "no such dataset") == ["default"]
    for model, dataset, protocol, tuning in plan.cases():
        group = plan.group(model, dataset, protocol, tuning)
        assert group.tuning == tuning
        assert (group.trials > 0) <= (tuning == "tuned")


def test_the_comparison_of_dfnet_plus_has_all_that_is_asked_for() -> None:
    groups = Plan().accuracy.groups()
    own = {(group.dataset, group.protocol, group.seeds) for group in groups if group.model == MODEL}
    assert {("cora", "planetoid", 20), ("nell", "planetoid", 20), ("pubmed", "random", 20)} <= own
    assert {("texas", "masks", 10), ("actor", "masks", 10), ("amazon_computers", "random", 10)} <= own
    rivals = {group.model for group in groups if group.protocol == "random" and group.dataset == "cora"}
    assert rivals == {MODEL, *STRONG}


def test_the_papers_tables_are_complete() -> None:
    assert len(paper_tables.table("baselines")) == len(paper_tables.MODELS) == 17
    assert paper_tables.baseline("dfnet-att", "pubmed") == 85.2
    assert paper_tables.filter_accuracy("feedback-looped", "citeseer") == 71.5
    assert paper_tables.low_label("gcn", "pubmed", 0.03) == 57.9
    assert paper_tables.standard_percent("citeseer") == 3.6
    assert {row["dataset"] for row in paper_tables.table("datasets")} <= set(datasets.names())


def test_studies_are_chosen_by_name() -> None:
    plan = Plan()
    with pytest.raises(ValueError, match="study='tables' is not one of 'claims'"):
        studies.select_groups(plan, ["tables"])
    assert len(studies.select_groups(plan, ["claims"])) == len(plan.groups())
    assert studies.select_groups(plan, ["orders"]) == plan.orders.groups()
    groups = studies.select_groups(plan, datasets=["cora"], models=["dfnet"])
    assert {(group.dataset, group.model) for group in groups} == {("cora", "dfnet")}
    assert "dfnet" in models.names()

"""Samples and comparisons: which runs count, and node by node."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from studies.synthetic import TESTED, runs

from dfnets.store import unpack_bits
from dfnets.studies.analysing.results import Results
from dfnets.studies.planning import Plan

PLAN = Plan()


def test_runs_of_older_code_are_shown_and_marked() -> None:
    group = PLAN.baselines.group("dfnet", "cora")
    old = [replace(run, code="older", validation=50.0) for run in runs(group, 83.0)]
    assert Results(old).of(group).note == "older code"
    # A few new runs do not hide the many old ones; as many do.
    assert Results(old + runs(group, 83.0)[:4]).of(group).note == "older code"
    assert Results(old + runs(group, 83.0)).of(group).note == ""
    assert Results(old[:3] + runs(group, 83.0)[:4]).of(group).note == "4 of 10 runs"


def test_failures_are_reported() -> None:
    group = PLAN.baselines.group("dfnet", "cora")
    rows = runs(group, 83.0)
    rows[3] = replace(rows[3], status="failed", reason="DivergedError: the loss", validation=None)
    sample = Results(rows).of(group)
    assert sample.note == "1 failed: DivergedError: the loss"
    assert sample.estimate().count == 9


def test_a_cell_says_how_many_trials_stand_behind_it() -> None:
    group = PLAN.baselines.group("gcn", "cora")
    assert Results(runs(group, 83.0)).of(group).text().endswith("(0 trials)")


@pytest.mark.parametrize("protocol, varies", [("planetoid", "test nodes and seeds"), ("random", "draws and their")])
def test_comparisons_are_made_node_by_node(protocol: str, varies: str) -> None:
    ours, theirs = (PLAN.baselines.trained(m, "cora", protocol) for m in ("gcn", "gat"))
    rows = runs(ours, 83.0) + runs(theirs, 80.0)
    found = Results(rows).compare([(ours, theirs)])[0]
    assert found is not None
    nodes = [
        unpack_bits(a.correct, TESTED).mean() - unpack_bits(b.correct, TESTED).mean()
        for a, b in zip(rows[:10], rows[10:], strict=True)
    ]
    assert found.nodes is not None
    assert found.nodes.mean == pytest.approx(100 * np.mean(nodes))
    assert found.nodes.varies.startswith(varies)
    # Where the test nodes are the same, they move all runs together.
    assert found.nodes.high - found.nodes.low > found.seeds.high - found.seeds.low or protocol == "random"
    assert found.above


def test_runs_on_other_splits_are_not_compared_node_by_node() -> None:
    ours, theirs = (PLAN.baselines.group(m, "cora") for m in ("gcn", "gat"))
    rows = runs(ours, 83.0) + [replace(run, split="another") for run in runs(theirs, 80.0)]
    found = Results(rows).compare([(ours, theirs)])[0]
    assert found is not None
    assert found.nodes is None
    assert not found.above


def test_the_share_of_what_was_planned() -> None:
    group = PLAN.baselines.group("gcn", "cora")
    assert Results(runs(group, 80.0)[:5]).share([group]) == 0.5

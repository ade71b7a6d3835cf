"""Claims: the verdict follows the runs, whichever way they turn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from studies.synthetic import measured, runs, together

from dfnets.store import Run
from dfnets.studies.analysing import accuracy_claims, claims
from dfnets.studies.analysing.measurements import cost_exponent
from dfnets.studies.analysing.results import Results
from dfnets.studies.planning import Plan, ablation, budget, embeddings, low_labels, orders, stability
from dfnets.studies.planning.complexity import SWEEPS
from dfnets.studies.planning.group import CITATION, PAPER_DATASETS, TUNED, Group
from dfnets.studies.running.measures.complexity import P, Q

PLAN = Plan()
FAILED = "not reproduced after a fair search of 20 trials"


@pytest.fixture(autouse=True)
def searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every model had the same fair search, on every dataset."""
    monkeypatch.setattr("dfnets.studies.planning.group.searched_trials", lambda *_: 20)


def tuned(model: str, dataset: str, protocol: str = "planetoid") -> Group:
    return PLAN.baselines.group(model, dataset, protocol, TUNED)


def verdict(name: str, rows: list[Run]) -> str:
    claim = next(claim for claim in claims.CLAIMS if claim.name == name)
    return claim.check(Results(rows)).verdict


def test_there_are_enough_and_none_is_decided_without_runs() -> None:
    found = claims.findings(Results([]))
    assert len(found) >= 12
    assert len({claim.name for claim, _ in found}) == len(found)
    assert {finding.verdict for _, finding in found} == {"not measured"}


def test_a_figure_is_reached_on_a_split() -> None:
    named = lambda mean: runs(tuned("dfnet", "cora"), mean)  # noqa: E731
    other = lambda mean: runs(tuned("dfnet", "cora", "authors"), mean)  # noqa: E731
    assert verdict("figure-cora", named(85.4)) == "holds"
    assert verdict("figure-cora", named(82.0)) == FAILED
    assert verdict("figure-cora", named(82.0) + other(85.4)) == "holds under protocol authors"
    assert verdict("figure-cora", named(82.0) + other(81.0)) == FAILED
    assert verdict("figure-nell", runs(tuned("dfnet", "nell"), 60.0)) == FAILED
    # Below by seeds alone: on other test nodes it might have been reached.
    assert verdict("figure-cora", named(83.9)) == "undecided"


def test_a_figure_in_a_wide_interval_is_not_reached() -> None:
    near = lambda spread: runs(tuned("dfnet", "cora"), 85.0, spread)  # noqa: E731
    assert verdict("figure-cora", near(0.3)) == "holds"
    assert verdict("figure-cora", near(4.0)) == "undecided"


def test_a_model_is_ahead_beyond_doubt_or_not() -> None:
    def rows(ahead: float, protocol: str = "planetoid") -> list[Run]:
        datasets = PAPER_DATASETS if protocol == "planetoid" else CITATION
        return together(
            runs(tuned(model, d, protocol), 80 + (ahead if model == "dfnet-att" else 0))
            for d in datasets
            for model in ("dfnet", "dfnet-att")
        )

    assert verdict("attention", rows(2.0)) == "holds"
    assert verdict("attention", rows(-2.0)) == FAILED
    assert verdict("attention", rows(0.15)) == "undecided"
    assert verdict("attention", rows(-2.0) + rows(2.0, "authors")) == "holds under protocol authors"
    # Nothing is known of the datasets that are missing, unless one that was run contradicts the claim.
    assert verdict("attention", [run for run in rows(2.0) if run.dataset == "cora"]) == "not measured"
    assert verdict("attention", [run for run in rows(-2.0) if run.dataset == "cora"]) == FAILED


def test_without_the_same_search_nothing_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        run
        for d in PAPER_DATASETS
        for m, mean in (("dfnet", 82.0), ("dfnet-att", 80.0))
        for run in runs(tuned(m, d), mean)
    ]
    assert verdict("attention", rows) == FAILED
    monkeypatch.setattr("dfnets.studies.planning.group.searched_trials", lambda m, _: 19 if m == "dfnet" else 64)
    claim = next(claim for claim in claims.CLAIMS if claim.name == "attention")
    found = claim.check(Results(rows))
    assert found.verdict == "undecided"
    assert "fewer than 20 trials for dfnet-att on cora" not in found.measurement
    assert "fewer than 20 trials for dfnet on cora: 19" in found.measurement


def test_a_model_without_settings_needs_no_search() -> None:
    assert budget.is_fair("lp", 2)
    assert not budget.is_fair("lp", 1)
    assert not budget.is_fair("dfnet", 19)
    assert budget.is_fair("no such model", 0)


def test_runs_that_did_not_store_their_correct_nodes_decide_nothing() -> None:
    rows = [
        replace(run, correct=b"", tested=0)
        for d in PAPER_DATASETS
        for m in ("dfnet", "dfnet-att")
        for run in runs(tuned(m, d), 80.0 + 5 * (m == "dfnet-att"))
    ]
    assert verdict("attention", rows) == "undecided"


def test_the_margins_over_gcn() -> None:
    def rows(margin: float) -> list[Run]:
        return together(
            runs(tuned(m, d), 80 + (margin if m == "dfnet" else 0)) for d in PAPER_DATASETS for m in ("dfnet", "gcn")
        )

    assert verdict("gcn", rows(6.0)) == "holds"
    assert verdict("gcn", rows(1.0)) == FAILED


def test_all_rivals_count() -> None:
    def rows(lead: float) -> list[Run]:
        models = ("dfnet", *accuracy_claims.RIVALS)
        return together(
            runs(tuned(m, d), 80 + (0 if m == "dfnet" else -2 if m != "arma" else -lead))
            for d in PAPER_DATASETS
            for m in models
        )

    assert verdict("best-dfnet", rows(2.0)) == "holds"
    assert verdict("best-dfnet", rows(-2.0)) == FAILED


def test_orders() -> None:
    def rows(best: tuple[int, int], slope: float) -> list[Run]:
        return together(
            runs(PLAN.orders.group(d, p, q), 80 + 3 * ((p, q) == best) + slope * (q <= p) + 2 * (p == 5))
            for d in CITATION
            for p in orders.ORDERS
            for q in orders.ORDERS
        )

    assert verdict("orders-best", rows((5, 3), 1.0)) == "holds"
    assert verdict("orders-best", rows((9, 9), 5.0)) == "refuted"
    # Ahead by the luck of every other seed: the highest mean of all refutes nothing.
    lucky = PLAN.orders.group("cora", 5, 5).config
    noisy = [
        replace(run, validation=run.validation + (9.0 if run.seed % 2 else -2.0)) if run.config == lucky else run
        for run in rows((5, 3), 0.0)
    ]
    assert verdict("orders-best", noisy) == "undecided"
    assert verdict("orders-pq", rows((5, 3), 3.0)) == "holds"
    assert verdict("orders-pq", rows((5, 3), -3.0)) == "refuted"
    assert verdict("orders-p", rows((5, 3), 1.0)) == "holds"
    assert verdict("orders-p", rows((9, 3), 1.0)) in ("refuted", "undecided")


def test_both_techniques() -> None:
    def rows(both: float) -> list[Run]:
        return together(
            runs(PLAN.ablation.group(m, d, v), 80 + both * (v == ablation.BOTH))
            for d in CITATION
            for m in ablation.MODELS
            for v in ablation.VARIANTS
        )

    assert verdict("techniques", rows(2.0)) == "holds"
    assert verdict("techniques", rows(-2.0)) == "refuted"


def test_embeddings() -> None:
    def rows(ours: float) -> list[Run]:
        parts = []
        for d in embeddings.DATASETS:
            for m in embeddings.MODELS:
                score = ours if m == "dfnet" else 0.3
                made = measured(PLAN.embeddings.group(m, d), silhouette=score, purity=score)
                parts.append(made)
        return together(parts)

    assert verdict("embeddings", rows(0.5)) == "holds"
    assert verdict("embeddings", rows(0.1)) == "refuted"


def test_low_labels() -> None:
    def rows(ours: float) -> list[Run]:
        return together(
            runs(PLAN.low_labels.group(m, d, rate, TUNED), ours if m == "dfnet" else 70)
            for d, rate in PLAN.low_labels.cases()
            if rate is not None
            for m in low_labels.MODELS
            if m != "dfnet-plus"
        )

    assert verdict("low-labels", rows(75)) == "holds"
    assert verdict("low-labels", rows(65)) == FAILED


def stable(needed: int, contraction: float, errors: list[float]) -> list[Run]:
    parts = []
    for case in stability.cases():
        place = stability.GAMMAS.index(case[2])
        parts.append(
            measured(
                PLAN.stability.group(*case),
                bound=[10, 20, 30 + place],
                iterations=[needed, needed, needed],
                contraction=contraction if case[0] == stability.AUTHORS_CODE else case[2],
                lmax=1.5,
                ritz=1.4,
                rms=errors[place],
                recursion=100,
                cheapest=int(100 * errors[0]),
                method="chebyshev",
            )
        )
    return together(parts)


def test_theory() -> None:
    good = stable(9, 0.9, [1.0, 0.4, 0.3, 0.2, 0.1])
    bad = stable(99, 35.9, [0.1, 0.2, 0.3, 0.4, 0.5])
    for name in ("convergence", "stable-code", "gamma-accuracy", "fast"):
        assert verdict(name, good) == "holds", name
        assert verdict(name, bad) == "refuted", name
    for name in ("radius", "universal", "gamma-speed"):
        assert verdict(name, good) == "holds", name
    assert verdict("frequencies", good) == "refuted"


@pytest.mark.parametrize("power, expected", [(1.0, "holds"), (2.0, "refuted")])
def test_complexity(power: float, expected: str) -> None:
    rows = []
    for point in dict.fromkeys(point for sweep in SWEEPS.values() for point in sweep):
        size = float(point[1]) ** power
        products = int(point[2] * P + Q * power)
        rows += measured(
            PLAN.complexity.group("feedback-looped", point), seconds=size, working=size, held=size, products=products
        )
    for name in ("time", "memory", "products"):
        assert verdict(name, rows) == expected, name
    assert np.isclose(cost_exponent(Results(rows), "feedback-looped", "nodes and edges", "seconds").mean, power)


def test_an_exponent_that_is_hardly_known_decides_nothing() -> None:
    def rows(noise: float) -> list[Run]:
        parts = []
        for i, point in enumerate(SWEEPS["nodes and edges"]):
            size = float(point[1]) * np.exp(noise * (-1) ** i)
            parts.append(measured(PLAN.complexity.group("feedback-looped", point), seconds=size))
        return together(parts)

    assert verdict("time", rows(0.05)) == "holds"
    assert verdict("time", rows(0.6)) == "undecided"

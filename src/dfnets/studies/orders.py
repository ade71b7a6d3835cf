"""Figure 2 of the paper: accuracy of DFNet for polynomial orders p and q."""

from __future__ import annotations

from dfnets.studies import tables
from dfnets.studies.plan import CITATION, Group, Study, training
from dfnets.studies.results import Results
from dfnets.studies.shown import Figure, Panel, Part, Series

ORDERS = (1, 3, 5, 7, 9)


def group(dataset: str, p: int, q: int, *, quick: bool = False) -> Group:
    """DFNet with these orders; p = 5 and q = 3 are the preset's own, so those runs are the baselines' too."""
    return Group("dfnet", dataset, overrides={"p": p, "q": q}, **training(quick))


def points(quick: bool) -> list[tuple[str, int, int]]:
    """Every p and q; for a first look Cora only, each order varied with the other as in the paper."""
    if quick:
        return [("cora", p, q) for p in ORDERS for q in ORDERS if (p, q) in {(1, 3), (5, 3), (9, 3), (5, 1), (5, 9)}]
    return [(d, p, q) for d in CITATION for p in ORDERS for q in ORDERS]


def plan(quick: bool) -> list[Group]:
    return [group(d, p, q, quick=quick) for d, p, q in points(quick)]


def show(results: Results) -> list[Part]:
    quick = results.quick
    entries = [(f"p = {p}, q = {q}", group(d, p, q, quick=quick), None) for d, p, q in points(quick)]
    panels = []
    for dataset in dict.fromkeys(d for d, _, _ in points(quick)):
        series = []
        for q in ORDERS:
            there = [
                (p, estimate)
                for p in ORDERS
                if (estimate := results.of(group(dataset, p, q, quick=quick)).estimate()) is not None
            ]
            if there:
                spread = [e.std if e.count > 1 else 0.0 for _, e in there]
                series.append(Series(f"q = {q}", [str(p) for p, _ in there], [e.mean for _, e in there], spread))
        panels.append(Panel(dataset, series, x="p", y="test accuracy, %"))
    note = "DFNet, preset published, protocol planetoid, rule validation; bars are one standard deviation. "
    note += "The paper shows this as a figure without numbers."
    return [
        Figure("orders", "Accuracy for polynomial orders p and q", panels, note),
        tables.accuracies(results, "orders", "Accuracy for every p and q", entries),
    ]


STUDY = Study(
    "orders",
    "Polynomial orders (figure 2 of the paper)",
    plan,
    show,
    "2 seeds and at most 100 epochs, Cora only, 5 of the 25 pairs",
)

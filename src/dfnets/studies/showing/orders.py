"""Figure 2 of the paper: accuracy of DFNet for polynomial orders p and q."""

from __future__ import annotations

from dfnets.studies.analysing.results import Results
from dfnets.studies.planning.orders import ORDERS
from dfnets.studies.showing import tables
from dfnets.studies.showing.document import Figure, Panel, Part, Series


def show(results: Results) -> list[Part]:
    """A panel per dataset with a line per q, and a table of everything."""
    plan = results.plan.orders
    entries = [(f"p = {p}, q = {q}", plan.group(d, p, q), None) for d, p, q in plan.points()]
    panels = []
    for dataset in dict.fromkeys(d for d, _, _ in plan.points()):
        series = []
        for q in ORDERS:
            found = [(p, results.of(plan.group(dataset, p, q)).estimate()) for p in ORDERS]
            present = [(p, estimate) for p, estimate in found if estimate is not None]
            if present:
                spread = [e.std if e.count > 1 else 0.0 for _, e in present]
                series.append(Series(f"q = {q}", [str(p) for p, _ in present], [e.mean for _, e in present], spread))
        panels.append(Panel(dataset, series, x="p", y="test accuracy, %"))
    note = (
        "DFNet with its published settings, protocol planetoid, rule validation; bars are one standard deviation. "
        "The paper shows this as a figure without numbers."
    )
    return [
        Figure("orders", "Accuracy for polynomial orders p and q", panels, note),
        tables.accuracies(results, "orders", "Accuracy for every p and q", entries),
    ]

"""Figure 3 of the paper: scaled-normalization and cut-off frequency, both, one, or neither."""

from __future__ import annotations

from dfnets.studies.analysing.results import Results
from dfnets.studies.planning.ablation import BOTH, VARIANTS
from dfnets.studies.showing import tables
from dfnets.studies.showing.document import Figure, Panel, Part, Series


def show(results: Results) -> list[Part]:
    """A panel per dataset, the accuracies of every variant, and what both techniques add to each."""
    plan = results.plan.ablation
    entries = [(v, plan.group(m, d, v), None) for m, d in plan.cases() for v in VARIANTS]
    panels = [_panel(results, dataset) for dataset in dict.fromkeys(d for _, d in plan.cases())]
    note = (
        "Published settings, protocol planetoid, rule validation; bars are one standard deviation. Without the cut-off "
        "the wanted response is the frequency itself, scaled to [0, 1]; without scaled-normalization the shift is L^."
    )
    return [
        Figure("ablation", "Both techniques, one of them, or neither", panels, note),
        tables.accuracies(results, "ablation", "Accuracy of every variant", entries),
        _against_both(results),
    ]


def _panel(results: Results, dataset: str) -> Panel:
    plan, series = results.plan.ablation, []
    for variant in VARIANTS:
        found = [(m, results.of(plan.group(m, d, variant)).estimate()) for m, d in plan.cases() if d == dataset]
        present = [(m, e) for m, e in found if e is not None]
        errors = [e.std if e.count > 1 else 0.0 for _, e in present]
        series.append(Series(variant, [m for m, _ in present], [e.mean for _, e in present], errors, "points"))
    return Panel(dataset, series, y="test accuracy, %")


def _against_both(results: Results) -> Part:
    """``both`` against each other variant; the variant's name stands where other tables have a model."""
    plan = results.plan.ablation
    cases = [(m, v, d) for m, d in plan.cases() for v in VARIANTS if v != BOTH]
    compared = results.compare([(plan.group(m, d, BOTH), plan.group(m, d, v)) for m, v, d in cases])
    rows = [[*case, *tables.difference_cells(found)] for case, found in zip(cases, compared, strict=True)]
    columns = ["model", "both against", "dataset", *tables.DIFFERENCE_COLUMNS]
    return tables.Table("ablation-pairs", "What both techniques add", columns, rows, tables.PAIRS)

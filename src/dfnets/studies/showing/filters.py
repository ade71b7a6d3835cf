"""The appendix's comparison of filters: Chebyshev, Cayley and feedback-looped, without dense connections."""

from __future__ import annotations

from dfnets.studies.analysing.results import Results
from dfnets.studies.planning.filters import FEEDBACK_LOOPED, MODELS
from dfnets.studies.planning.group import DEFAULT, TUNED
from dfnets.studies.planning.paper_tables import filter_accuracy
from dfnets.studies.showing import tables
from dfnets.studies.showing.document import Part, Table


def show(results: Results) -> list[Part]:
    """One row per filter and kind of settings, beside the paper's figures."""
    plan = results.plan.filters
    rows: list[list[object]] = []
    for tuning in (DEFAULT, TUNED):
        for model in MODELS:
            row: list[object] = [model, tuning]
            for dataset in plan.datasets():
                planned = (model, dataset, tuning) in plan.cases()
                text = results.of(plan.group(model, dataset, tuning)).text() if planned else "not searched"
                row += [filter_accuracy(model, dataset), text]
            rows.append(row)
    columns = ["filter", "settings", *(name for d in plan.datasets() for name in (f"{d}: paper", f"{d}: here"))]
    entries = [(m, plan.group(m, d, t), filter_accuracy(m, d)) for m, d, t in plan.cases()]
    pairs = [
        (plan.group(FEEDBACK_LOOPED, d, t), plan.group(m, d, t))
        for m, d, t in plan.cases()
        if m != FEEDBACK_LOOPED and (FEEDBACK_LOOPED, d, t) in plan.cases()
    ]
    return [
        Table("filters", "Filters without dense connections", columns, rows, tables.CELLS),
        tables.accuracies(results, "filters-runs", "Every selection rule, beside the paper", entries),
        tables.differences(results, "filters-pairs", "Feedback-looped against the others", pairs),
    ]

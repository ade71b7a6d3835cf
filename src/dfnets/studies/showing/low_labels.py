"""The appendix's three tables: few labels."""

from __future__ import annotations

from dfnets.studies.analysing.results import Results
from dfnets.studies.planning.group import DEFAULT, PAPER_MODELS, PUBLISHED, TUNED
from dfnets.studies.planning.low_labels import percent
from dfnets.studies.planning.paper_tables import low_label
from dfnets.studies.planning.plan import tunings
from dfnets.studies.showing import tables
from dfnets.studies.showing.document import Figure, Panel, Part, Series, Table

NOTE = (
    "Protocol low-label: one training node of each class, the rest at random, 500 validation and 1000 test nodes. The "
    "paper's draws are other ones. Tuned settings were found on the standard split. "
)


def show(results: Results) -> list[Part]:
    """A table and a panel per dataset, and every comparison of DFNet and DFNetPlus."""
    plan = results.plan.low_labels
    datasets = list(dict.fromkeys(d for d, _ in plan.cases()))
    cases = [(m, d, rate, t) for d, rate in plan.cases() for m in plan.models() for t in tunings(m, d)]
    entries = [
        (f"{percent(d, rate):g} %", plan.group(m, d, rate, t), low_label(m, d, percent(d, rate)))
        for m, d, rate, t in cases
    ]
    pairs = [
        (plan.group(ours, d, rate, t), plan.group(m, d, rate, t))
        for ours in ("dfnet", "dfnet-plus")
        for m, d, rate, t in cases
        if m != ours and (ours, d, rate, t) in cases
    ]
    return [
        *(_table(results, dataset, tuning) for dataset in datasets for tuning in (DEFAULT, PUBLISHED, TUNED)),
        Figure(
            "low-labels",
            "Accuracy against the share of labelled nodes",
            [_panel(results, dataset) for dataset in datasets],
        ),
        tables.accuracies(results, "low-labels", "Every selection rule, beside the paper", entries),
        tables.differences(results, "low-labels-pairs", "DFNet and DFNetPlus against the others", pairs),
    ]


def _table(results: Results, dataset: str, tuning: str) -> Table:
    plan, rows = results.plan.low_labels, []
    models = [m for m in plan.models() if tuning != PUBLISHED or m in PAPER_MODELS]
    for _, rate in (case for case in plan.cases() if case[0] == dataset):
        row: list[object] = [f"{percent(dataset, rate):g} %" + (" (standard)" if rate is None else "")]
        for model in models:
            planned = tuning in tunings(model, dataset)
            text = results.of(plan.group(model, dataset, rate, tuning)).text() if planned else "not searched"
            row += [low_label(model, dataset, percent(dataset, rate)), text]
        rows.append(row)
    columns = ["labels", *(name for m in models for name in (f"{m}: paper", f"{m}: here"))]
    title = f"Few labels on {dataset}, {tuning} settings"
    return Table(f"low-labels-{dataset}-{tuning}", title, columns, rows, NOTE + tables.CELLS)


def _panel(results: Results, dataset: str) -> Panel:
    """Accuracies with default settings."""
    plan, series = results.plan.low_labels, []
    rates = [rate for d, rate in plan.cases() if d == dataset]
    for model in plan.models():
        found = [(rate, results.of(plan.group(model, dataset, rate)).estimate()) for rate in rates]
        present = sorted((percent(dataset, rate), e.mean, e.std if e.count > 1 else 0.0) for rate, e in found if e)
        if present:
            shares, means, errors = zip(*present, strict=True)
            # As words: the shares are far from evenly spaced.
            series.append(Series(model, [f"{share:g} %" for share in shares], means, errors))
    return Panel(dataset, series, x="labelled nodes", y="test accuracy, %")

"""The appendix's three tables: few labels."""

from __future__ import annotations

from dfnets.datasets.splits import LOW_LABEL_RATES
from dfnets.studies import published, tables
from dfnets.studies.plan import CITATION, Group, Study, training
from dfnets.studies.results import Results
from dfnets.studies.shown import Figure, Panel, Part, Series, Table

MODELS = ("chebyshev", "gcn", "gat", "lnet", "adalnet", "dfnet", "dfnet-plus")


def group(model: str, dataset: str, rate: float | None, *, quick: bool = False) -> Group:
    """A model at a label rate; None is the standard split, whose runs are the baselines' too."""
    if rate is None:
        return Group(model, dataset, **training(quick))
    return Group(model, dataset, "low-label", {"rate": rate}, **training(quick))


def cases(quick: bool) -> list[tuple[str, float | None]]:
    if quick:
        return [("cora", 0.01)]
    return [(d, rate) for d in CITATION for rate in (None, *LOW_LABEL_RATES[d])]


def models(quick: bool) -> tuple[str, ...]:
    return ("chebyshev", "gcn", "dfnet", "dfnet-plus") if quick else MODELS


def percent(dataset: str, rate: float | None) -> float:
    return published.standard_percent(dataset) if rate is None else 100 * rate


def plan(quick: bool) -> list[Group]:
    return [group(m, d, rate, quick=quick) for d, rate in cases(quick) for m in models(quick)]


def show(results: Results) -> list[Part]:
    quick = results.quick
    parts: list[Part] = []
    entries, pairs, panels = [], [], []
    for dataset in dict.fromkeys(d for d, _ in cases(quick)):
        rates = [rate for d, rate in cases(quick) if d == dataset]
        rows = []
        for rate in rates:
            row: list[object] = [f"{percent(dataset, rate):g} %" + (" (standard)" if rate is None else "")]
            for model in models(quick):
                row += [
                    published.low_label(model, dataset, percent(dataset, rate)),
                    results.of(group(model, dataset, rate, quick=quick)).text(),
                ]
                entries.append(
                    (
                        f"{percent(dataset, rate):g} %",
                        group(model, dataset, rate, quick=quick),
                        published.low_label(model, dataset, percent(dataset, rate)),
                    )
                )
            rows.append(row)
            for ours in ("dfnet", "dfnet-plus"):
                pairs += [
                    (group(ours, dataset, rate, quick=quick), group(m, dataset, rate, quick=quick))
                    for m in models(quick)
                    if m != ours
                ]
        columns = ["labels", *(name for m in models(quick) for name in (f"{m}: paper", "here"))]
        note = (
            "Test accuracy in percent, rule validation, mean ± standard deviation over draws (protocol low-label: one "
        )
        note += (
            "training node of each class, the rest at random, 500 validation and 1000 test nodes). The paper's draws "
        )
        note += "are other ones."
        parts.append(Table(f"low-labels-{dataset}", f"Few labels on {dataset}", columns, rows, note))
        panels.append(_panel(results, dataset, rates))
    return [
        *parts,
        Figure("low-labels", "Accuracy against the share of labelled nodes", panels),
        tables.accuracies(results, "low-labels", "Every selection rule, beside the paper", entries),
        tables.differences(results, "low-labels-pairs", "DFNet and DFNetPlus against the others", pairs),
    ]


def _panel(results: Results, dataset: str, rates: list[float | None]) -> Panel:
    series = []
    for model in models(results.quick):
        found = [(rate, results.of(group(model, dataset, rate, quick=results.quick)).estimate()) for rate in rates]
        there = sorted((percent(dataset, rate), e.mean, e.std if e.count > 1 else 0.0) for rate, e in found if e)
        if there:
            shares, means, errors = zip(*there, strict=True)
            # As words: the shares are far from evenly spaced.
            series.append(Series(model, [f"{share:g} %" for share in shares], means, errors))
    return Panel(dataset, series, x="labelled nodes", y="test accuracy, %")


STUDY = Study(
    "low-labels",
    "Few labels (three tables of the appendix)",
    plan,
    show,
    "2 seeds and at most 100 epochs, four models on Cora at 1 % only",
)

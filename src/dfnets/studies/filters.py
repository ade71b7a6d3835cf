"""The appendix's comparison of filters: Chebyshev, Cayley and feedback-looped, without dense connections."""

from __future__ import annotations

from dfnets.studies import baselines, published, tables
from dfnets.studies.plan import CITATION, Group, Study
from dfnets.studies.results import Results
from dfnets.studies.shown import Part, Table

MODELS = tuple(published.FILTERS.values())
OURS = "feedback-looped"
group = baselines.group


def datasets(quick: bool) -> tuple[str, ...]:
    return ("cora",) if quick else CITATION


def plan(quick: bool) -> list[Group]:
    return [group(m, d, quick=quick) for d in datasets(quick) for m in MODELS]


def show(results: Results) -> list[Part]:
    quick = results.quick
    rows: list[list[object]] = []
    for model in MODELS:
        row: list[object] = [model]
        for dataset in datasets(quick):
            row += [published.filter_accuracy(model, dataset), results.of(group(model, dataset, quick=quick)).text()]
        rows.append(row)
    columns = ["filter", *(name for d in datasets(quick) for name in (f"{d}: paper", "here"))]
    entries = [(m, group(m, d, quick=quick), published.filter_accuracy(m, d)) for d in datasets(quick) for m in MODELS]
    pairs = [(group(OURS, d, quick=quick), group(m, d, quick=quick)) for d in datasets(quick) for m in MODELS[:-1]]
    note = "Test accuracy in percent, protocol planetoid, rule validation, mean ± standard deviation over the runs."
    return [
        Table("filters", "Filters without dense connections", columns, rows, note),
        tables.accuracies(results, "filters-runs", "Every selection rule, beside the paper", entries),
        tables.differences(results, "filters-pairs", "Feedback-looped against the others", pairs),
    ]


STUDY = Study(
    "filters", "Comparison of spectral filters (appendix)", plan, show, "2 seeds and at most 100 epochs, Cora only"
)

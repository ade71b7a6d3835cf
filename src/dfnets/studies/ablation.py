"""Figure 3 of the paper: scaled-normalization and cut-off frequency, both, one, or neither."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dfnets.studies import tables
from dfnets.studies.plan import CITATION, Group, Study, training
from dfnets.studies.results import Results
from dfnets.studies.shown import Figure, Panel, Part, Series

MODELS = ("dfnet", "dfnet-att", "df-att")
BOTH = "both"
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    BOTH: {},
    "cut-off frequency only": {"scaled": False},
    "scaled-normalization only": {"cut": None},
    "neither": {"scaled": False, "cut": None},
}


def group(model: str, dataset: str, variant: str, *, quick: bool = False) -> Group:
    """A model with one of the variants; ``both`` is the preset itself, so those runs are the baselines' too."""
    return Group(model, dataset, overrides=VARIANTS[variant], **training(quick))


def cases(quick: bool) -> list[tuple[str, str]]:
    return [("dfnet", "cora")] if quick else [(m, d) for d in CITATION for m in MODELS]


def plan(quick: bool) -> list[Group]:
    return [group(m, d, v, quick=quick) for m, d in cases(quick) for v in VARIANTS]


def show(results: Results) -> list[Part]:
    quick = results.quick
    entries = [(v, group(m, d, v, quick=quick), None) for m, d in cases(quick) for v in VARIANTS]
    panels = []
    for dataset in dict.fromkeys(d for _, d in cases(quick)):
        series = []
        for variant in VARIANTS:
            found = [
                (m, results.of(group(m, dataset, variant, quick=quick)).estimate())
                for m, d in cases(quick)
                if d == dataset
            ]
            there = [(m, e) for m, e in found if e is not None]
            errors = [e.std if e.count > 1 else 0.0 for _, e in there]
            series.append(Series(variant, [m for m, _ in there], [e.mean for _, e in there], errors, "points"))
        panels.append(Panel(dataset, series, y="test accuracy, %"))
    note = (
        "Preset published, protocol planetoid, rule validation; bars are one standard deviation. Without the cut-off "
    )
    note += (
        "the wanted response is the frequency itself, scaled to [0, 1]; without scaled-normalization the shift is L^."
    )
    return [
        Figure("ablation", "Both techniques, one of them, or neither", panels, note),
        tables.accuracies(results, "ablation", "Accuracy of every variant", entries),
        _against_both(results),
    ]


def _against_both(results: Results) -> Part:
    """``both`` against each other variant; the variant's name stands where others have a model."""
    quick, rows = results.quick, []
    for model, dataset in cases(quick):
        whole = group(model, dataset, BOTH, quick=quick)
        for variant in VARIANTS:
            if variant == BOTH:
                continue
            found = results.compare(whole, group(model, dataset, variant, quick=quick))
            numbers: list[Any] = [0, None, None, None, None, "not run"]
            if found is not None:
                numbers = [found.count, found.mean, found.low, found.high, found.p, ""]
            rows.append([model, variant, dataset, *numbers])
    columns = ["model", "both against", "dataset", "pairs", "difference", "low", "high", "p", "note"]
    return tables.Table("ablation-pairs", "What both techniques add", columns, rows, tables.PAIRS)


STUDY = Study(
    "ablation",
    "Scaled-normalization and cut-off frequency (figure 3 of the paper)",
    plan,
    show,
    "2 seeds and at most 100 epochs, DFNet on Cora only",
)

"""Beyond the paper: DFNetPlus on the split that the paper names, on random ones, and on other graphs."""

from __future__ import annotations

from collections.abc import Iterator

from dfnets.studies.analysing.results import Results
from dfnets.studies.planning import paper_tables
from dfnets.studies.planning.accuracy import BASELINES, MODEL, OTHER_GRAPHS, STRONG, parts
from dfnets.studies.planning.group import DEFAULT, PUBLISHED, TUNED, Group
from dfnets.studies.planning.plan import tunings
from dfnets.studies.showing import tables
from dfnets.studies.showing.document import Part, Table

STANDARD_COLUMNS = ("dataset", "settings", "trials", "runs", "mean", "std", "low", "high")
Entry = tuple[str, Group, float | None]


def show(results: Results) -> list[Part]:
    """The standard split, random splits, other graphs, and what each part of the model adds."""
    plan = results.plan.accuracy
    pairs = [
        (plan.random(MODEL, d, t), plan.random(m, d, t))
        for d in plan.random_datasets
        for m in STRONG
        for t in tunings(m, d)
        if t in tunings(MODEL, d)
    ]
    shown: list[Part] = [
        _standard(results),
        tables.differences(results, "accuracy-random", "On random draws, against strong baselines", pairs),
        *(_other(results, tuning) for tuning in (DEFAULT, TUNED)),
    ]
    if plan.part_datasets:
        shown.append(_parts(results))
    return [*shown, tables.accuracies(results, "accuracy-runs", "Every selection rule", list(_entries(results)))]


def best_baseline(results: Results, dataset: str, tuning: str) -> Group | None:
    """The baseline with the highest mean test accuracy on a graph: chosen in the baselines' favour."""
    plan = results.plan.accuracy
    # Published settings were not searched on these graphs either.
    kinds = (DEFAULT, PUBLISHED) if tuning == DEFAULT else (tuning,)
    groups = [plan.other(m, dataset, t) for m in BASELINES for t in kinds if t in tunings(m, dataset)]
    found = [(e.mean, group.model, group) for group in groups if (e := results.of(group).estimate()) is not None]
    return max(found)[2] if found else None


def _entries(results: Results) -> Iterator[Entry]:
    """Everything that the study runs, with the paper's figure where there is one."""
    plan = results.plan.accuracy
    for d in plan.standard_datasets:
        for t in tunings(MODEL, d):
            yield "planetoid", plan.standard(d, t), paper_tables.baseline("dfnet", d)
    for d in plan.random_datasets:
        for m in (MODEL, *STRONG):
            for t in tunings(m, d):
                yield "random draws", plan.random(m, d, t), None
    for d in plan.other_datasets:
        for m in (MODEL, *BASELINES):
            for t in tunings(m, d):
                yield "other graph", plan.other(m, d, t), None
    for d in plan.part_datasets:
        for name in parts():
            yield f"part: {name}", plan.part(name, d), None


def _standard(results: Results) -> Table:
    plan, rows = results.plan.accuracy, []
    for dataset in plan.standard_datasets:
        for tuning in tunings(MODEL, dataset):
            sample = results.of(plan.standard(dataset, tuning))
            found = sample.estimate()
            numbers = [None] * 4 if found is None else [found.mean, found.std, found.low, found.high]
            printed = [paper_tables.baseline(name, dataset) for name in ("dfnet", "dfnet-att")]
            about = [dataset, tuning, sample.group.trials, len(sample.done)]
            rows.append([*about, *numbers, *printed, sample.note])
    return Table(
        "accuracy",
        "On the split that the paper names",
        [*STANDARD_COLUMNS, "paper's DFNet", "paper's DFNet-ATT", "note"],
        rows,
        "Test accuracy in percent, protocol planetoid, rule validation, with the 95 % interval of the mean over seeds.",
    )


def _other(results: Results, tuning: str) -> Table:
    """DFNetPlus with its default settings against the best baseline with default, or with tuned settings."""
    plan = results.plan.accuracy
    rivals = [best_baseline(results, d, tuning) for d in plan.other_datasets]
    ours = [plan.other(MODEL, d) for d in plan.other_datasets]
    compared = iter(results.compare([(a, b) for a, b in zip(ours, rivals, strict=True) if b is not None]))
    rows = []
    for dataset, group, rival in zip(plan.other_datasets, ours, rivals, strict=True):
        found = None if rival is None else next(compared)
        missing = "not run" if tuning == DEFAULT else "not searched, or not run"
        name, score = (missing, "") if rival is None else (rival.model, results.of(rival).text())
        about = [dataset, OTHER_GRAPHS[dataset], results.of(group).text(), name, score]
        rows.append([*about, *tables.difference_cells(found)])
    columns = ["dataset", "protocol", MODEL, "best baseline", "its accuracy", *tables.DIFFERENCE_COLUMNS]
    note = (
        f"{MODEL} has its default settings here. The best baseline is the one with the highest mean test accuracy, "
        "which favours it. "
    )
    return Table(
        f"accuracy-other-{tuning}",
        f"On other graphs, against the best baseline with {tuning} settings",
        columns,
        rows,
        note + tables.PAIRS,
    )


def _parts(results: Results) -> Table:
    plan = results.plan.accuracy
    rows = [[name, *(results.of(plan.part(name, d)).text() for d in plan.part_datasets)] for name in parts()]
    return Table("accuracy-parts", "What each part adds", ["variant", *plan.part_datasets], rows, tables.CELLS)

"""Beyond the paper: DFNetPlus on the split that the paper names, on random ones, and on other graphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dfnets.studies.analysing.results import Results
from dfnets.studies.planning import paper_tables
from dfnets.studies.planning.accuracy import BASELINES, MODEL, OTHER_GRAPHS, STRONG, UNSEEN, parts
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
        *(_contest(results, tuning) for tuning in (DEFAULT, TUNED)),
    ]
    if plan.part_datasets:
        shown.append(_parts(results))
    return [*shown, tables.accuracies(results, "accuracy-runs", "Every selection rule", list(_entries(results)))]


def ours(results: Results, dataset: str) -> Group:
    """DFNetPlus with its default settings, on the protocol of a dataset."""
    plan = results.plan.accuracy
    return plan.other(MODEL, dataset) if dataset in OTHER_GRAPHS else plan.standard(dataset, DEFAULT)


def rivals(results: Results, dataset: str, tuning: str) -> list[Group]:
    """Every baseline that was run on a dataset with settings of a kind, the one with the highest test accuracy first.

    The order is by test accuracy, so that the first is the best of them by luck too: that favours the baselines.
    """
    plan = results.plan
    # Published settings were not found by a search either.
    kinds = (DEFAULT, PUBLISHED) if tuning == DEFAULT else (tuning,)
    if dataset in OTHER_GRAPHS:
        groups = [plan.accuracy.other(m, dataset, t) for m in BASELINES for t in kinds if t in tunings(m, dataset)]
    else:
        cases = [case for case in plan.baselines.cases() if case[1:3] == (dataset, "planetoid") and case[3] in kinds]
        groups = [plan.baselines.group(*case) for case in cases if case[0] != MODEL]
    found = [(e.mean, group.model, group) for group in groups if (e := results.of(group).estimate()) is not None]
    return [group for _, _, group in sorted(found, key=lambda one: one[:2], reverse=True)]


def _entries(results: Results) -> Iterator[Entry]:
    """Everything that the study runs, with the paper's figure where there is one."""
    plan = results.plan.accuracy
    for d in plan.standard_datasets:
        for t in plan.standard_tunings(d):
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
        for tuning in plan.standard_tunings(dataset):
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
        "Test accuracy in percent, protocol planetoid, rule validation, with the 95 % interval of the mean over seeds. "
        "The longer search had more trials than any baseline, so it is no contest; tuned settings had as many as they.",
    )


def _contest(results: Results, tuning: str) -> Table:
    """DFNetPlus with its one default on every graph, against the best baseline with settings of a kind."""
    plan = results.plan.accuracy
    datasets = (*plan.standard_datasets, *plan.other_datasets)
    ranked = {d: rivals(results, d, tuning) for d in datasets}
    pairs = [(ours(results, d), ranked[d][0]) for d in datasets if ranked[d]]
    compared = iter(results.compare(pairs))
    rows: list[list[Any]] = []
    places: dict[str, list[int]] = defaultdict(list)
    for d in datasets:
        sample, others = results.of(ours(results, d)), ranked[d]
        found = next(compared) if others else None
        missing = "not run" if tuning == DEFAULT else "not searched, or not run"
        name, score = (others[0].model, results.of(others[0]).text()) if others else (missing, "")
        order = _order(results, [sample.group, *others]) if others and sample.done else []
        for number, model in enumerate(order, start=1):
            places[model].append(number)
        place = f"{places[MODEL][-1]} of {len(order)}" if order else ""
        seen = "no" if d in UNSEEN else "yes"
        about = [d, OTHER_GRAPHS.get(d, "planetoid"), seen, sample.text(), name, score, place]
        rows.append([*about, *tables.difference_cells(found)])
    columns = ["dataset", "protocol", "in sight", MODEL, "best baseline", "its accuracy", "place"]
    columns += tables.DIFFERENCE_COLUMNS
    note = (
        f"{MODEL} has the same default settings on every graph, those of the baselines are {tuning}. In sight: whether "
        "the default was developed on validation nodes of that graph, among others. The best baseline "
        "is the one with the highest mean test accuracy, which favours it; the place is that by mean test accuracy "
        f"among all of them. {_mean_places(places)}"
    )
    title = f"One default on every graph, against the best baseline with {tuning} settings"
    return Table(f"contest-{tuning}", title, columns, rows, note + tables.PAIRS)


def _order(results: Results, groups: Sequence[Group]) -> list[str]:
    """The models of groups that were run, the one with the highest mean test accuracy first; of equals the first."""
    means = [(e.mean, group.model) for group in groups if (e := results.of(group).estimate()) is not None]
    return list(dict.fromkeys(model for _, model in sorted(means, key=lambda one: -one[0])))


def _mean_places(places: Mapping[str, Sequence[int]]) -> str:
    """The best mean places of models that have one on every graph, in words.

    >>> _mean_places({"a": [1, 2], "b": [2, 1], "c": [3]})
    'Mean places, over the graphs with baselines (2), of models that were run on all of them: a 1.5, b 1.5. '
    """
    count = max(map(len, places.values()), default=0)
    means = sorted((sum(own) / count, model) for model, own in places.items() if len(own) == count)
    if not means:
        return ""
    best = ", ".join(f"{model} {mean:.1f}" for mean, model in means[:4])
    return f"Mean places, over the graphs with baselines ({count}), of models that were run on all of them: {best}. "


def _parts(results: Results) -> Table:
    plan = results.plan.accuracy
    rows = [[name, *(results.of(plan.part(name, d)).text() for d in plan.part_datasets)] for name in parts()]
    return Table("accuracy-parts", "What each part adds", ["variant", *plan.part_datasets], rows, tables.CELLS)

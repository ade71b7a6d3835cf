"""Tables that several studies show: accuracies in full, and paired differences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dfnets.studies.plan import Group
from dfnets.studies.results import Results
from dfnets.studies.shown import Table

RULES = "The rule validation takes the epoch that is best on validation nodes, final the last one, oracle the best on "
RULES += "test nodes: it explains published figures and is no estimate of anything. "
INTERVALS = "Mean, standard deviation and the 95 % interval of the mean (Student's t) over the runs; the last columns "
INTERVALS += "are the mean minus the paper's figure, with the same interval."
PAIRS = "Paired by seed, and so by draw where there are draws; 95 % interval and p by Student's paired "
PAIRS += "t-test, two-sided. Rule: validation."

COLUMNS = ["case", "model", "dataset", "protocol", "rule", "runs", "seeds", "mean", "std", "low", "high"]
COLUMNS += ["paper", "difference", "from", "to", "note"]


def accuracies(
    results: Results, name: str, title: str, entries: Iterable[tuple[str, Group, float | None]], *, note: str = ""
) -> Table:
    """A row for every group and rule, beside the paper's figure; a group without runs has one row that says so.

    Args:
        entries: what a row is called, its group, and the paper's figure.
    """
    rows = []
    for case, group, paper in entries:
        sample = results.of(group)
        about = [case, group.model, group.dataset, group.protocol_name]
        for rule in ("validation", "final", "oracle"):
            estimate = sample.estimate(rule)
            if estimate is None:
                continue
            shift: list[float | None] = [None] * 3
            if paper is not None:
                shift = [estimate.mean - paper, estimate.low - paper, estimate.high - paper]
            numbers = [estimate.mean, estimate.std, estimate.low, estimate.high, paper, *shift]
            rows.append([*about, rule, estimate.count, sample.seeds, *numbers, sample.note])
        if not sample.done:
            rows.append([*about, "", 0, "", None, None, None, None, paper, None, None, None, sample.note])
    return Table(name, title, COLUMNS, rows, note + RULES + INTERVALS)


def differences(
    results: Results, name: str, title: str, pairs: Iterable[tuple[Group, Group]], *, note: str = ""
) -> Table:
    """A row for every pair of groups on the same dataset and protocol."""
    rows: list[list[Any]] = []
    for one, other in pairs:
        about = [one.model, other.model, one.dataset, one.protocol_name]
        found = results.compare(one, other)
        if found is None:
            missing = results.of(one) if not results.of(one).done else results.of(other)
            rows.append([*about, 0, None, None, None, None, f"{missing.group.model}: {missing.note}"])
        else:
            rows.append([*about, found.count, found.mean, found.low, found.high, found.p, ""])
    columns = ["model", "against", "dataset", "protocol", "pairs", "difference", "low", "high", "p", "note"]
    return Table(name, title, columns, rows, note + PAIRS)

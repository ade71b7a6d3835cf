"""Tables that several studies show: accuracies in full, and paired differences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dfnets.studies.analysing.comparison import Comparison
from dfnets.studies.analysing.results import Results
from dfnets.studies.planning.group import Group
from dfnets.studies.showing.document import Table

CELLS = (
    "Test accuracy in percent, protocol planetoid unless the column says otherwise, rule validation: mean ± standard "
    "deviation over the runs, and the number of search trials behind the settings. Settings are the model's own "
    "(default), those of the authors' code (published), or found by a search (tuned); compare within each kind."
)
RULES = (
    "The rule validation takes the epoch that is best on validation nodes, final the last one, oracle the best on test "
    "nodes; the last explains published figures and estimates nothing. "
)
INTERVALS = (
    "Mean, standard deviation and the 95 % interval of the mean (Student's t, over seeds or draws) of the runs; the "
    "columns after the paper's figure are the difference to it, with the same interval. Trials: settings that the "
    "search tried on validation nodes; 0 for default settings."
)
PAIRS = (
    "Paired by seed, and so by draw where there are draws. The first interval lets seeds (or draws) vary, by Student's "
    "t; the second also the test nodes, by a bootstrap over nodes and seeds. p is the larger of the two, and Holm's is "
    "corrected for all comparisons of this table. A difference counts when both intervals exclude 0 and Holm's p is "
    "below .05. Rule: validation."
)

COLUMNS = ["case", "model", "settings", "trials", "dataset", "protocol", "rule", "runs", "seeds", "mean", "std"]
COLUMNS += ["low", "high", "paper", "difference", "from", "to", "note"]
DIFFERENCE_COLUMNS = ["pairs", "difference", "low", "high", "low, nodes too", "high, nodes too", "p", "p, Holm", "note"]


def accuracies(
    results: Results, name: str, title: str, entries: Iterable[tuple[str, Group, float | None]], *, note: str = ""
) -> Table:
    """A row for every group and rule, beside the paper's figure; a group without runs has one row that says so.

    Args:
        entries: the name of a row, its group, and the paper's figure.
    """
    rows = []
    for case, group, paper in entries:
        sample = results.of(group)
        about = [case, group.model, group.tuning, group.trials, group.dataset, group.protocol_name]
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
    """A row for every pair of groups on the same dataset and protocol, p-values corrected over all of them."""
    listed = list(pairs)
    rows: list[list[Any]] = []
    for (one, other), found in zip(listed, results.compare(listed), strict=True):
        missing = results.of(one) if not results.of(one).done else results.of(other)
        words = f"{missing.group.model}: {missing.note}"
        about = [one.model, other.model, one.tuning, f"{one.trials}, {other.trials}", one.dataset, one.protocol_name]
        rows.append([*about, *difference_cells(found, words)])
    columns = ["model", "against", "settings", "trials", "dataset", "protocol", *DIFFERENCE_COLUMNS]
    return Table(name, title, columns, rows, note + PAIRS)


def difference_cells(found: Comparison | None, missing: str = "not run") -> list[Any]:
    """The cells of :data:`DIFFERENCE_COLUMNS`."""
    if found is None:
        return [0, *[None] * 7, missing]
    nodes = [None, None] if found.nodes is None else [found.nodes.low, found.nodes.high]
    note = "correct nodes were not stored" if found.nodes is None else ""
    return [found.count, found.mean, found.seeds.low, found.seeds.high, *nodes, found.p, found.adjusted, note]

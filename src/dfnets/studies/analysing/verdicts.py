"""A verdict on a claim: how comparisons decide it, and the words for it.

A claim that compares models depends on how well each of them was tuned. It is decided only if every model in it had the
same search, of at least :data:`dfnets.studies.planning.budget.FAIR_TRIALS` trials; a claim that fails then was "not
reproduced", which is not the same as "refuted". Refuted are claims that no tuning could save: properties of a filter,
and comparisons within one model at the paper's own settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dfnets.studies.analysing.comparison import Comparison
from dfnets.studies.analysing.results import Results
from dfnets.studies.planning.budget import FAIR_TRIALS, is_fair
from dfnets.studies.planning.group import CITATION, PAPER_DATASETS, Group

HOLDS, REFUTED, UNDECIDED, MISSING = "holds", "refuted", "undecided", "not measured"
NOT_REPRODUCED = "not reproduced after a fair search of {trials} trials"
# Points of accuracy: an interval that reaches no further than this from its mean is taken for the figure in it.
NARROW = 1.0


@dataclass(frozen=True)
class Finding:
    """A verdict, and the measurement that it comes from."""

    verdict: str
    measurement: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and the function that decides it."""

    name: str
    text: str
    check: Callable[[Results], Finding]


@dataclass(frozen=True)
class Search:
    """What tuning stands behind the groups of a claim.

    Attributes:
        unfair: the models, with datasets, that had too few trials.
        trials: the fewest trials of any of them.
    """

    unfair: tuple[str, ...]
    trials: int

    @classmethod
    def behind(cls, groups: Iterable[Group]) -> Search:
        """The search behind groups; models without settings to search need none."""
        searched = list(dict.fromkeys((group.model, group.dataset, group.trials) for group in groups))
        unfair = [f"{m} on {d}: {trials}" for m, d, trials in searched if not is_fair(m, trials)]
        return cls(tuple(unfair), min((trials for m, _, trials in searched if trials), default=0))

    @property
    def failed(self) -> str:
        """The verdict on a claim that the measurements contradict."""
        return UNDECIDED if self.unfair else NOT_REPRODUCED.format(trials=self.trials)

    @property
    def held(self) -> str:
        """The verdict on a claim that the measurements support."""
        return UNDECIDED if self.unfair else HOLDS

    def __str__(self) -> str:
        if not self.unfair:
            return ""
        named = "; ".join(self.unfair[:3]) + ("" if len(self.unfair) <= 3 else f" and {len(self.unfair) - 3} more")
        return f" (no fair search: fewer than {FAIR_TRIALS} trials for {named})"


def decide(comparisons: Sequence[Comparison | None], search: Search | None = None) -> str:
    """Whether every difference is above zero.

    A difference that is below zero beyond doubt contradicts the claim, even where others are missing.

    Args:
        search: the tuning behind the models; None for a claim that tuning cannot change.
    """
    if any(found is not None and found.below for found in comparisons):
        return REFUTED if search is None else search.failed
    if not comparisons or any(found is None for found in comparisons):
        return MISSING
    if all(found.above for found in comparisons if found is not None):
        return HOLDS if search is None else search.held
    return UNDECIDED


def reached(found: Comparison, search: Search) -> str:
    """Whether an accuracy is as high as a figure, given its difference to that figure.

    It is when the mean is, or when the interval over seeds reaches the figure and is narrow enough to say anything. It
    is not when every interval, over seeds and over test nodes, ends below the figure.
    """
    if found.mean >= 0:
        return HOLDS if found.count > 1 else UNDECIDED
    if found.nodes is not None and found.high < 0:
        return search.failed
    seeds = found.seeds
    return HOLDS if seeds.high >= 0 and seeds.high - seeds.mean <= NARROW else UNDECIDED


def all_above(
    results: Results, pairs: Sequence[tuple[Group, Group]], *, tuned: bool, label: Callable[[Group, Group], str]
) -> Finding:
    """The finding that every first group is above its second one.

    Args:
        tuned: whether the claim compares models, and so needs a fair search.
        label: what a pair is called in the measurement.
    """
    compared = results.compare(pairs)
    search = Search.behind(group for pair in pairs for group in pair) if tuned else None
    words = [
        f"{label(one, other)}: {found}"
        for (one, other), found in zip(pairs, compared, strict=True)
        if found is not None
    ]
    return Finding(decide(compared, search), list_measurements(words, len(pairs)) + str(search or ""))


def name_pair(one: Group, other: Group) -> str:
    """A pair of models on a dataset."""
    return f"{one.model} - {other.model} on {one.dataset}"


def list_measurements(words: Sequence[str], planned: int) -> str:
    """What was measured, and how many of the planned comparisons were not run."""
    missing = planned - len(words)
    return "; ".join([*words, *([f"{missing} of {planned} not run"] if missing else [])])


def under_protocols(check: Callable[[str, tuple[str, ...]], Finding]) -> Finding:
    """The verdict on ``planetoid``, the split that the paper names; or else on ``authors``, the one of its code."""
    named = check("planetoid", PAPER_DATASETS)
    if named.verdict == HOLDS:
        return named
    other = check("authors", CITATION)
    verdict = f"{HOLDS} under protocol authors" if other.verdict == HOLDS else named.verdict
    return Finding(verdict, f"planetoid: {named.measurement}. authors: {other.measurement}")


def all_of(verdicts: Sequence[bool | None]) -> str:
    """Holds if all do; one that does not refutes the claim, even where others are missing."""
    if any(verdict is False for verdict in verdicts):
        return REFUTED
    return MISSING if not verdicts or None in verdicts else HOLDS


def worst(verdicts: Sequence[str]) -> str:
    """The verdict on several parts of a claim: that of the part that speaks most against it.

    >>> worst([HOLDS, UNDECIDED]), worst([MISSING, REFUTED])
    ('undecided', 'refuted')
    """
    order = [HOLDS, UNDECIDED, MISSING]
    return max(verdicts, key=lambda verdict: order.index(verdict) if verdict in order else len(order))

"""A verdict on a claim: how estimates decide, and the words for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dfnets.studies.plan import CITATION, PAPER_DATASETS, Group
from dfnets.studies.results import Results
from dfnets.studies.statistics import Estimate

HOLDS, FAILS, UNDECIDED, MISSING = "holds", "does not hold", "not decided", "not measured"
# Points of accuracy: an interval no wider than this to either side is taken for the figure that it holds.
NARROW = 1.0


@dataclass(frozen=True)
class Finding:
    """A verdict, and the measurement that it comes from."""

    verdict: str
    measurement: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and what decides it."""

    name: str
    text: str
    check: Callable[[Results], Finding]


def judged(estimates: Sequence[Estimate | None]) -> str:
    """Whether every difference is above zero: with its whole interval, or nothing is decided.

    One whose whole interval is not above zero refutes the claim, even where others are missing.

    >>> from dfnets.studies import statistics
    >>> judged([statistics.mean([1.0, 1.1, 0.9]), statistics.mean([-3.0, 1.0])])
    'not decided'
    """
    if any(found is not None and found.high <= 0 for found in estimates):
        return FAILS
    if not estimates or any(found is None for found in estimates):
        return MISSING
    return HOLDS if all(found.low > 0 for found in estimates if found is not None) else UNDECIDED


def reached(found: Estimate, figure: float) -> str:
    """Whether a mean is as high as a figure, or its interval is when that is narrow enough to say anything.

    >>> from dfnets.studies import statistics
    >>> reached(statistics.mean([84.9, 85.1, 85.2, 85.4]), 85.2), reached(statistics.mean([80.0, 84.0]), 85.2)
    ('holds', 'not decided')
    """
    if found.mean >= figure:
        return HOLDS if found.count > 1 else UNDECIDED
    if found.high < figure:
        return FAILS
    return HOLDS if found.high - found.mean <= NARROW else UNDECIDED


def pairs_above(results: Results, pairs: Iterable[tuple[Group, Group]]) -> Finding:
    """Every first one is above its second one."""
    found = [(one, other, results.compare(one, other)) for one, other in pairs]
    words = [f"{one.model} - {other.model} on {one.dataset}: {e}" for one, other, e in found if e is not None]
    return Finding(judged([estimate for *_, estimate in found]), told(words, len(found)))


def told(words: Sequence[str], planned: int) -> str:
    """What was measured, and how many comparisons were not run."""
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
        return FAILS
    return MISSING if not verdicts or None in verdicts else HOLDS

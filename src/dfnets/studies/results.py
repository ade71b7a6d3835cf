"""Runs of a store, as a study asks for them: by group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dfnets.store import Run, Store
from dfnets.studies import statistics
from dfnets.studies.plan import Group
from dfnets.studies.statistics import Estimate
from dfnets.training.selection import seed_words

RULE = "validation"


@dataclass(frozen=True)
class Sample:
    """The runs of a group that there are, all of one version of the code and of one dataset.

    Attributes:
        current: whether that is the code as it is here now.
    """

    group: Group
    runs: tuple[Run, ...]
    current: bool = True

    @cached_property
    def done(self) -> tuple[Run, ...]:
        return tuple(run for run in self.runs if run.status == "done")

    def values(self, rule: str = RULE) -> dict[int, float]:
        """Test accuracy in percent by seed."""
        return {run.seed: value for run in self.done if (value := getattr(run, rule)) is not None}

    def estimate(self, rule: str = RULE) -> Estimate | None:
        values = list(self.values(rule).values())
        return statistics.mean(values) if values else None

    def measures(self, name: str) -> list[Any]:
        """A measurement of every run that has it."""
        return [run.measures[name] for run in self.done if name in run.measures]

    @property
    def seeds(self) -> str:
        return seed_words([run.seed for run in self.done]) if self.done else ""

    @property
    def note(self) -> str:
        """What is missing, in words; empty when nothing is."""
        if not self.runs:
            return "not run" if self.group.registered else "not registered"
        failed = [run for run in self.runs if run.status == "failed"]
        words = [] if self.current else ["older code"]
        if len(self.done) + len(failed) < self.group.seeds:
            words.append(f"{len(self.done)} of {self.group.seeds} runs")
        if failed:
            words.append(f"{len(failed)} failed: {failed[0].reason}")
        return "; ".join(words)

    def text(self, rule: str = RULE) -> str:
        """Mean and spread, or why there is none."""
        estimate = self.estimate(rule)
        if estimate is None:
            return self.note
        spread = f" ± {estimate.std:.1f}" if estimate.count > 1 else ", 1 run"
        return f"{estimate.mean:.1f}{spread}"


class Results:
    """The runs of a store, found by group.

    Args:
        quick: whether the studies are asked for their first look.
    """

    def __init__(self, store: Store | Sequence[Run], *, quick: bool = False) -> None:
        self.quick = quick
        self._runs: dict[tuple[str, ...], list[Run]] = defaultdict(list)
        for run in store.runs() if isinstance(store, Store) else store:
            self._runs[run.dataset, run.protocol, run.model, run.config].append(run)

    def of(self, group: Group) -> Sample:
        """The runs of a group by one version of the code: that with most runs; of equals that of now, or the last."""
        if not group.registered:
            return Sample(group, ())
        found: Mapping[tuple[str, str], list[Run]] = defaultdict(list)
        for run in self._runs.get((group.dataset, group.protocol_name, group.model, group.config), []):
            if run.seed < group.seeds:
                found[run.code, run.data].append(run)
        if not found:
            return Sample(group, ())
        best = max(
            found,
            key=lambda kind: (len(found[kind]), kind[0] == group.code, max(run.finished for run in found[kind])),
        )
        runs = sorted(found[best], key=lambda run: run.seed)
        return Sample(group, tuple(runs), current=best[0] == group.code)

    def compare(self, one: Group, other: Group, rule: str = RULE) -> Estimate | None:
        """The paired difference of two groups."""
        return statistics.paired(self.of(one).values(rule), self.of(other).values(rule))

    def share(self, groups: Sequence[Group]) -> float:
        """How much of groups is there."""
        wanted = [group for group in groups if group.registered]
        there = sum(len(self.of(group).runs) for group in wanted)
        return there / max(1, sum(group.seeds for group in wanted))

"""Runs of a store, found by group, and compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dfnets.store import Run, Store, unpack_bits
from dfnets.studies.analysing import bootstrap, statistics
from dfnets.studies.analysing.comparison import Comparison, adjust
from dfnets.studies.analysing.statistics import Estimate
from dfnets.studies.planning import Plan
from dfnets.studies.planning.group import Group
from dfnets.studies.running import code_version
from dfnets.training.selection import seed_words

RULE = "validation"


@dataclass(frozen=True)
class Sample:
    """The stored runs of a group, all of one version of the code and of one dataset.

    Attributes:
        current: whether that is the present version of the code.
    """

    group: Group
    runs: tuple[Run, ...]
    current: bool = True

    @cached_property
    def done(self) -> tuple[Run, ...]:
        """The runs that did not fail."""
        return tuple(run for run in self.runs if run.status == "done")

    def values(self, rule: str = RULE) -> dict[int, float]:
        """Test accuracy in percent by seed."""
        return {run.seed: value for run in self.done if (value := getattr(run, rule)) is not None}

    def correct(self) -> dict[int, np.ndarray]:
        """Which test nodes were classified correctly, by seed, for runs that stored it."""
        return {run.seed: unpack_bits(run.correct, run.tested) for run in self.done if run.tested}

    def estimate(self, rule: str = RULE) -> Estimate | None:
        """The mean accuracy with its interval over seeds; None without runs."""
        values = list(self.values(rule).values())
        return statistics.mean(values) if values else None

    def against(self, figure: float) -> Comparison | None:
        """The accuracy minus a published figure; None without runs."""
        seeds = self.estimate()
        if seeds is None:
            return None
        nodes, correct = None, self.correct()
        if correct.keys() == self.values().keys():
            values = [100.0 * own for own in correct.values()]
            nodes = bootstrap.estimate(values, same_nodes=_same_split(self.done)).minus(figure)
        return Comparison(seeds.minus(figure), nodes)

    def measures(self, name: str) -> list[Any]:
        """A measurement of every run that has it."""
        return [run.measures[name] for run in self.done if name in run.measures]

    @property
    def seeds(self) -> str:
        """The seeds in words."""
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
        """Mean, spread and the number of search trials behind the settings, or why there is no figure."""
        estimate = self.estimate(rule)
        if estimate is None:
            return self.note
        spread = f" ± {estimate.std:.1f}" if estimate.count > 1 else ", 1 run"
        return f"{estimate.mean:.1f}{spread} ({trial_words(self.group.trials)})"


def trial_words(trials: int) -> str:
    """The number of search trials for a cell of a table.

    >>> trial_words(0), trial_words(1), trial_words(20)
    ('0 trials', '1 trial', '20 trials')
    """
    return f"{trials} trial" + ("" if trials == 1 else "s")


class Results:
    """The runs of a store, found by group.

    Args:
        store: or the runs themselves.
        plan: the studies that are asked for, in full by default.
    """

    def __init__(self, store: Store | Sequence[Run], plan: Plan | None = None) -> None:
        self.plan = Plan() if plan is None else plan
        self._runs: dict[tuple[str, ...], list[Run]] = defaultdict(list)
        self._compared: dict[tuple[Any, ...], Comparison | None] = {}
        for run in store.runs() if isinstance(store, Store) else store:
            self._runs[run.dataset, run.protocol, run.model, run.config].append(run)

    def of(self, group: Group) -> Sample:
        """The runs of a group by one version of the code.

        That is the version with most runs; if two have as many, the present one, or else the latest.
        """
        if not group.registered:
            return Sample(group, ())
        found: Mapping[tuple[str, str], list[Run]] = defaultdict(list)
        for run in self._runs.get((group.dataset, group.protocol_name, group.model, group.config), []):
            if run.seed < group.seeds:
                found[run.code, run.data].append(run)
        if not found:
            return Sample(group, ())
        now = code_version.of_group(group)
        best = max(found, key=lambda kind: (len(found[kind]), kind[0] == now, max(run.finished for run in found[kind])))
        runs = sorted(found[best], key=lambda run: run.seed)
        return Sample(group, tuple(runs), current=best[0] == now)

    def compare(self, pairs: Sequence[tuple[Group, Group]]) -> list[Comparison | None]:
        """The paired differences of groups that are shown together, with p-values corrected for all of them."""
        return adjust([self._difference(one, other) for one, other in pairs])

    def _difference(self, one: Group, other: Group) -> Comparison | None:
        """The difference over the seeds that both groups have; None where there are none."""
        key = tuple((g.dataset, g.protocol_name, g.model, g.config, g.seeds) for g in (one, other))
        if key not in self._compared:
            self._compared[key] = _paired(self.of(one), self.of(other))
        return self._compared[key]

    def compare_means(self, ones: Sequence[Group], others: Sequence[Group]) -> Comparison | None:
        """The mean over some groups minus the mean over others, for groups that share one split."""
        sides = [[sample for group in groups if (sample := self.of(group)).done] for groups in (ones, others)]
        if not all(sides):
            return None
        values = [_mean_by_seed([sample.values() for sample in side]) for side in sides]
        seeds = statistics.paired(values[0], values[1])
        if seeds is None:
            return None
        correct = [_mean_by_seed([sample.correct() for sample in side]) for side in sides]
        shared = sorted(correct[0].keys() & correct[1].keys())
        nodes = None
        if shared and _same_split([run for side in sides for sample in side for run in sample.done]):
            nodes = bootstrap.estimate([100.0 * (correct[0][s] - correct[1][s]) for s in shared], same_nodes=True)
        return Comparison(seeds, nodes)

    def share(self, groups: Sequence[Group]) -> float:
        """The share of the planned runs of groups that is stored."""
        return self.stored(groups) / max(1, sum(group.seeds for group in groups if group.registered))

    def stored(self, groups: Sequence[Group]) -> int:
        """The number of planned runs of groups that are stored."""
        return sum(len(self.of(group).runs) for group in groups if group.registered)


def _paired(one: Sample, other: Sample) -> Comparison | None:
    seeds = statistics.paired(one.values(), other.values())
    if seeds is None:
        return None
    paired = sorted(one.values().keys() & other.values().keys())
    splits = [{run.seed: run.split for run in sample.done} for sample in (one, other)]
    ours, theirs = one.correct(), other.correct()
    nodes = None
    if all(s in ours and s in theirs and splits[0][s] == splits[1][s] for s in paired):
        values = [100.0 * (ours[s].astype(np.int8) - theirs[s].astype(np.int8)) for s in paired]
        nodes = bootstrap.estimate(values, same_nodes=_same_split([run for run in one.done if run.seed in paired]))
    return Comparison(seeds, nodes)


def _mean_by_seed(parts: Sequence[Mapping[int, Any]]) -> dict[int, Any]:
    """For every seed that all parts have, the mean of their values."""
    seeds = set.intersection(*(set(part) for part in parts))
    return {seed: np.mean([part[seed] for part in parts], axis=0) for seed in sorted(seeds)}


def _same_split(runs: Sequence[Run]) -> bool:
    return len({run.split for run in runs}) == 1

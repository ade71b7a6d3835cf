"""A paired comparison of two groups of runs, decided only when every kind of variation agrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dfnets.studies.analysing.statistics import LEVEL, Estimate, holm


@dataclass(frozen=True)
class Comparison:
    """The difference of two groups, or of a group and a published figure, in points of accuracy.

    Attributes:
        seeds: with an interval over seeds, or over draws of splits where the protocol has them.
        nodes: with an interval over test nodes and seeds; None where the runs did not store which nodes were correct.
        adjusted: the p-value after Holm's correction over the comparisons that are shown together.
    """

    seeds: Estimate
    nodes: Estimate | None
    adjusted: float | None = None

    @property
    def mean(self) -> float:
        """The difference itself."""
        return self.seeds.mean

    @property
    def count(self) -> int:
        """The number of pairs of runs."""
        return self.seeds.count

    @property
    def low(self) -> float:
        """The lower end of the wider side of the intervals."""
        return min(part.low for part in self._parts)

    @property
    def high(self) -> float:
        """The upper end of the wider side of the intervals."""
        return max(part.high for part in self._parts)

    @property
    def p(self) -> float | None:
        """The largest of the p-values, since all of the intervals must agree; None where one is missing."""
        known = [part.p for part in self._parts if part.p is not None]
        return max(known) if len(known) == len(self._parts) else None

    @property
    def above(self) -> bool:
        """Whether the first is ahead: by every interval, and after the correction for many comparisons."""
        return self._significant and self.low > 0

    @property
    def below(self) -> bool:
        """Whether the first is behind: by every interval, and after the correction for many comparisons."""
        return self._significant and self.high < 0

    @property
    def _parts(self) -> list[Estimate]:
        return [self.seeds] if self.nodes is None else [self.seeds, self.nodes]

    @property
    def _significant(self) -> bool:
        """Without the correct nodes of the runs nothing is decided."""
        return self.nodes is not None and self.adjusted is not None and self.adjusted < 1 - LEVEL

    def __str__(self) -> str:
        text = f"{self.mean:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"
        return text if self.adjusted is None else f"{text}, p = {self.adjusted:.2g}"


def adjust(comparisons: Sequence[Comparison | None]) -> list[Comparison | None]:
    """The comparisons of a table, with p-values corrected for all of them; those that were not run stay None."""
    corrected = holm([None if found is None else found.p for found in comparisons])
    return [
        None if found is None else replace(found, adjusted=p) for found, p in zip(comparisons, corrected, strict=True)
    ]

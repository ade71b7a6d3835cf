"""The paper's table of complexities: graphs and orders on which each filter is measured."""

from __future__ import annotations

from typing import ClassVar

from dfnets.studies.planning.group import Group
from dfnets.studies.planning.plan import StudyPlan

# Large enough that the work, and not the calls around it, takes the time.
NODES, EDGES, ORDER = 200_000, 1_600_000, 8
Point = tuple[int, int, int]
# What is varied, and the (nodes, edges, order) of each point.
SWEEPS: dict[str, list[Point]] = {
    "edges": [(NODES, m, ORDER) for m in (400_000, 800_000, 1_600_000, 3_200_000, 6_400_000)],
    "nodes": [(n, EDGES, ORDER) for n in (50_000, 100_000, 200_000, 400_000, 800_000)],
    "nodes and edges": [(m // 8, m, ORDER) for m in (400_000, 800_000, 1_600_000, 3_200_000, 6_400_000)],
    "order": [(NODES, EDGES, k) for k in (2, 4, 8, 16, 32)],
}
# The filters here, and the rows of the paper's table.
FILTERS = {
    "chebyshev": "Chebyshev",
    "lanczos": "Lanczos",
    "cayley": "Cayley",
    "arma-1": "ARMA1",
    "arma-parallel": "d parallel ARMA1",
    "feedback-looped": "Feedback-looped",
}


class ComplexityPlan(StudyPlan):
    """One application of each filter on random graphs of growing size."""

    name: ClassVar = "complexity"
    title: ClassVar = "Complexity of filters (table 1 of the paper)"
    left_out: ClassVar = "3 of the 5 points of each sweep"

    def group(self, filter: str, point: Point) -> Group:
        """One application of a filter, measured."""
        nodes, edges, order = point
        settings = {"filter": filter, "nodes": nodes, "edges": edges, "order": order}
        return Group(
            f"{filter} filter", "random graph", "one signal", overrides=settings, seeds=1, measure="complexity"
        )

    def sweeps(self) -> dict[str, list[Point]]:
        """What is varied, and the (nodes, edges, order) of each point."""
        return {name: points[::2] for name, points in SWEEPS.items()} if self.quick else SWEEPS

    def points(self) -> list[Point]:
        """The points of all sweeps, each once."""
        return list(dict.fromkeys(point for sweep in self.sweeps().values() for point in sweep))

    def groups(self) -> list[Group]:
        """Everything that the study runs."""
        return [self.group(filter, point) for filter in FILTERS for point in self.points()]

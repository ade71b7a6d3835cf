"""Figure 2 of the paper: the accuracy of DFNet for polynomial orders p and q."""

from __future__ import annotations

from typing import ClassVar

from dfnets.studies.planning.group import CITATION, PUBLISHED, Group
from dfnets.studies.planning.plan import StudyPlan

ORDERS = (1, 3, 5, 7, 9)
# For a first look: each order is varied with the other as in the paper.
QUICK = {(1, 3), (5, 3), (9, 3), (5, 1), (5, 9)}


class OrdersPlan(StudyPlan):
    """DFNet with every pair of orders."""

    name: ClassVar = "orders"
    title: ClassVar = "Polynomial orders (figure 2 of the paper)"
    left_out: ClassVar = "2 seeds and at most 100 epochs, Cora only, 5 of the 25 pairs"

    def group(self, dataset: str, p: int, q: int) -> Group:
        """DFNet with these orders; p = 5 and q = 3 are as published: runs that the baselines share."""
        return self.trained("dfnet", dataset, tuning=PUBLISHED, overrides={"p": p, "q": q})

    def points(self) -> list[tuple[str, int, int]]:
        """(dataset, p, q) of everything that is run."""
        datasets = ("cora",) if self.quick else CITATION
        pairs = [(p, q) for p in ORDERS for q in ORDERS if not self.quick or (p, q) in QUICK]
        return [(d, p, q) for d in datasets for p, q in pairs]

    def groups(self) -> list[Group]:
        """Everything that the study runs."""
        return [self.group(*point) for point in self.points()]

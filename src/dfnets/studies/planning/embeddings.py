"""Figures 4 and 5 of the paper: the embeddings of GCN, GAT and DFNet."""

from __future__ import annotations

from typing import ClassVar

from dfnets.studies.planning.group import PAPER_MODELS, PUBLISHED, TUNED, Group
from dfnets.studies.planning.plan import StudyPlan

MODELS = ("gcn", "gat", "dfnet")
DATASETS = ("pubmed", "cora")
SEEDS = 3


class EmbeddingsPlan(StudyPlan):
    """Networks whose embeddings are measured."""

    name: ClassVar = "embeddings"
    title: ClassVar = "Node embeddings (figures 4 and 5 of the paper)"
    left_out: ClassVar = "1 seed, at most 100 epochs, Cora only"

    def group(self, model: str, dataset: str) -> Group:
        """A network whose embedding is measured."""
        tuning = PUBLISHED if model in PAPER_MODELS else TUNED
        return self.trained(model, dataset, tuning=tuning, seeds=1 if self.quick else SEEDS, measure="embedding")

    def datasets(self) -> tuple[str, ...]:
        """The datasets that are embedded."""
        return ("cora",) if self.quick else DATASETS

    def groups(self) -> list[Group]:
        """Everything that the study runs."""
        return [self.group(m, d) for d in self.datasets() for m in MODELS]

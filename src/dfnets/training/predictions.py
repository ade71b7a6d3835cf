"""What a trained model says of the nodes of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dfnets.training.calibration import tempered
from dfnets.training.class_offsets import shifted

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Predictions:
    """Probabilities of the classes for every node of a graph.

    Attributes:
        per_replica: (R, n, classes), of every replica.
        classes: their names.
        ids: (n,) the names of the nodes.
        temperature: see :func:`dfnets.training.calibration.tempered`; 1 changes nothing.
        class_offsets: (classes,), see :func:`dfnets.training.class_offsets.shifted`; None changes nothing.
    """

    per_replica: np.ndarray
    classes: tuple[str, ...]
    ids: np.ndarray
    temperature: float = 1.0
    class_offsets: np.ndarray | None = None

    @cached_property
    def probabilities(self) -> np.ndarray:
        """(n, classes) the mean over the replicas, classes shifted, then made flatter by the temperature."""
        mean = self.per_replica.mean(axis=0)
        if self.class_offsets is not None:
            mean = shifted(mean, self.class_offsets)
        return mean if self.temperature == 1 else tempered(mean, self.temperature)

    @property
    def labels(self) -> np.ndarray:
        """(n,) the number of the most probable class."""
        return self.probabilities.argmax(axis=1)

    def frame(self) -> pandas.DataFrame:
        """One row per node: id, label, its probability, and the probability of every class."""
        import pandas

        columns = {"id": self.ids, "label": np.asarray(self.classes, dtype=object)[self.labels]}
        columns["probability"] = self.probabilities.max(axis=1)
        every = {f"p({name})": self.probabilities[:, c] for c, name in enumerate(self.classes)}
        return pandas.DataFrame(columns | every)

    def __repr__(self) -> str:
        return f"Predictions(nodes={len(self.ids)}, classes={len(self.classes)})"

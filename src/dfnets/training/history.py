"""What happened in training: one row per epoch, one column per replica."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dfnets.training.objective import Scores

if TYPE_CHECKING:
    import pandas


class History:
    """Loss and scores of every epoch.

    Attributes:
        epochs: (E,) their numbers.
        loss, train, validation, validation_loss, test: (E, R) training loss, accuracies in percent, and cross-entropy
            on validation nodes. NaN where there is nothing to measure, and after a replica has stopped.
    """

    NAMES: ClassVar = ("loss", "train", "validation", "validation_loss", "test")

    def __init__(self, replicas: int) -> None:
        self.epochs = np.zeros(0, dtype=np.int64)
        self._table = np.zeros((0, len(self.NAMES), replicas))

    def append(self, epoch: int, loss: np.ndarray, scores: Scores, running: np.ndarray) -> None:
        """Adds an epoch; ``running`` (R,) says which replicas are still trained."""
        row = np.stack([loss, scores.train, scores.validation, scores.validation_loss, scores.test])
        row[:, ~running] = np.nan
        self.epochs = np.append(self.epochs, epoch)
        self._table = np.concatenate([self._table, row[None]])

    def __len__(self) -> int:
        return len(self.epochs)

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in self.NAMES:
            raise AttributeError(name)
        return self._table[:, self.NAMES.index(name)]

    def last(self) -> np.ndarray:
        """(R,) the row at which each replica ended."""
        return len(self) - 1 - np.argmax(~np.isnan(self.train[::-1]), axis=0)

    def frame(self) -> pandas.DataFrame:
        """A row for each epoch and replica."""
        import pandas

        count = self._table.shape[2]
        index = {"epoch": np.repeat(self.epochs, count), "replica": np.tile(np.arange(count), len(self))}
        return pandas.DataFrame(index | {name: getattr(self, name).ravel() for name in self.NAMES})

    def arrays(self) -> dict[str, np.ndarray]:
        """Its numbers as arrays by name, for a checkpoint."""
        return {"epochs": self.epochs, "table": self._table}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> History:
        """The history that :meth:`arrays` gave the numbers of."""
        history = cls(arrays["table"].shape[2])
        history.epochs, history._table = arrays["epochs"], arrays["table"]
        return history

    def __repr__(self) -> str:
        return f"History(epochs={len(self)}, replicas={self._table.shape[2]})"

"""Which epoch's network counts: the rule is part of every accuracy that is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# What each rule does, for messages and help.
RULES = {
    "final": "the last epoch",
    "validation": "the epoch that is best on validation nodes, by accuracy, loss or both as the model's select_by says",
    "oracle": "the epoch with the best test accuracy: explains published figures, and is no estimate of anything",
}


def check_rule(rule: str) -> str:
    """The rule, or an error that lists them."""
    if rule not in RULES:
        raise ValueError(f"rule={rule!r} is not one of {', '.join(map(repr, RULES))}")
    return rule


@dataclass(frozen=True)
class Accuracy:
    """Test accuracy in percent over several runs, with everything that it depends on.

    Attributes:
        values: one accuracy per run.
        rule: which epoch counts, see ``RULES``.
        preset: of the hyper-parameters, with what was changed of it.

    >>> Accuracy(np.array([81.0, 82.0, 83.0]), "final", "gcn", "cora", "planetoid", (0, 1, 2), "tuned-cora")
    82.00 ± 1.00 % (gcn on cora, preset tuned-cora, protocol planetoid, rule final, 3 runs, seeds 0-2)
    """

    values: np.ndarray = field(repr=False)
    rule: str
    model: str
    dataset: str
    protocol: str
    seeds: tuple[int, ...]
    preset: str = "default"

    @property
    def mean(self) -> float:
        """Over the runs, in percent."""
        return float(self.values.mean())

    @property
    def std(self) -> float:
        """Of the runs (n - 1 in the denominator); 0 for a single one."""
        return float(self.values.std(ddof=1)) if len(self.values) > 1 else 0.0

    def __repr__(self) -> str:
        count = len(self.seeds)
        runs = "1 run" if count == 1 else f"{count} runs"
        return (
            f"{self.mean:.2f} ± {self.std:.2f} % ({self.model} on {self.dataset}, preset {self.preset}, "
            f"protocol {self.protocol}, rule {self.rule}, {runs}, {seed_words(self.seeds)})"
        )


def preset_words(preset: str | None, changed: Mapping[str, Any]) -> str:
    """A preset and what was changed of it, for a person.

    >>> preset_words(None, {"dropout": 0.5})
    'default with dropout=0.5'
    """
    changes = ", ".join(f"{name}={value}" for name, value in changed.items())
    return (preset or "default") + (f" with {changes}" if changes else "")


def seed_words(seeds: Sequence[int]) -> str:
    """``seed 3``, ``seeds 0-9``, or ``seeds 1, 5``."""
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    if list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"seeds {seeds[0]}-{seeds[-1]}"
    return f"seeds {', '.join(map(str, seeds))}"


def better(
    select_by: str, accuracy: np.ndarray, loss: np.ndarray, best_accuracy: np.ndarray, best_loss: np.ndarray
) -> np.ndarray:
    """(R,) whether this epoch beats the best so far on validation; of equals the first stays.

    Args:
        select_by: ``"accuracy"``, where the loss decides among equals, ``"loss"``, or ``"both"``, where the best are
            the highest accuracy and the lowest loss of any epoch, and equals count.
    """
    if select_by == "loss":
        return loss < best_loss
    if select_by == "both":
        return (accuracy >= best_accuracy) & (loss <= best_loss)
    return (accuracy > best_accuracy) | ((accuracy == best_accuracy) & (loss < best_loss))


def last_record(epochs: np.ndarray, accuracy: np.ndarray, loss: np.ndarray) -> np.ndarray:
    """(R,) the last epoch whose accuracy or loss on validation no epoch before has beaten; 0 where there is none.

    Args:
        epochs: (E,) their numbers.
        accuracy, loss: (E, R); NaN after a replica has stopped.

    >>> last_record(np.array([1, 2, 3]), np.array([[70.0], [72.0], [71.0]]), np.array([[0.9], [0.8], [0.7]]))
    array([3])
    """
    # A NaN is no record, and the comparison with it is False.
    records = (accuracy >= np.fmax.accumulate(accuracy)) | (loss <= np.fmin.accumulate(loss))
    return np.max(np.where(records, epochs[:, None], 0), axis=0, initial=0)

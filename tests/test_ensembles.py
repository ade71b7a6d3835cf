"""What is given to the rivals of DFNetPlus, on predictions of which the mixture and the shift are known."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks import ensembles
from dfnets.training.objective import Nodes

N, CLASSES = 400, 2
LABELS = (np.arange(N) % 4 == 0).astype(np.int64)
NODES = Nodes(np.arange(40), np.arange(40, 140), np.arange(140, N))


def said(right: np.ndarray, sure: float = 0.8) -> torch.Tensor:
    """(n, 1, 2) logarithms of a prediction that is right where it is said to be."""
    p = np.where((np.arange(CLASSES) == LABELS[:, None]) == right[:, None], sure, 1 - sure)
    return torch.as_tensor(np.log(p))[:, None]


def test_a_baseline_that_is_right_outweighs_one_that_guesses() -> None:
    rng = np.random.default_rng(0)
    good, guess = said(rng.random(N) < 0.95), said(rng.random(N) < 0.5, 0.99)
    mixture = ensembles.mixed([guess, good], LABELS, NODES)
    assert ensembles.accuracies(mixture, LABELS, NODES)[0] == ensembles.accuracies(good, LABELS, NODES)[0] > 90


def test_offsets_help_where_classes_are_predicted_too_often() -> None:
    # Evenly sure of both classes, but three of four nodes are of the first.
    rng = np.random.default_rng(1)
    scores = rng.normal(size=N) + np.where(LABELS == 0, 1.0, -1.0) - 1.0
    log_p = torch.log_softmax(torch.as_tensor(np.stack([scores, -scores], axis=1)), dim=1)[:, None]
    without, shifted = ensembles.accuracies(log_p, LABELS, NODES)
    assert shifted > without + 5


def test_a_row_has_means_and_spreads_over_draws() -> None:
    table = ensembles.table_of("made", {"gcn": np.array([[80.0, 82.0], [82.0, 83.0]])})
    row = table.find(model="gcn")[0]
    assert (row["draws"], row["without offsets"], row["with offsets"], row["gain"]) == (2, 81.0, 82.5, 1.5)
    np.testing.assert_allclose((row["std"], row["std of the gain"]), (np.sqrt(2), np.sqrt(0.5)))

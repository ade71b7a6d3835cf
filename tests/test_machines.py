"""The same numbers on every machine: design, apply and training against values stored from another run.

The tolerances are what is promised between instruction sets, numbers of threads and versions of NumPy and SciPy:
1e-6 for designed responses, 1e-9 for filtered signals, 1e-3 for losses after five epochs in single precision.
:mod:`tools.matrix` runs this file on every kind of machine that one machine can stand for.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import dfnets
from dfnets import Graph, design, responses
from dfnets.datasets.splits import Split
from dfnets.nn.reproducibility import replicas_are_exact
from dfnets.training import fit

FREQUENCIES = np.linspace(0, 2, 9)
# f.response(FREQUENCIES) of designs by each method. The first two are convex, so that there is one answer; the search
# of the third may move when its algorithm does, but not with the machine.
DESIGNED = {
    "refit": "0.6246760 1.2569682 0.3450488 0.0677300 0.0099362 -0.0047391 -0.0070602 -0.0037975 0.0054025",
    "least-squares": "0.6995478 1.3274678 0.3275271 0.0489105 -0.0027669 -0.0120336 -0.0092818 -0.0001047 0.0185624",
    "iterative": "0.7835265 1.1345764 0.4644916 0.0054683 -0.0687051 -0.0610257 -0.0319578 0.0134958 0.0996061",
    "iterative band": "0.1372020 -0.1046632 0.5200145 1.1148866 0.8750650 0.4232578 0.0297756 -0.1332503 0.2310685",
}
FILTERED = [0.467796860788, 0.273067976474, -0.232783370581, -0.501272520295, -0.351199229880, 0.143823890791]
LOSSES = [
    [21.4462204, 23.8590755],
    [21.4831867, 21.5223866],
    [20.7730885, 21.4685764],
    [21.0697021, 21.3820839],
    [19.0086308, 21.2904892],
]


def towns() -> Graph:
    """Three towns of twenty people."""
    rng = np.random.default_rng(7)
    town = np.repeat(np.arange(3), 20)
    joined = np.triu(rng.random((60, 60)) < np.where(town[:, None] == town, 0.3, 0.02), 1)
    words = sp.csr_array((rng.random((60, 12)) < 0.3).astype(np.float64))
    return Graph((joined + joined.T).astype(float), features=words, labels=town, name="towns")


def designed(which: str) -> dfnets.FeedbackLoopedFilter:
    method, _, band = which.partition(" ")
    if band:
        return design(responses.band_pass(0.5, 1.2), 6, 4, 0.95, method=method)  # type: ignore[arg-type]
    return design(responses.low_pass(0.5), 3, 2, 0.9, method=method)  # type: ignore[arg-type]


def losses(replicas: int, seed: int = 0) -> np.ndarray:
    """(epochs, replicas) training losses of a small DFNet."""
    split = Split(np.arange(0, 60, 4), np.arange(1, 60, 4), np.arange(2, 60, 4), "mine")
    options = {"units": (5, 4), "dropout": 0.3, "learning_rate": 0.01, "progress": False, "device": "cpu"}
    return fit("dfnet", towns(), protocol=split, replicas=replicas, epochs=5, seed=seed, **options).history.loss


@pytest.mark.parametrize("which", DESIGNED)
def test_designs_agree(which: str) -> None:
    expected = np.array(DESIGNED[which].split(), dtype=float)
    np.testing.assert_allclose(designed(which).response(FREQUENCIES), expected, rtol=0, atol=1e-6)


def test_filtered_signals_agree() -> None:
    x = np.cos(np.arange(60.0))
    f = dfnets.FeedbackLoopedFilter([0.3, -0.2], [0.5, 0.25], centre=1.0)
    np.testing.assert_allclose(f.apply(towns(), x, tol=1e-12)[:6], FILTERED, atol=1e-9)


def test_training_agrees() -> None:
    np.testing.assert_allclose(losses(2), LOSSES, rtol=1e-3)


def test_a_replica_is_a_run_of_its_own() -> None:
    """To the bit where the BLAS of this machine allows it, as :func:`replicas_are_exact` finds out; else closely."""
    together, alone = losses(2), losses(1, seed=1)
    if replicas_are_exact():
        np.testing.assert_array_equal(together[:, 1:], alone)
    else:
        np.testing.assert_allclose(together[:, 1:], alone, rtol=1e-4)


def test_threads_change_no_bit() -> None:
    before = torch.get_num_threads()
    runs = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            runs.append(losses(2))
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(*runs)

"""Data for the tests, and what makes a run of them repeatable: every test draws the same numbers in every run.

Real graphs are used where they are at hand; tests of them are skipped with a reason where they are not.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, settings

from dfnets import Graph

# A shell that starts the tests in the background has Ctrl-C ignored, which their children inherit; but they send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run, however slow the machine: what looks for new ones is `make fuzz`, and
# `HYPOTHESIS_PROFILE=search` here. Nothing is written into the working tree, which other tests copy.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("search", settings.get_profile("repeatable"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

PLACES = [os.environ.get("DFNETS_DATA"), Path(__file__).parents[2] / "shared" / "data"]


@pytest.fixture(autouse=True)
def same_draws() -> None:
    """Global generators start alike in each test: its numbers do not depend on the tests before it."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)


def stored(name: str) -> Graph:
    """The graph of ``name``.npz (plain CSR arrays) in $DFNETS_DATA or beside the project; skips without it."""
    for place in PLACES:
        path = place and Path(place) / f"{name}.npz"
        if path and path.exists():
            with np.load(path, allow_pickle=False) as arrays:
                n = int(arrays["num_nodes"])
                indices, indptr = arrays["adj_indices"], arrays["adj_indptr"]
            return Graph(sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n)), name=name)
    pytest.skip(f"{name}.npz is neither in $DFNETS_DATA nor in ../shared/data")


def random_graph(n: int, degree: float, seed: int, *, weighted: bool = True) -> Graph:
    """A random graph of n nodes; isolated nodes happen."""
    rng = np.random.default_rng(seed)
    count = int(n * degree / 2)
    ends = rng.integers(0, n, (2, count))
    ends = ends[:, ends[0] != ends[1]]
    weights = rng.uniform(0.1, 3, ends.shape[1]) if weighted else None
    return Graph.from_edges(ends[0], ends[1], weights, num_nodes=n, duplicates="max", name=f"random-{n}")


def dense_graph(n: int, density: float, seed: int, *, weighted: bool = False, isolated: int | None = None) -> Graph:
    """A graph small enough for dense oracles; each pair is joined with probability ``density``."""
    rng = np.random.default_rng(seed)
    joined = rng.random((n, n)) < density
    weights = np.triu(joined * rng.random((n, n)) if weighted else joined.astype(float), 1)
    if isolated is not None:
        weights[:, isolated] = weights[isolated] = 0
    return Graph(weights + weights.T)


def path() -> Graph:
    """Three nodes in a row, joined with weights 1 and 2."""
    return Graph(np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]]))


def star(n: int) -> Graph:
    """One hub: a row with all the entries, and n - 1 rows with one."""
    return Graph.from_edges(np.zeros(n - 1, dtype=np.int64), np.arange(1, n))


@pytest.fixture
def one_thread() -> Iterator[None]:
    """For problems so small that a second thread loses more than it gains."""
    import numba
    import torch

    before = torch.get_num_threads(), numba.get_num_threads()
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    yield
    torch.set_num_threads(before[0])
    numba.set_num_threads(before[1])


@pytest.fixture
def exact_replicas() -> None:
    """For tests that compare replicas with single runs bit by bit (see tests/nn/test_reproducibility.py)."""
    from dfnets.nn.reproducibility import replicas_are_exact

    if not replicas_are_exact():
        pytest.skip("the BLAS in use sums by position in memory (MKL_CBWR is off, or torch was used before dfnets)")


@pytest.fixture
def exact_products() -> None:
    """For tests of bits that follow the number of threads or of columns unless MKL is in its strict mode."""
    mode = os.environ.get("MKL_CBWR", "")
    if not mode.endswith("STRICT"):
        pytest.skip(f"MKL_CBWR={mode} is not the strict mode that dfnets asks for")


@pytest.fixture
def exchange(tmp_path: Path) -> None:
    """For tests of what is promised only where a file system exchanges two folders in one step."""
    from dfnets import atomic

    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / "file").touch()
    if not atomic._exchanged(one, other):
        pytest.skip("this file system cannot exchange two folders in one step")
    shutil.rmtree(one)
    shutil.rmtree(other)


@pytest.fixture(scope="session")
def cora() -> Graph:
    return stored("cora")


@pytest.fixture(scope="session")
def citeseer() -> Graph:
    return stored("citeseer")


@pytest.fixture(scope="session")
def mesh() -> Graph:
    return stored("extra/mesh_mdual")

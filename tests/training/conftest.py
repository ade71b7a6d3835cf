"""A small graph with a class structure that a network finds in a few epochs."""

from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np
import pytest
import scipy.sparse as sp
import torch

from dfnets import Graph
from dfnets.datasets.splits import Split


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Problems of this size lose more than they gain by a second thread."""
    before = torch.get_num_threads(), numba.get_num_threads()
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    yield
    torch.set_num_threads(before[0])
    numba.set_num_threads(before[1])


@pytest.fixture
def graph() -> Graph:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 40)
    same = labels[:, None] == labels
    edges = np.triu(rng.random((120, 120)) < np.where(same, 0.1, 0.01), 1).astype(float)
    words = rng.random((120, 30)) < np.where(np.arange(30) % 3 == labels[:, None], 0.2, 0.05)
    return Graph(
        edges + edges.T,
        features=sp.csr_array(words.astype(np.float32)),
        labels=labels,
        name="blocks",
        label_names=("red", "green", "blue"),
    )


@pytest.fixture
def split() -> Split:
    every = np.random.default_rng(1).permutation(120)
    return Split(every[:30], every[30:60], every[60:], "mine")

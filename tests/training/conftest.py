"""A small graph with a class structure that a network finds in a few epochs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dfnets import Graph
from dfnets.datasets.splits import Split


@pytest.fixture(autouse=True)
def small_problems(one_thread: None) -> None:
    """Every test here trains on the small graph."""


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

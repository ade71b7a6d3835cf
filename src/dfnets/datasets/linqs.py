"""Cora as Sen et al. published it (*Collective Classification in Network Data*, 2008): words and citations."""

from __future__ import annotations

from importlib import resources

import numpy as np
import scipy.sparse as sp

from dfnets.datasets.planetoid import Read, adjacency_arrays, feature_arrays

# In the order in which Planetoid numbers them.
CORA_CLASSES = (
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
)


def cora(read: Read) -> dict[str, np.ndarray]:
    """The arrays of Cora from ``cora.content`` and ``cora.cites``, its papers put in Planetoid's order.

    A line of ``cora.content`` is a paper's id, 1433 zeros or ones, and its class; one of ``cora.cites`` is two ids.
    Planetoid's split is that of its order: 140 training, 500 validation, and the last 1000 test nodes.
    """
    order = resources.files("dfnets.datasets").joinpath("cora_order.txt").read_bytes().split()
    number = {paper: k for k, paper in enumerate(order)}
    n = len(order)
    table = [line.split(b"\t") for line in read("cora.content").splitlines()]
    place = np.array([number[line[0]] for line in table])
    words = np.array([line[1:-1] for line in table]) == b"1"
    labels = np.empty(n, dtype=np.int64)
    labels[place] = [CORA_CLASSES.index(line[-1].decode()) for line in table]
    rows, columns = np.nonzero(words)
    features = sp.csr_array((np.ones(len(rows)), (place[rows], columns)), shape=(n, words.shape[1]))
    cites = np.array([number[paper] for paper in read("cora.cites").split()])
    return {
        **adjacency_arrays(cites[0::2], cites[1::2], n),
        **feature_arrays(features),
        "labels": labels,
        "train": np.arange(140),
        "val": np.arange(140, 640),
        "test": np.arange(n - 1000, n),
    }

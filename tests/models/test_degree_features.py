"""Degree features against a plain loop, and when they are read."""

from __future__ import annotations

import numpy as np

from dfnets import Graph
from dfnets.models.degree_features import degree_features, tell_classes


def test_columns_are_means_over_neighbours() -> None:
    rng = np.random.default_rng(0)
    edges = np.triu(rng.random((12, 12)) < 0.3, 1) * rng.uniform(0.5, 2, (12, 12))
    edges[3], edges[:, 3] = 0, 0
    adjacency = edges + edges.T
    columns = degree_features(Graph(adjacency))
    # Weights say how strong an edge is, not how many there are; a node without neighbours has zeros.
    before = np.log1p((adjacency > 0).sum(axis=1))
    np.testing.assert_allclose(columns[:, 0], before)
    for column in columns[:, 1:].T:
        near = [before[row > 0] for row in adjacency]
        before = np.array([own.mean() if len(own) else 0 for own in near])
        np.testing.assert_allclose(column, before)
    assert not columns[3].any()


def test_columns_that_say_nothing_are_seldom_read() -> None:
    read = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        read.append(tell_classes(rng.normal(size=(100, 3)), rng.integers(5, size=100)))
    assert np.mean(read) < 0.05


def test_a_handful_of_labels_is_not_enough_to_tell() -> None:
    columns = np.repeat([[-1.0], [1.0]], 4, axis=0)
    assert not tell_classes(columns, np.repeat([0, 1], 4))
    # Nor are classes with one labelled node each, however many there are.
    assert not tell_classes(np.arange(30.0)[:, None], np.arange(30))

"""Reordering brings neighbours together and changes no result."""

from __future__ import annotations

import numpy as np

from dfnets import Graph, Shift, engine


def test_a_shuffled_strip_becomes_a_narrow_band_again():
    rng = np.random.default_rng(0)
    n, shuffle = 400, np.random.default_rng(1).permutation(400)
    near = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    adjacency = np.where((near > 0) & (near <= 3), 1.0, 0.0)[shuffle][:, shuffle]
    shift = Shift(Graph(adjacency))
    order = engine.ordering(shift)
    assert sorted(order) == list(range(n))
    rows, columns = np.nonzero(adjacency[order][:, order])
    assert np.abs(rows - columns).max() <= 6
    x = rng.standard_normal((n, 5))
    reordered = Shift(Graph(adjacency[order][:, order]))
    np.testing.assert_allclose(engine.step(reordered, x[order]), engine.step(shift, x)[order], atol=1e-13)

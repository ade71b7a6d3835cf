"""H M X for a batch, against matrices: nothing dropped, the same entries dropped everywhere, the mean kept."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dfnets.nn.sampled_rows import sampled_rows


def parts(kind: str) -> tuple[sp.csr_array, np.ndarray | sp.csr_array, np.ndarray]:
    rng = np.random.default_rng(0)
    rows = sp.random_array((30, 50), density=0.2, rng=rng, format="csr", dtype=np.float64)
    x = (rng.standard_normal((50, 11)) * (rng.random((50, 11)) < 0.6)).astype(np.float32)
    return rows, x if kind == "dense" else sp.csr_array(x), x


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_without_dropping_it_is_a_product(kind: str) -> None:
    rows, features, x = parts(kind)
    places = np.array([4, 0, 4, 29])
    found = sampled_rows(rows, features, places)
    np.testing.assert_allclose(found[:, 0], rows.toarray()[places] @ x, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize(("node_rate", "entry_rate"), [(0.5, 0.0), (0.0, 0.5), (0.5, 0.25)])
def test_what_is_dropped_is_dropped_for_every_row(kind: str, node_rate: float, entry_rate: float) -> None:
    """Rows of the identity show which entries are left; other rows must be the product with just these."""
    rows, features, x = parts(kind)
    options = {"seeds": np.array([11, 2**61]), "node_rate": node_rate, "entry_rate": entry_rate}
    left = sampled_rows(sp.csr_array(sp.eye_array(50)), features, np.arange(50), **options)
    found = sampled_rows(rows, features, np.arange(30), **options)
    for s in range(2):
        np.testing.assert_allclose(found[:, s], rows.toarray() @ left[:, s], rtol=0, atol=1e-5)
    assert not np.array_equal(left[:, 0], left[:, 1])
    kept = left[:, 0] != 0
    np.testing.assert_allclose(left[:, 0][kept], x[kept] / ((1 - node_rate) * (1 - entry_rate)), rtol=1e-6)
    if not entry_rate:
        assert set(np.unique(kept.sum(axis=1) - (x != 0).sum(axis=1) * kept.any(axis=1))) == {0}


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_rates_are_met_on_the_mean(kind: str) -> None:
    _, features, x = parts(kind)
    seeds = np.random.default_rng(1).integers(2**62, size=4000)
    draws = sampled_rows(
        sp.csr_array(sp.eye_array(50)), features, np.arange(50), seeds=seeds, node_rate=0.25, entry_rate=0.5
    )
    share = (draws != 0).mean(axis=1)[x != 0]
    # Six standard deviations of a share of 4000 independent draws: fixed seeds, so it either holds or does not.
    np.testing.assert_allclose(share, 0.75 * 0.5, atol=6 * np.sqrt(0.375 * 0.625 / 4000))
    # Two entries of one node, and the same entry of two nodes, go their own ways.
    both = ((draws[0] != 0)[:, x[0] != 0][:, :2]).all(axis=1).mean()
    assert both == pytest.approx(0.75 * 0.25, abs=0.05)

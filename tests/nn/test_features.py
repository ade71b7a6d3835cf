"""X stays sparse, and every product, gradient and statistic is that of the dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from dfnets.nn import Features


def matrix(n: int = 40, f: int = 9) -> sp.csr_array:
    rng = np.random.default_rng(0)
    dense = rng.random((n, f)) * (rng.random((n, f)) < 0.3)
    dense[:, 4] = 0  # a feature that nobody has
    dense[7] = 0  # a node without features
    return sp.csr_array(dense)


@pytest.mark.parametrize("kind", [sp.csr_array, np.asarray], ids=["sparse", "dense"])
def test_products(kind: type) -> None:
    x = matrix()
    features = Features(x if kind is sp.csr_array else x.toarray(), dtype=torch.float64)
    weight = torch.randn(3, 9, 5, dtype=torch.float64)
    dense = torch.as_tensor(x.toarray())
    torch.testing.assert_close(features.times(weight), torch.einsum("nf,rfk->nrk", dense, weight))
    x, out = torch.randn(40, 3, 5, dtype=torch.float64), torch.empty(9, 3, 5, dtype=torch.float64)
    features.transposed_times(x, out)
    torch.testing.assert_close(out, torch.einsum("nf,nrk->frk", dense, x))


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_moments(kind: str) -> None:
    x = matrix()
    mean, variance = Features(x if kind == "sparse" else x.toarray(), dtype=torch.float64).moments
    np.testing.assert_allclose(mean, x.toarray().mean(0), atol=1e-15)
    np.testing.assert_allclose(variance, x.toarray().var(0), atol=1e-15)


@pytest.mark.parametrize("k", [1, 7, 8, 33])
def test_bits_do_not_depend_on_the_number_of_replicas(k: int) -> None:
    features = Features(matrix(500, 60))
    weight = torch.randn(6, 60, k)
    together = features.times(weight)
    assert all(torch.equal(together[:, r], features.times(weight[r : r + 1])[:, 0]) for r in range(6))


def test_mismatch_names_both_sizes() -> None:
    with pytest.raises(ValueError, match="weight has 8 rows, but there are 9 features"):
        Features(matrix()).times(torch.ones(1, 8, 2))

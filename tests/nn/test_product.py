"""Feature maps times a weight against the concatenation, made dense."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from dfnets.nn import Features
from dfnets.nn.batched import empty_weight
from dfnets.nn.product import multiply

N, F, R, H = 15, 6, 2, 4
X = sp.random_array((N, F), density=0.4, rng=np.random.default_rng(0), format="csr")


@pytest.mark.parametrize("first", ["sparse", "dense", "tensor"])
@pytest.mark.parametrize("widths", [[], [2], [2, 3]])
def test_value_and_gradient(first: str, widths: list[int]) -> None:
    dense = torch.as_tensor(X.toarray())
    start = {
        "sparse": Features(X, dtype=torch.float64),
        "dense": Features(X.toarray(), dtype=torch.float64),
        "tensor": dense[:, None].expand(-1, R, -1),
    }[first]
    hidden = [torch.randn(N, R, width, dtype=torch.float64, requires_grad=True) for width in widths]
    weight = empty_weight(R, F + sum(widths), H, dtype=torch.float64).normal_().requires_grad_()
    joined = torch.cat([dense[:, None].expand(-1, R, -1), *hidden], dim=2)
    torch.testing.assert_close(multiply([start, *hidden], weight), torch.einsum("nrc,rch->nrh", joined, weight))
    assert torch.autograd.gradcheck(lambda w, *maps: multiply([start, *maps], w), (weight, *hidden))


@pytest.mark.usefixtures("exact_replicas")
@pytest.mark.parametrize("h", [1, 7, 16])
def test_bits_do_not_depend_on_the_number_of_replicas(h: int) -> None:
    features, hidden = Features(X), torch.randn(N, 3, 5, requires_grad=True)
    weight = empty_weight(3, F + 5, h).normal_().requires_grad_()
    together = multiply([features, hidden], weight)
    gradients = torch.autograd.grad(together.square().sum(), (hidden, weight))
    for r in range(3):
        own = [hidden[:, r : r + 1].detach().contiguous().requires_grad_(), weight[r : r + 1].detach().requires_grad_()]
        alone = multiply([features, own[0]], own[1])
        d_hidden, d_weight = torch.autograd.grad(alone.square().sum(), own)
        assert torch.equal(together[:, r], alone[:, 0])
        assert torch.equal(gradients[0][:, r], d_hidden[:, 0])
        assert torch.equal(gradients[1][r], d_weight[0])


def test_mismatch_names_both_sizes() -> None:
    with pytest.raises(ValueError, match="the weight has 5 rows, but there are 6 features"):
        multiply([Features(X)], torch.ones(1, 5, 2))

"""Folded batch normalisation against torch's own, applied to the dense matrix."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch.nn import functional

from dfnets.nn import Features, FoldedBatchNorm, Moments, batched


def test_fold_equals_normalising_first() -> None:
    x = torch.randn(30, 2, 5, dtype=torch.float64) * 3 + 1
    theta = torch.randn(2, 5, 4, dtype=torch.float64)
    norm = FoldedBatchNorm(5, replicas=2).double()
    torch.nn.init.normal_(norm.gamma)
    torch.nn.init.normal_(norm.beta)
    moments = Moments(5, replicas=2).double().train()
    scaled, row = norm.fold(theta, *moments(x))
    for r in range(2):
        plain = functional.batch_norm(x[:, r], None, None, norm.gamma[r], norm.beta[r], training=True, eps=1e-3)
        torch.testing.assert_close((batched.matmul(x, scaled) + row)[:, r], plain @ theta[r])


def test_gradients_flow_through_the_statistics() -> None:
    x = torch.randn(6, 2, 3, dtype=torch.float64, requires_grad=True)
    theta = torch.randn(2, 3, 2, dtype=torch.float64, requires_grad=True)
    norm, moments = FoldedBatchNorm(3, replicas=2).double(), Moments(3, replicas=2).double().train()

    def run(x: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
        scaled, row = norm.fold(theta, *moments(x))
        return batched.add_row_(batched.matmul(x, scaled), row)

    assert torch.autograd.gradcheck(run, (x, theta))


def test_running_statistics_are_those_of_keras() -> None:
    moments = Moments(2, momentum=0.9)
    x = torch.tensor([[[1.0, 2.0]], [[3.0, 2.0]]])
    moments.train()(x)
    torch.testing.assert_close(moments.running_mean, torch.tensor([[0.2, 0.2]]))  # .9 * 0 + .1 * mean
    torch.testing.assert_close(moments.running_variance, torch.tensor([[1.0, 0.9]]))  # .9 * 1 + .1 * biased variance
    mean, variance = moments.eval()(x)
    assert mean is moments.running_mean
    assert variance is moments.running_variance


def test_statistics_of_sparse_features() -> None:
    x = sp.random_array((40, 6), density=0.3, rng=np.random.default_rng(0), format="csr")
    mean, variance = Moments(6, replicas=3).train()(Features(x))
    dense = torch.as_tensor(x.toarray(), dtype=torch.float32)
    torch.testing.assert_close(mean, dense.mean(0).expand(3, 6))
    torch.testing.assert_close(variance, dense.var(0, correction=0).expand(3, 6))

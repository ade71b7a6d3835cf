"""The consistency loss against a loop over nodes and copies."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
import torch

from dfnets.models.consistency import consistency


def brute(
    p: np.ndarray, temperature: float, least: float, divergence: str, shares: np.ndarray | None = None
) -> np.ndarray:
    n, replicas, copies, _ = p.shape
    out = np.zeros(replicas)
    for r in range(replicas):
        total, count = 0.0, 0
        for i in range(n):
            mean = p[i, r].mean(axis=0)
            if shares is not None:
                mean = mean / shares[r] / (mean / shares[r]).sum()
            if mean.max() <= least:
                continue
            q = mean ** (1 / temperature)
            q /= q.sum()
            count += 1
            for s in range(copies):
                gap = ((p[i, r, s] - q) ** 2).sum() if divergence == "squared" else (q * np.log(q / p[i, r, s])).sum()
                total += gap / copies
        out[r] = total / max(count, 1)
    return out


@pytest.mark.parametrize("divergence", ["squared", "kl"])
@pytest.mark.parametrize("least", [0.0, 0.45, 1.0])
def test_equals_a_loop(divergence: Literal["squared", "kl"], least: float) -> None:
    torch.manual_seed(0)
    log_p = torch.log_softmax(torch.randn(6, 2, 3, 4, dtype=torch.float64), dim=-1)
    found = consistency(log_p, 0.5, least, divergence)
    np.testing.assert_allclose(found.numpy(), brute(log_p.exp().numpy(), 0.5, least, divergence), atol=1e-12)


def test_shares_are_divided_by_first() -> None:
    torch.manual_seed(1)
    log_p = torch.log_softmax(torch.randn(6, 2, 3, 4, dtype=torch.float64), dim=-1)
    shares = torch.tensor([[0.7, 0.1, 0.1, 0.1], [1.0, 1.0, 1.0, 1.0]], dtype=torch.float64)
    found = consistency(log_p, 0.5, 0.3, "kl", shares)
    np.testing.assert_allclose(found.numpy(), brute(log_p.exp().numpy(), 0.5, 0.3, "kl", shares.numpy()), atol=1e-12)


def test_copies_that_agree_and_are_certain_cost_nothing() -> None:
    certain = torch.log_softmax(torch.tensor([[[[50.0, 0.0], [50.0, 0.0]]]]), dim=-1)
    assert consistency(certain, 0.2, 0.0, "kl").item() == pytest.approx(0, abs=1e-6)


def test_a_low_temperature_does_not_lose_small_probabilities() -> None:
    log_p = torch.log_softmax(torch.zeros(2, 1, 2, 200), dim=-1).requires_grad_()
    value = consistency(log_p, 0.05, 0.0, "kl")
    value.sum().backward()
    assert torch.isfinite(value).all()
    assert torch.isfinite(log_p.grad).all()

"""GPR-GNN, BernNet, ChebNetII and JacobiConv against their papers' formulas, written out with dense matrices."""

from __future__ import annotations

from math import comb, cos, pi
from typing import Any

import numpy as np
import pytest
import torch
from spectral import CPU, adjacency, logits, made, small_graph
from torch import Tensor

from dfnets.models.learned_polynomial import LearnedPolynomial
from dfnets.models.mlp import MLP

ORDER = 5


def trained_looking(name: str, **settings: Any) -> LearnedPolynomial:
    """A model whose coefficients are nothing special, some of them negative."""
    model = made(name, order=ORDER, **settings)
    assert isinstance(model, LearnedPolynomial)
    with torch.no_grad():
        model.theta.add_(torch.randn(model.theta.shape, generator=torch.Generator().manual_seed(3)))
    return model


def predictions(model: LearnedPolynomial) -> Tensor:
    """H of the second replica."""
    with torch.no_grad():
        return MLP.forward(model, model.prepare(small_graph(), CPU))[:, 1]


def powers(matrix: Tensor, count: int) -> list[Tensor]:
    found = [torch.eye(len(matrix))]
    while len(found) <= count:
        found.append(matrix @ found[-1])
    return found


def test_gprgnn_is_a_sum_of_powers_of_the_adjacency() -> None:
    model = trained_looking("gprgnn", units=(4,))
    hops = powers(adjacency(small_graph()), ORDER)
    expected = sum(g * hop for g, hop in zip(model.theta[1].tolist(), hops, strict=True)) @ predictions(model)
    torch.testing.assert_close(logits(model)[:, 1], expected)


def test_an_untrained_gprgnn_is_appnp() -> None:
    own, other = made("gprgnn", units=(4,), restart=0.2), made("appnp", units=(4,), restart=0.2, iterations=10)
    other.load_state_dict({key: value for key, value in own.state_dict().items() if key != "theta"})
    torch.testing.assert_close(logits(own), logits(other))


def test_bernnet_is_a_sum_of_bernstein_polynomials_of_the_laplacian() -> None:
    model = trained_looking("bernnet", units=(4,))
    laplacian = torch.eye(24) - adjacency(small_graph())
    up, down = powers(laplacian, ORDER), powers(2 * torch.eye(24) - laplacian, ORDER)
    total = torch.zeros(24, 24)
    for k in range(ORDER + 1):
        total += max(float(model.theta.detach()[1, k]), 0.0) * comb(ORDER, k) / 2**ORDER * down[ORDER - k] @ up[k]
    torch.testing.assert_close(logits(model)[:, 1], total @ predictions(model))


def test_chebnet2_takes_the_learned_values_at_the_chebyshev_points() -> None:
    model = trained_looking("chebnet2", units=(4,))
    frequencies, vectors = np.linalg.eigh(-adjacency(small_graph()).double().numpy())
    points = [cos((2 * j + 1) * pi / (2 * ORDER + 2)) for j in range(ORDER + 1)]
    values = np.maximum(model.theta[1].detach().double().numpy(), 0)
    # The one polynomial through these points, by another way than the model's: Lagrange's formula.
    response = np.zeros_like(frequencies)
    for j, point in enumerate(points):
        others = [other for i, other in enumerate(points) if i != j]
        response += values[j] * np.prod([(frequencies - other) / (point - other) for other in others], axis=0)
    expected = vectors @ (response[:, None] * (vectors.T @ predictions(model).double().numpy()))
    np.testing.assert_allclose(logits(model)[:, 1].numpy(), expected, atol=2e-5)


@pytest.mark.parametrize("a, b", [(1.0, 1.0), (-0.5, 2.0)])
def test_jacobiconv_is_a_recurrence_of_jacobi_polynomials_for_each_class(a: float, b: float) -> None:
    model = trained_looking("jacobiconv", a=a, b=b, bound=1.5)
    s = adjacency(small_graph())
    terms = [torch.eye(24), (a - b) / 2 * torch.eye(24) + (a + b + 2) / 2 * s]
    for k in range(2, ORDER + 1):
        # Abramowitz and Stegun 22.7.1.
        c = 2 * k + a + b
        first = 2 * k * (k + a + b) * (c - 2)
        linear = (c - 1) * (c * (c - 2) * s + (a * a - b * b) * torch.eye(24))
        terms.append((linear @ terms[-1] - 2 * (k + a - 1) * (k + b - 1) * c * terms[-2]) / first)
    beta, eta = model.theta[1, :, :-1].detach(), model.theta[1, :, -1].detach()
    columns = []
    for c in range(3):
        total, factor = torch.zeros(24, 24), 1.0
        for k in range(ORDER + 1):
            factor *= 1.0 if k == 0 else 1.5 * float(torch.tanh(eta[k]))
            total += float(beta[k, c]) * factor * terms[k]
        columns.append(total @ predictions(model)[:, c])
    torch.testing.assert_close(logits(model)[:, 1], torch.stack(columns, dim=1), atol=1e-4, rtol=1e-4)

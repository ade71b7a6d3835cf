"""AdaLanczosNet: its operator and its Lanczos process against dense matrices, and their gradients."""

from __future__ import annotations

import torch
from spectral import CPU, adjacency, logits, made, small_graph
from torch import Tensor

from dfnets import Shift
from dfnets.models.adalnet import lanczos, learned_operator
from dfnets.nn import Neighbours


def neighbours() -> Neighbours:
    return Neighbours(Shift(small_graph()), dtype=torch.float64)


def dense_operator(embedding: Tensor) -> Tensor:
    """For one replica: (n, d) gives (n, n)."""
    pattern = adjacency(small_graph()) != 0
    distances = torch.cdist(embedding, embedding) ** 2
    affinities = torch.exp(-distances / distances[pattern].mean()) * pattern
    scale = affinities.sum(1).rsqrt()
    return scale[:, None] * affinities * scale


def start() -> Tensor:
    vectors = torch.randn(24, 2, 1, dtype=torch.float64)
    return vectors / vectors.norm(dim=0, keepdim=True)


def test_operator_equals_dense_affinities() -> None:
    embedding = torch.randn(24, 2, 3, dtype=torch.float64)
    vectors = torch.randn(24, 2, 1, dtype=torch.float64)
    out = learned_operator(embedding, neighbours())(vectors)
    for r in range(2):
        torch.testing.assert_close(out[:, r], dense_operator(embedding[:, r]) @ vectors[:, r])


def test_lanczos_has_the_three_term_recurrence_in_an_orthonormal_basis() -> None:
    embedding = torch.randn(24, 2, 3, dtype=torch.float64)
    basis, tridiagonal = lanczos(learned_operator(embedding, neighbours()), start(), 8)
    for r in range(2):
        own = basis[:, r]
        torch.testing.assert_close(own.T @ own, torch.eye(8).double(), atol=1e-10, rtol=0)
        rest = dense_operator(embedding[:, r]) @ own - own @ tridiagonal[:, r]
        # Only the last column has a remainder, which points out of the space.
        torch.testing.assert_close(rest[:, :-1], torch.zeros(24, 7).double(), atol=1e-10, rtol=0)
        torch.testing.assert_close(own.T @ rest, torch.zeros(8, 8).double(), atol=1e-10, rtol=0)


def test_an_exhausted_krylov_space_gives_zeros() -> None:
    basis, tridiagonal = lanczos(lambda x: 2 * x, start(), 3)
    assert not basis[:, :, 1:].any()
    torch.testing.assert_close(tridiagonal[:, 0], torch.diag(torch.tensor([2.0, 0, 0])).double())


def test_gradients_flow_through_the_process() -> None:
    embedding = torch.randn(24, 2, 2, dtype=torch.float64, requires_grad=True)
    first, edges = start(), neighbours()

    def low_rank(embedding: Tensor) -> tuple[Tensor, Tensor]:
        return lanczos(learned_operator(embedding, edges), first, 4)

    assert torch.autograd.gradcheck(low_rank, (embedding,), fast_mode=True)


def test_embedding_is_trained() -> None:
    model = made("adalnet", units=(4,), steps=5)
    model(model.prepare(small_graph(), CPU)).sum().backward()
    assert model.embed.weight.grad.abs().min() > 0
    assert torch.isfinite(logits(model)).all()

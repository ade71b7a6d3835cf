"""dropout(X) W with a sparse X: against the dense product, and each replica on its own."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from dfnets.nn import Features
from dfnets.nn.batched import add_row_, draw, generators
from dfnets.nn.sparse_dropout import draw_entries, dropout_matmul, matmul_without

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def matrix() -> sp.csr_array:
    return sp.random_array((30, 8), density=0.3, rng=np.random.default_rng(0), format="csr")


@pytest.mark.parametrize("sparse", [True, False])
def test_equals_a_product_with_entries_left_out(sparse: bool) -> None:
    source = matrix() if sparse else matrix().toarray()
    weight = torch.randn(3, 8, 4, dtype=torch.float64, requires_grad=True)
    out = dropout_matmul(Features(source, dtype=torch.float64), weight, 0.25, generators(range(3)))
    gradient = torch.randn_like(out)
    out.backward(gradient)
    for r in range(3):
        own = torch.as_tensor(matrix().toarray())
        if sparse:
            kept = ~draw((1, 1, matrix().nnz), 0.25, generators([r]), own.device)[0, 0].numpy()
            thin = sp.csr_array((matrix().data * kept, matrix().indices, matrix().indptr), shape=(30, 8)).toarray()
            own = torch.as_tensor(thin)
        else:
            own = own.masked_fill(draw((30, 1, 8), 0.25, generators([r]), own.device)[:, 0], 0)
        torch.testing.assert_close(out[:, r], own @ weight[r] / 0.75)
        torch.testing.assert_close(weight.grad[r], own.T @ gradient[:, r] / 0.75)


def test_a_replica_does_not_depend_on_the_others() -> None:
    x = Features(matrix())
    weight = torch.randn(10, 8, 5)
    together = dropout_matmul(x, weight, 0.5, generators(range(10)))
    alone = dropout_matmul(x, weight[7:8], 0.5, generators([7]))
    assert torch.equal(together[:, 7], alone[:, 0])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("replicas", [1, 2])
def test_a_bias_may_be_added_in_its_place(device: str, replicas: int) -> None:
    weight = torch.randn(replicas, 8, 4, device=device, requires_grad=True)
    row = torch.zeros(replicas, 4, device=device, requires_grad=True)
    x = Features(matrix(), device=torch.device(device))
    add_row_(dropout_matmul(x, weight, 0.5, generators(range(replicas), device)), row).sum().backward()
    assert weight.grad is not None
    torch.testing.assert_close(row.grad, torch.full_like(row, 30))


def test_is_unbiased() -> None:
    x, weight = Features(matrix()), torch.randn(1, 8, 2)
    stream = generators([0])
    mean = torch.stack([dropout_matmul(x, weight, 0.5, stream) for _ in range(3000)]).mean(0)
    torch.testing.assert_close(mean, x.times(weight), atol=0.1, rtol=0.1)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("device", DEVICES)
def test_rows_may_be_left_out_and_the_columns_split(device: str, sparse: bool) -> None:
    source = matrix() if sparse else matrix().toarray()
    x = Features(source, device=torch.device(device), dtype=torch.float64)
    weight = torch.randn(3, 8, 6, dtype=torch.float64, device=device, requires_grad=True)
    dropped = draw_entries(x, 0.5, generators(range(3), device))
    rows = torch.rand(30, 3, device=device) < 0.4
    split = matmul_without(x, weight, dropped, 2.0, rows=rows, parts=2)
    whole = matmul_without(x, weight, dropped, 2.0)[0]
    wanted = whole.masked_fill(rows[..., None], 0)
    torch.testing.assert_close(torch.cat(list(split), dim=-1), wanted)
    (gradient,) = torch.autograd.grad(split.square().sum(), weight)
    (expected,) = torch.autograd.grad(wanted.square().sum(), weight)
    torch.testing.assert_close(gradient, expected)

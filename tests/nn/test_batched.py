"""Replicas: right, and the same to the last bit however many there are."""

from __future__ import annotations

import pytest
import torch

from dfnets.nn import batched

WIDTHS = [(8, 16), (16, 7), (32, 64), (7, 5), (120, 128), (1, 3), (4, 1)]


@pytest.mark.parametrize("c, h", WIDTHS)
def test_matmul_is_each_replicas_product(c: int, h: int) -> None:
    x, weight = torch.randn(50, 3, c, dtype=torch.float64), torch.randn(3, c, h, dtype=torch.float64)
    torch.testing.assert_close(batched.matmul(x, weight), torch.einsum("nrc,rch->nrh", x, weight))


def test_matmul_gradients() -> None:
    x = torch.randn(5, 2, 3, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(batched.matmul, (x, weight))


def test_add_row_gradients() -> None:
    x = torch.randn(5, 2, 3, dtype=torch.float64, requires_grad=True)
    row = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, row: batched.add_row_(x.clone(), row), (x, row))


def test_column_sums() -> None:
    x = torch.randn(50, 2, 3, dtype=torch.float64)
    torch.testing.assert_close(batched.column_sums(x), x.sum(0))


@pytest.mark.usefixtures("exact_replicas")
@pytest.mark.parametrize("c, h", WIDTHS)
def test_bits_do_not_depend_on_the_number_of_replicas(c: int, h: int) -> None:
    count = 5

    def run(x: torch.Tensor, weight: torch.Tensor, row: torch.Tensor) -> list[torch.Tensor]:
        weight = batched.empty_weight(*weight.shape).copy_(weight)
        leaves = [tensor.clone(memory_format=torch.preserve_format).requires_grad_() for tensor in (x, weight, row)]
        out = batched.add_row_(batched.matmul(leaves[0], leaves[1]), leaves[2])
        out.square().sum().backward()
        by_replica = [leaves[0].grad.transpose(0, 1), leaves[1].grad, leaves[2].grad]  # type: ignore[union-attr]
        return [out.detach().transpose(0, 1), *by_replica, batched.column_sums(out.detach())]

    x, weight, row = torch.randn(2708, count, c), torch.randn(count, c, h), torch.randn(count, h)
    together = run(x, weight, row)
    for r in range(count):
        alone = run(x[:, r : r + 1].contiguous(), weight[r : r + 1], row[r : r + 1])
        assert all(torch.equal(many[r], one[0]) for many, one in zip(together, alone, strict=True))


def test_xavier_variance_and_streams() -> None:
    weight = batched.empty_weight(2, 400, 100)
    batched.xavier_normal_(weight, 400, 100, batched.generators([0, 1]))
    assert weight.var().item() == pytest.approx(2 / 500, rel=0.03)
    single = batched.empty_weight(1, 400, 100)
    batched.xavier_normal_(single, 400, 100, batched.generators([1]))
    assert torch.equal(weight[1], single[0])


@pytest.mark.parametrize("c", [1, 3, 4])
def test_a_process_draws_what_one_process_draws_for_its_rows(c: int) -> None:
    places = torch.tensor([0, 2, 3, 17, 40, 41, 52])
    whole = batched.draw((53, 2, c), 0.3, batched.generators([5, 6]), torch.device("cpu"))
    own = batched.OwnRows(places, 53, places, 53)
    with batched.drawing_for(own):
        some = batched.draw((len(places), 2, c), 0.3, batched.generators([5, 6]), torch.device("cpu"))
        streams = batched.generators([5, 6])
        entries = batched.draw((1, 2, len(places)), 0.3, streams, torch.device("cpu"), entries=True)
    assert torch.equal(some, whole[places])
    ones = batched.draw((1, 2, 53), 0.3, batched.generators([5, 6]), torch.device("cpu"))
    assert torch.equal(entries, ones[:, :, places])
    stream = torch.Generator().manual_seed(5)
    threshold = round(0.3 * (1 << 16)) - (1 << 15)
    assert torch.equal(batched._draw_some(places, 53, c, threshold, stream, block=9), whole[places, 0])

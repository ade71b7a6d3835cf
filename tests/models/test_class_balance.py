"""Running shares of the classes against their closed form."""

from __future__ import annotations

import torch

from dfnets.models.class_balance import alignment, update_shares_


def test_shares_move_by_a_fiftieth_of_the_way_in_each_step() -> None:
    shares = torch.full((2, 4), 0.25)
    predictions = torch.zeros(10, 2, 4)
    predictions[:, 0, 1] = 1.0
    predictions[:, 1] = 0.25
    for step in range(1, 101):
        update_shares_(shares, predictions)
        expected = 0.25 + 0.75 * (1 - 0.98**step)
        torch.testing.assert_close(shares[0, 1].item(), expected, atol=1e-4, rtol=0)
    torch.testing.assert_close(shares[1], torch.full((4,), 0.25))


def test_without_predictions_shares_stay() -> None:
    shares = torch.tensor([[0.3, 0.7]])
    update_shares_(shares, torch.zeros(0, 1, 2))
    torch.testing.assert_close(shares, torch.tensor([[0.3, 0.7]]))


def test_only_replicas_that_balance_divide_and_none_by_less_than_a_thousandth() -> None:
    shares = torch.tensor([[0.9999, 0.0001], [0.9999, 0.0001]])
    divisor = alignment(shares, torch.tensor([True, False]))
    torch.testing.assert_close(divisor, torch.tensor([[2 * 0.9999, 2 * 1e-3], [1.0, 1.0]]))

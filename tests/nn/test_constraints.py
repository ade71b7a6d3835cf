from __future__ import annotations

import torch

from dfnets.nn import unit_norm_


def test_columns_of_a_kernel() -> None:
    weight = torch.randn(3, 20, 4)
    expected = weight / (1e-7 + weight.norm(dim=1, keepdim=True))
    torch.testing.assert_close(unit_norm_(weight), expected)
    torch.testing.assert_close(weight.norm(dim=1), torch.ones(3, 4))


def test_a_bias_as_a_whole_and_zeros_stay() -> None:
    bias = torch.tensor([[3.0, 4.0], [0.0, 0.0]])
    torch.testing.assert_close(unit_norm_(bias), torch.tensor([[0.6, 0.8], [0.0, 0.0]]))

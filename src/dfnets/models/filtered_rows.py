"""Rows of filtered features at some nodes only, without filtering the features."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dfnets.nn import Features
from dfnets.nn.filter_bank import FilterBank

# Nodes whose rows are made at a time.
BLOCK = 64


def filtered_rows(features: Features, bank: FilterBank, nodes: Any) -> Tensor:
    """The rows of h_k(L^) X at t nodes, (K, t, f).

    Row i of a symmetric filter is its column i, h_k(L^) e_i: one chain of products for a vector instead of one for each
    column of X. X comes last, so that only t of its filtered rows are ever made.

    Args:
        nodes: (t,) node numbers.
    """
    device, (n, f) = features.device, features.shape
    nodes = torch.as_tensor(nodes, device=device)
    parts = []
    for some in nodes.split(BLOCK):
        picked = torch.zeros(n, len(some), device=device, dtype=features.dtype)
        picked[some, torch.arange(len(some), device=device)] = 1
        columns = bank.apply_each(picked).permute(1, 2, 0).contiguous()
        rows = columns.new_empty(f, *columns.shape[1:])
        features.transposed_times(columns, out=rows)
        parts.append(rows.permute(2, 1, 0))
    return torch.cat(parts, dim=1)

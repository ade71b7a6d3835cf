"""A linear layer over maps, with and without dropout and a filter."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch

from dfnets.nn import Features, Linear


def maps() -> tuple[Features, torch.Tensor, torch.Tensor]:
    source = sp.random_array((12, 5), density=0.5, rng=np.random.default_rng(0), format="csr")
    dense = torch.as_tensor(source.toarray(), dtype=torch.float32)
    return Features(source), dense, torch.randn(12, 2, 3)


def test_reads_maps_side_by_side() -> None:
    x, dense, hidden = maps()
    layer = Linear(8, 4, replicas=2, dropout=0.5).eval()
    out = layer([x, hidden])
    for r in range(2):
        torch.testing.assert_close(out[:, r], torch.cat([dense, hidden[:, r]], dim=1) @ layer.weight[r])


def test_dropout_reaches_every_map() -> None:
    x, _, hidden = maps()
    layer = Linear(8, 4, replicas=2, dropout=0.9).train()
    assert not torch.equal(layer([x, hidden * 0]), layer([x, hidden * 0]))
    only = Linear(3, 4, replicas=2, dropout=0.9).train()
    assert not torch.equal(only([hidden]), only([hidden]))


def test_each_block_of_columns_may_drop_entries_of_its_own() -> None:
    x, dense, hidden = maps()
    for read, source in ((x, dense), (hidden, hidden[:, 1])):
        width = source.shape[1]
        layer = Linear(width, 2 * width, dropout=0.5, draws=2, bias=False, replicas=2).train()
        with torch.no_grad():
            layer.weight.copy_(torch.cat([torch.eye(width)] * 2, dim=1).expand(2, -1, -1))
            one, two = layer([read])[:, 1].split(width, dim=1)
        for part in (one, two):
            assert ((part == 0) | torch.isclose(part, 2 * source)).all()
        assert not torch.equal(one, two)
        torch.testing.assert_close(layer.eval()([read])[:, 1], torch.cat([source, source], dim=1))


def test_a_filter_takes_parts_and_the_bias_comes_after_it() -> None:
    x, dense, _ = maps()
    layer = Linear(5, 4, parts=3, replicas=2)
    torch.nn.init.constant_(layer.bias, 1.5)
    out = layer([x], lambda z: z[:, :, 1] * 2)
    torch.testing.assert_close(out[:, 1], 2 * dense @ layer.weight[1, :, 4:8] + 1.5)

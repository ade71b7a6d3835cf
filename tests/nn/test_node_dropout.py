from __future__ import annotations

import torch

from dfnets.nn.batched import generators
from dfnets.nn.node_dropout import node_dropout

DROPS = torch.tensor([True, False])


def test_whole_nodes_go_and_the_others_are_scaled_up() -> None:
    x = torch.rand(2000, 2, 1, 3, 4) + 1
    out = node_dropout(x, 5, 0.4, generators([0, 1]), DROPS)
    assert out.shape == (2000, 2, 5, 3, 4)
    gone = (out[:, 0] == 0).flatten(2)
    assert torch.equal(gone.any(dim=2), gone.all(dim=2))
    assert abs(gone.all(dim=2).float().mean().item() - 0.4) < 0.02
    kept = ~gone.any(dim=2)
    torch.testing.assert_close(out[:, 0][kept], (x[:, 0].expand(-1, 5, -1, -1) / 0.6)[kept])
    assert len({tuple(gone[:, s, 0].tolist()) for s in range(5)}) == 5


def test_a_replica_that_keeps_its_nodes_gets_x_as_it_is() -> None:
    x = torch.rand(20, 2, 3, 1, 4)
    out = node_dropout(x, 3, 0.4, generators([0, 1]), DROPS)
    assert torch.equal(out[:, 1], x[:, 1])


def test_without_dropout_nothing_is_drawn() -> None:
    x = torch.rand(4, 2, 1, 1, 3)
    streams = generators([0, 1])
    before = [stream.get_state() for stream in streams]
    assert torch.equal(node_dropout(x, 2, 0.0, streams, DROPS), x.expand(-1, -1, 2, -1, -1))
    assert all(torch.equal(stream.get_state(), state) for stream, state in zip(streams, before, strict=True))

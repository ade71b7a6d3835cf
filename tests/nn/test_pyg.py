"""Layers as drop-ins of a PyTorch Geometric training script: full batch, gradients, optimiser, torch.compile."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from communities import communities
from torch import nn
from torch.nn import functional
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

import dfnets
from dfnets.nn.filter_bank import FilterBank, restart_filter

pytestmark = pytest.mark.usefixtures("one_thread")


def data() -> Data:
    graph, truth = communities(4, n=120, separation=0.8)
    edges = graph.adjacency.tocoo()
    made = Data(
        x=torch.as_tensor(graph.features, dtype=torch.float32),
        y=torch.as_tensor(truth),
        edge_index=torch.as_tensor(np.stack([edges.row, edges.col]), dtype=torch.int64),
    )
    made.train_mask = torch.arange(120) < 40
    return made


class Loops(nn.Module):
    """A feedback-looped layer after a convolution of PyG's."""

    def __init__(self) -> None:
        super().__init__()
        f = dfnets.design(dfnets.responses.low_pass(0.8), p=3, q=3, gamma=0.9)
        self.first = GCNConv(12, 16)
        self.second = dfnets.nn.FeedbackLoopedConv(16, 12, 3, f, activation=None)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x, edge_index).relu(), x, edge_index)


class Bank(nn.Module):
    """Personalised PageRank at two restarts, each of its own linear map."""

    def __init__(self, shift: dfnets.Shift) -> None:
        super().__init__()
        self.bank = FilterBank([restart_filter(0.1), restart_filter(0.5)], shift)
        self.maps = nn.ModuleList([nn.Linear(12, 3) for _ in range(2)])

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:  # noqa: ARG002
        return self.bank(torch.stack([layer(x) for layer in self.maps]))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", ["loops", "bank"])
def test_a_training_script_of_pyg(kind: str, compiled: bool) -> None:
    own = data()
    torch.manual_seed(0)
    model: nn.Module = Loops() if kind == "loops" else Bank(dfnets.Shift(dfnets.Graph.from_pyg(own)))
    # The eager back end traces and splits the graph of operations as every other does, and needs no compiler.
    called = torch.compile(model, backend="eager") if compiled else model
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(25):
        optimiser.zero_grad()
        loss = functional.cross_entropy(called(own.x, own.edge_index)[own.train_mask], own.y[own.train_mask])
        loss.backward()
        optimiser.step()
        losses.append(float(loss))
    assert losses[-1] < 0.6 * losses[0]
    with torch.no_grad():
        plain, again = model(own.x, own.edge_index), called(own.x, own.edge_index)
    torch.testing.assert_close(again, plain)
    right = plain.argmax(dim=1) == own.y
    assert right[~own.train_mask].float().mean() > 0.7

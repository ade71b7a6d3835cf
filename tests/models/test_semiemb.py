"""SemiEmb: its embedding loss against a loop over the drawn pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from conftest import random_graph

from dfnets import Graph, models
from dfnets.models import Sizes
from dfnets.models.semiemb import SemiEmb, _pairs
from dfnets.nn.batched import generators

CPU = torch.device("cpu")


def made(graph: Graph, replicas: int = 2, **settings: Any) -> tuple[SemiEmb, Any]:
    config = models.config("semiemb", units=(4,), pairs=50, **settings)
    assert graph.features is not None
    model = SemiEmb(config, Sizes(graph.features.shape[1], 3, graph.num_nodes), replicas=replicas)
    model.reset_parameters(generators(range(replicas)))
    model.use_streams(generators(range(replicas)))
    return model, model.prepare(graph, CPU)


def small() -> Graph:
    return random_graph(25, 5, 0).with_(features=np.random.default_rng(0).random((25, 6)))


def test_pairs_are_neighbours_or_they_are_not() -> None:
    graph = small()
    _, inputs = made(graph)
    one, two, apart = _pairs(inputs.walks, 500, generators([0])[0])
    weights = graph.adjacency.toarray()[one, two]
    assert (weights[~apart] > 0).all()
    assert (weights[apart] == 0).all()
    assert (one[apart] != two[apart]).all()
    assert (~apart).sum() == 500


def test_loss_is_that_of_a_loop() -> None:
    model, inputs = made(small(), margin=2.0)
    embedded = torch.randn(25, 2, 3, generator=generators([9])[0])
    model.use_streams(generators([4, 5]))
    found = model.embedding_losses(inputs, embedded)
    for r, seed in enumerate((4, 5)):
        total = 0.0
        for i, j, apart in zip(*_pairs(inputs.walks, 50, generators([seed])[0]), strict=True):
            distance = float(torch.linalg.norm(embedded[i, r] - embedded[j, r]))
            total += max(0.0, 2.0 - distance) ** 2 if apart else distance**2
        assert float(found[r]) == pytest.approx(total / 50, rel=1e-5)


@pytest.mark.parametrize("at", ["hidden", "output"])
def test_gradients_are_finite_differences(at: str) -> None:
    model, inputs = made(small(), replicas=1, dropout=0.0, at=at)

    def loss() -> torch.Tensor:
        model.use_streams(generators([7]))
        return model.losses(inputs, lambda logits: logits[:5].square().mean(dim=(0, 2))).sum()

    loss().backward()
    step = 1e-2
    for parameter in model.parameters():
        at_largest = np.unravel_index(int(parameter.grad.abs().argmax()), parameter.shape)
        values = []
        for sign in (1, -1):
            with torch.no_grad():
                parameter[at_largest] += sign * step
                values.append(float(loss()))
                parameter[at_largest] -= sign * step
        assert (values[0] - values[1]) / (2 * step) == pytest.approx(float(parameter.grad[at_largest]), rel=0.1)


def test_a_graph_without_edges_is_a_perceptron_with_a_margin() -> None:
    graph = Graph(np.zeros((5, 5)), features=np.eye(5))
    model, inputs = made(graph)
    assert torch.isfinite(model.losses(inputs, lambda logits: logits.mean(dim=(0, 2)))).all()

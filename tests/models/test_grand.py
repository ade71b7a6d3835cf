"""GRAND against its steps, written out with dense matrices and torch's own batch normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from spectral import CPU, adjacency, logits, made, small_graph, x
from torch import Tensor
from torch.nn import functional

from dfnets import models
from dfnets.models import Sizes
from dfnets.models.grand import GRAND
from dfnets.nn import batched
from dfnets.nn.batched import generators
from dfnets.training.objective import Objective


def hops_averaged(order: int) -> Tensor:
    s = adjacency(small_graph())
    total, power = torch.eye(24), torch.eye(24)
    for _ in range(order):
        power = s @ power
        total = total + power
    return total / (order + 1)


def classifier(model: GRAND, features: Tensor, norms: list[torch.nn.BatchNorm1d]) -> Tensor:
    """The second replica's MLP, without dropout."""
    if norms:
        features = norms[0](features)
    hidden = torch.relu(features @ model.first.weight[1] + model.first.bias[1])
    return (norms[1](hidden) if norms else hidden) @ model.last.weight[1] + model.last.bias[1]


@pytest.mark.parametrize("divide_kept, share", [(True, 1.0), (False, 0.7)])
def test_predicts_from_averaged_hops(divide_kept: bool, share: float) -> None:
    model = made("grand", order=3, hidden=4, divide_kept=divide_kept, node_dropout=0.3)
    assert isinstance(model, GRAND)
    wanted = classifier(model, hops_averaged(3) @ (share * x(small_graph())), []).detach()
    torch.testing.assert_close(logits(model)[:, 1], wanted)


@pytest.mark.parametrize("batch_norm, divide_kept", [(False, True), (False, False), (True, False)])
def test_a_step_is_the_papers_loss(batch_norm: bool, divide_kept: bool) -> None:
    settings: dict[str, Any] = {
        "input_dropout": 0.0,
        "dropout": 0.0,
        "node_dropout": 0.5,
        "augmentations": 3,
        "temperature": 0.5,
    }
    settings |= {"batch_norm": batch_norm, "divide_kept": divide_kept}
    model = made("grand", order=2, hidden=4, consistency_weight=0.7, **settings)
    assert isinstance(model, GRAND)
    graph, nodes = small_graph(), [np.arange(9), np.arange(3, 12)]
    assert graph.labels is not None
    model.train().use_streams(generators([0, 1]))
    loss = model.losses(model.prepare(graph, CPU), Objective(graph.labels, nodes, 3))[1]

    # The same rows are dropped: the streams are drawn from in the same order.
    dropped = batched.draw((24, 2, 3), 0.5, generators([0, 1]), CPU)[:, 1]
    norms = [torch.nn.BatchNorm1d(9), torch.nn.BatchNorm1d(4)] if batch_norm else []
    share = 0.5 if divide_kept else 1.0
    parts = [
        classifier(model, hops_averaged(2) @ (x(graph).masked_fill(dropped[:, s, None], 0) / share), norms)
        for s in range(3)
    ]
    p = torch.stack([torch.softmax(part, dim=1) for part in parts])
    sharp = p.mean(dim=0) ** 2
    sharp = (sharp / sharp.sum(dim=1, keepdim=True)).detach()
    targets = torch.as_tensor(graph.labels[nodes[1]])
    supervised = sum(functional.cross_entropy(part[nodes[1]], targets) for part in parts) / 3
    expected = supervised + 0.7 * (p - sharp).square().sum(dim=2).mean()
    torch.testing.assert_close(loss, expected, rtol=1e-4, atol=1e-5)
    if batch_norm:
        torch.testing.assert_close(model.norms[0].running_mean[1], norms[0].running_mean)


def test_weights_are_drawn_as_the_authors_draw_them() -> None:
    model = GRAND(models.config("grand", hidden=25), Sizes(2000, 4, 24), replicas=2)
    model.reset_parameters(generators([0, 1]))
    for layer, scale in ((model.first, 0.2), (model.last, 0.5)):
        assert layer.weight[1].mean().item() == pytest.approx(-scale, rel=0.2)
        assert layer.weight[1].std().item() == pytest.approx(scale, rel=0.2)
        assert (layer.bias != 0).all()
    assert not torch.equal(model.first.weight[0], model.first.weight[1])


@pytest.mark.parametrize("preset", ["default", "paper", "paper-citeseer", "paper-pubmed"])
def test_the_authors_stop_by_either_score_and_select_by_loss(preset: str) -> None:
    config = models.config("grand", preset)
    assert (config.select_by, config.patience_from, config.epochs) == ("loss", "either", 5000)
    assert not config.divide_kept


def test_settings_of_an_older_folder_divide_the_rows_that_are_kept() -> None:
    assert GRAND.Config().divide_kept


def test_the_published_settings_are_there() -> None:
    assert models.config("grand", "paper").order == 8
    assert models.config("grand", "paper-citeseer").consistency_weight == 0.7
    assert models.config("grand", "paper-pubmed").batch_norm

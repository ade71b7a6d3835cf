"""Planetoid: what it draws, its loss on contexts, and its two forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from conftest import random_graph

from dfnets import Graph, models
from dfnets.datasets.splits import Split
from dfnets.models import Sizes
from dfnets.models.planetoid import Planetoid, _from_walks, _Labelled
from dfnets.nn.batched import generators
from dfnets.training import TrainedModel, fit

CPU = torch.device("cpu")
LABELS = np.arange(30) % 3
SMALL: dict[str, Any] = {"dimensions": 4, "units": (3, 3), "pairs": 20, "walks": 2}


def small() -> Graph:
    features = np.random.default_rng(0).random((30, 6)).astype(np.float32)
    return random_graph(30, 5, 0).with_(features=features, labels=LABELS)


def made(**settings: Any) -> tuple[Planetoid, Any]:
    model = Planetoid(models.config("planetoid", **{**SMALL, **settings}), Sizes(6, 3, 30), replicas=2)
    model.reset_parameters(generators([0, 1]))
    model.use_streams(generators([0, 1]))
    inputs = model.prepare(small(), CPU)
    model.begin(inputs, [(np.arange(9), LABELS[:9])] * 2)
    return model, inputs


def test_pairs_of_labels_have_the_sign_of_their_classes() -> None:
    nodes = np.array([4, 1, 7, 9, 3, 2])
    labels = np.array([1, 0, 1, 2, 1, 0])
    of = dict(zip(nodes.tolist(), labels.tolist(), strict=True))
    one, two, sign = _Labelled(nodes, labels, CPU).pairs(2000, generators([0])[0])
    same = np.array([of[int(i)] == of[int(c)] for i, c in zip(one, two, strict=True)])
    np.testing.assert_array_equal(same, sign.numpy() > 0)
    assert same.mean() == 0.5
    assert set(two.tolist()) == set(nodes.tolist())
    assert (_Labelled(nodes, np.zeros(6, dtype=int), CPU).pairs(10, None)[2] == 1).all()


@pytest.mark.parametrize("form", ["transductive", "inductive"])
def test_loss_on_contexts_is_that_of_a_loop(form: str) -> None:
    model, inputs = made(form=form, context_weight=0.7, label_weight=0.2)
    torch.nn.init.normal_(model.contexts)
    model.requires_grad_(False)
    embedded = model._embedded(inputs)
    model.use_streams(generators([4, 5]))
    found = model.context_losses(inputs, embedded)
    for r, seed in enumerate((4, 5)):
        (stream,) = generators([seed])
        expected = 0.0
        for weight, drawn in ((0.7, _from_walks(inputs.walks, model.config, stream)), (0.2, None)):
            triples = list(zip(*(drawn or model._labelled[r].pairs(20, stream)), strict=True))
            terms = [
                torch.log1p(torch.exp(-gamma * (model.contexts[r, c] @ embedded[i, r]))) for i, c, gamma in triples
            ]
            expected += weight * float(sum(terms)) / len(terms)
        assert float(found[r]) == pytest.approx(expected, rel=1e-4)


def test_transductive_embeddings_start_from_walks_and_inductive_ones_are_features() -> None:
    model, inputs = made(form="inductive")
    expected = inputs.features.source @ model.embedding[1].detach().numpy()
    np.testing.assert_allclose(model._embedded(inputs)[:, 1].detach().numpy(), expected, atol=1e-6)
    assert not model.transductive
    free, _ = made(form="transductive")
    assert free.transductive
    assert free.contexts.abs().sum() > 0


def test_the_inductive_form_predicts_for_another_graph(tmp_path: Any) -> None:
    split = Split(np.arange(9), np.arange(9, 18), np.arange(18, 30), "mine")
    options: dict[str, Any] = {**SMALL, "epochs": 3, "replicas": 2, "progress": False, "protocol": split}
    result = fit("planetoid", small(), form="inductive", **options)
    result.save(tmp_path)
    rest = Graph(small().adjacency[:20, :20], features=small().features[:20])
    np.testing.assert_allclose(
        TrainedModel.load(tmp_path).predict(rest).per_replica, result.predict().per_replica[:, :20], rtol=1e-5
    )
    with pytest.raises(ValueError, match=r"20 nodes.* Planetoid is transductive"):
        fit("planetoid", small(), form="transductive", **options).predict(rest)

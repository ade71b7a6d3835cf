"""A mixture against the weighted mean of what its members say one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from communities import communities, labelled

from dfnets import Graph, models, training
from dfnets.models.mixture import Member, MixtureConfig
from dfnets.training import TrainedModel, train
from dfnets.training.calibration import tempered

SMALL = {"progress": False, "device": "cpu"}
SHARES, TEMPERATURES = (0.6, 0.3, 0.3), (2.0, 0.5, 1.0)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return labelled(*communities(4, n=150), 8)


@pytest.fixture(scope="module")
def members(graph: Graph) -> list[TrainedModel]:
    network = train(graph, model="dfnet-plus", epochs=3, **SMALL).trained
    return [network, *(train(graph, model=name, **SMALL).trained for name in ("logistic", "lp"))]


@pytest.fixture(scope="module")
def mixture(members: list[TrainedModel]) -> TrainedModel:
    described = tuple(
        Member(
            model=one.name,
            settings=one.config.model_dump(mode="json"),
            replicas=one.replicas,
            temperature=temperature,
            share=share,
        )
        for one, share, temperature in zip(members, SHARES, TEMPERATURES, strict=True)
    )
    weights: dict[str, torch.Tensor] = {
        f"members.{m}.{key}": tensor for m, one in enumerate(members) for key, tensor in one.weights.items()
    }
    first = members[0]
    config = MixtureConfig.model_validate({"members": described})
    return TrainedModel("mixture", config, first.sizes, None, weights, first.classes, 1, preparation=first.preparation)


def mean(members: list[TrainedModel], graph: Graph) -> np.ndarray:
    parts = [
        share * tempered(one.predict(graph, device="cpu").per_replica.mean(axis=0), temperature)
        for one, share, temperature in zip(members, SHARES, TEMPERATURES, strict=False)
    ]
    return np.sum(parts, axis=0) / sum(SHARES[: len(members)])


def test_members_are_averaged_by_their_shares(graph: Graph, members: list[TrainedModel], mixture: TrainedModel) -> None:
    found = mixture.predict(graph, device="cpu").probabilities
    np.testing.assert_allclose(found, mean(members, graph), atol=1e-9)
    some = mixture.predict(graph, nodes=[4, 90], device="cpu").probabilities
    np.testing.assert_allclose(some, found[[4, 90]], atol=2e-5)


def test_a_saved_mixture_is_the_same(graph: Graph, mixture: TrainedModel, tmp_path: Path) -> None:
    mixture.save(tmp_path / "model")
    again = training.load(tmp_path / "model").predict(graph, device="cpu")
    assert np.array_equal(again.probabilities, mixture.predict(graph, device="cpu").probabilities)


def test_label_propagation_is_left_out_on_a_changed_graph(
    graph: Graph, members: list[TrainedModel], mixture: TrainedModel
) -> None:
    larger = sp.block_diag((graph.adjacency, sp.csr_array((1, 1))))
    grown = Graph(larger, features=np.vstack([graph.features, np.ones(12)]))
    np.testing.assert_allclose(mixture.predict(grown, device="cpu").probabilities, mean(members[:2], grown), atol=1e-9)


def test_it_cannot_be_asked_for() -> None:
    assert "mixture" not in models.names()

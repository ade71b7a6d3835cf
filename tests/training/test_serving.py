"""Answers about a few nodes: the same as for all, touching only what they need; and answers for graphs that changed."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from communities import communities, labelled

from dfnets import Graph, training
from dfnets.datasets import load
from dfnets.datasets.library import find
from dfnets.training import TrainedModel, train

SMALL = {"progress": False, "device": "cpu"}


@pytest.fixture(scope="module")
def towns() -> tuple[Graph, np.ndarray]:
    graph, truth = communities(5, n=300, separation=0.7)
    return labelled(graph, truth, 10), truth


@pytest.fixture(scope="module")
def model(towns: tuple[Graph, np.ndarray]) -> TrainedModel:
    return train(towns[0], model="dfnet-plus", epochs=25, hidden=8, **SMALL).trained


@pytest.mark.parametrize("kind", ["dfnet-plus", "logistic", "lp"])
def test_some_nodes_get_what_all_get(kind: str, towns: tuple[Graph, np.ndarray], model: TrainedModel) -> None:
    trained = model if kind == "dfnet-plus" else train(towns[0], model=kind, **SMALL).trained
    every = trained.predict(towns[0], device="cpu")
    nodes = [7, 250, 3]
    some = trained.predict(towns[0], nodes=nodes, device="cpu")
    np.testing.assert_allclose(some.probabilities, every.probabilities[nodes], atol=2e-5)
    assert some.ids.tolist() == nodes


def test_a_graph_is_prepared_once_for_many_answers(
    towns: tuple[Graph, np.ndarray], model: TrainedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What makes an answer a matter of milliseconds, counted and not timed."""
    network = model._network(torch.device("cpu"))
    prepare, prepared = network.prepare, []
    monkeypatch.setattr(network, "prepare", lambda *given, **named: prepared.append(1) or prepare(*given, **named))
    graph = towns[0].with_(name="a graph that nobody has asked about")
    first = model.predict(graph, nodes=[0], device="cpu")
    for node in range(20):
        again = model.predict(graph, nodes=[node], device="cpu")
        assert node > 0 or np.array_equal(first.probabilities, again.probabilities)
    assert len(prepared) == 1


def test_nodes_that_there_are_not_are_refused(towns: tuple[Graph, np.ndarray], model: TrainedModel) -> None:
    with pytest.raises(ValueError, match="the graph has nodes 0 to 299"):
        model.predict(towns[0], nodes=[300], device="cpu")
    with pytest.raises(ValueError, match="give node numbers"):
        model.predict(towns[0], nodes=["anna"], device="cpu")  # type: ignore[list-item]


def test_what_is_kept_for_answers_is_not_pickled(towns: tuple[Graph, np.ndarray], model: TrainedModel) -> None:
    model.predict(towns[0], nodes=[0], device="cpu")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.predict(towns[0], nodes=[5], device="cpu").probabilities,
        model.predict(towns[0], nodes=[5], device="cpu").probabilities,
    )


def test_a_saved_model_loads_without_the_command_line(model: TrainedModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    load = f"from dfnets import training; training.load({str(tmp_path / 'model')!r})"
    code = f"import sys; {load}; assert 'typer' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert training.load(tmp_path / "model").replicas == model.replicas


@pytest.mark.parametrize("features", [True, False])
def test_nodes_that_come_later_are_predicted_as_well_as_those_that_were_there(features: bool) -> None:
    """An inductive split: a third of the nodes is not in the graph at all when the model is trained."""
    whole, truth = communities(6, n=450, homophily=0.9, separation=0.7)
    ids = np.array([f"node {k}" for k in range(450)], dtype=object)
    whole = whole.with_(features=whole.features if features else None, node_ids=ids)
    old = np.sort(np.random.default_rng(0).permutation(450)[:300])
    part = Graph(whole.adjacency[old][:, old], features=whole.features[old] if features else None, node_ids=ids[old])
    given = labelled(part, truth[old], 20)
    result = train(given, model="logistic", **SMALL)
    later = result.trained.predict(whole, device="cpu").labels == truth
    new = np.setdiff1d(np.arange(450), old)
    there = np.mean(later[old[given.labels < 0]])
    assert np.mean(later[new]) > there - 0.08
    assert np.mean(later[new]) > (0.75 if features else 0.6)


@pytest.mark.parametrize("name", ["digits", "cora"])
def test_nodes_of_a_public_graph_that_come_later(name: str) -> None:
    """A third of the nodes of a real graph is not there when the default trains, and comes with its edges later."""
    if name != "digits" and find(name) is None:
        pytest.skip(f"{name} is not in $DFNETS_DATA")
    whole = load(name)
    truth = whole.labels
    old = np.sort(np.random.default_rng(0).permutation(whole.num_nodes)[: 2 * whole.num_nodes // 3])
    part = Graph(whole.adjacency[old][:, old], features=whole.features[old])
    given = labelled(part, truth[old], 20)
    result = train(given, effort="quick", epochs=40, **SMALL)
    later = result.trained.predict(whole.with_(labels=None, splits={}), device="cpu").labels == truth
    new = np.setdiff1d(np.arange(whole.num_nodes), old)
    there = np.mean(later[old[given.labels < 0]])
    assert np.mean(later[new]) > there - 0.05
    assert np.mean(later[new]) > {"digits": 0.9, "cora": 0.75}[name]


def test_label_propagation_refuses_a_changed_graph(towns: tuple[Graph, np.ndarray]) -> None:
    trained = train(towns[0], model="lp", **SMALL).trained
    larger = sp.block_diag((towns[0].adjacency, sp.csr_array((1, 1))))
    grown = Graph(larger, features=np.vstack([towns[0].features, np.zeros(12)]))
    with pytest.raises(ValueError, match="it predicts for the nodes of its own graph only"):
        trained.predict(grown, device="cpu")

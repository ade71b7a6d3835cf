"""``dfnets.train``: every label is used, and what is said of the predictor is true of nodes whose labels are hidden."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from communities import communities, hidden_accuracy, labelled

import dfnets
from dfnets import models, training
from dfnets.graph import Graph
from dfnets.training.choice import choose
from dfnets.training.folds import make_folds
from dfnets.training.networks import fit_settings
from dfnets.training.own_graph import judge, train
from dfnets.training.preparation import Preparation

SMALL = {"progress": False, "device": "cpu"}
NETWORK = {**SMALL, "model": "dfnet-plus", "epochs": 30, "hidden": 8}


@pytest.fixture(scope="module")
def towns() -> tuple[Graph, np.ndarray]:
    return communities()


@pytest.mark.usefixtures("one_thread")
def test_networks_of_the_folds_and_of_every_label_predict_together(
    towns: tuple[Graph, np.ndarray], tmp_path: Path
) -> None:
    graph = labelled(*towns, 8)
    result = dfnets.train(graph, **NETWORK)
    assert result.trained.replicas == result.plan.networks == len(result.folds) + result.plan.whole
    few = dfnets.train(labelled(*towns, 2), **{**NETWORK, "epochs": 2})
    assert few.folds.count == 2
    assert few.trained.replicas == few.plan.whole >= 3
    assert hidden_accuracy(graph, towns[1], result.predictions.labels) > 75
    low, high = result.assessment.interval
    assert low <= result.assessment.accuracy <= high
    result.save(tmp_path / "model")
    again = training.load(tmp_path / "model").predict(graph, device="cpu")
    assert np.array_equal(again.probabilities, result.predictions.probabilities)
    card = json.loads((tmp_path / "model" / "card.json").read_text())
    assert card["accuracy"] == result.assessment.accuracy
    assert np.sum(card["confusion"]) == 24
    page = (tmp_path / "model" / "card.html").read_text()
    assert f"{result.assessment.accuracy:.1f} %" in page
    with pytest.raises(FileExistsError, match="force"):
        result.save(tmp_path / "model")
    result.save(tmp_path / "model", force=True)


@pytest.mark.usefixtures("one_thread")
def test_the_same_command_trains_the_same_networks(towns: tuple[Graph, np.ndarray]) -> None:
    graph = labelled(*towns, 4)
    one, two = (train(graph, **{**NETWORK, "epochs": 5}) for _ in range(2))
    assert np.array_equal(one.predictions.per_replica, two.predictions.per_replica)
    assert not np.array_equal(
        one.predictions.per_replica, train(graph, seed=7, **{**NETWORK, "epochs": 5}).predictions.per_replica
    )


@pytest.mark.usefixtures("one_thread")
def test_features_that_are_better_than_the_graph_are_followed() -> None:
    """Edges join anything to anything: the graph is noise, and the features alone tell the class."""
    graph, truth = communities(1, homophily=0.0, separation=1.5)
    graph = labelled(graph, truth, 12)
    result = train(graph, epochs=20, hidden=8, **SMALL)
    alone = train(graph, model="logistic", low=(1.0,), features="none", **SMALL)
    reached = hidden_accuracy(graph, truth, result.predictions.labels)
    assert reached > hidden_accuracy(graph, truth, alone.predictions.labels) - 3
    assert reached > 85


def test_the_interval_covers_the_hidden_accuracy_at_its_rate() -> None:
    """Ninety of a hundred: of 80 pairs of a graph and a draw of labels, between 80 and 99 %.

    By label propagation in two versions, so that a choice is made and hundreds of fits take seconds.
    """
    configs = [models.config("lp", class_mass=mass) for mass in (True, False)]
    covered = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        graph, truth = communities(seed, n=150, homophily=rng.uniform(0.4, 0.95))
        at_random = np.full(150, -1)
        some = rng.permutation(150)[:24]
        at_random[some] = truth[some]
        for given in (labelled(graph, truth, 6, seed), graph.with_(labels=at_random)):
            folds = make_folds(given.labels, 5, 1, seed=seed)
            made = fit_settings("lp", configs, given, folds, seed=0, device=torch.device("cpu"))
            choice = choose([made.candidate], np.arange(len(folds.held)))
            _, predictions, own = judge(given, [made], choice, Preparation(), folds, torch.device("cpu"))
            low, high = own.interval
            covered.append(low <= hidden_accuracy(given, truth, predictions.labels) <= high)
    assert 0.8 <= np.mean(covered) < 1.0


def test_two_labels_of_a_class_are_enough_and_one_is_warned_about(towns: tuple[Graph, np.ndarray]) -> None:
    graph = labelled(*towns, 2)
    result = train(graph, model="logistic", **SMALL)
    assert result.folds.count == 2
    assert result.folds.repeats >= 2
    assert "roughly" in result.warnings[0]
    labels = graph.labels.copy()
    labels[np.flatnonzero(labels == 2)[1:]] = -1
    single = train(graph.with_(labels=labels), model="logistic", **SMALL)
    assert "1 of 3 classes have a single label ('2')" in single.warnings[0]
    assert np.isnan(single.assessment.recall[2])
    assert set(np.unique(single.predictions.labels)) == {0, 1, 2}


def test_with_few_labels_networks_train_to_the_end(towns: tuple[Graph, np.ndarray]) -> None:
    """Half of two labels per class cannot tell when to stop; with four folds, held-out nodes choose the epoch."""
    few = train(labelled(*towns, 2), **NETWORK)
    assert list(few.candidates[0].versions) == [f"epoch {few.plan.epochs}"]
    enough = train(labelled(*towns, 4), **NETWORK)
    assert len(enough.candidates[0].versions) > 1


def test_without_features_some_are_made_of_the_edges(towns: tuple[Graph, np.ndarray]) -> None:
    graph, truth = towns
    bare = labelled(graph.with_(features=None), truth, 12)
    result = train(bare, model="logistic", **SMALL)
    assert hidden_accuracy(bare, truth, result.predictions.labels) > 65
    assert "made of the edges" in result.card()["features"]


def test_what_is_no_class_is_refused(towns: tuple[Graph, np.ndarray]) -> None:
    graph, _ = towns
    with pytest.raises(ValueError, match="has no labels"):
        train(graph, **SMALL)
    labels = np.full(240, -1)
    labels[:9] = np.arange(9)
    numbers = graph.with_(labels=labels, label_names=tuple(f"{k}.37" for k in range(9)))
    with pytest.raises(ValueError, match="this is a regression; dfnets predicts classes"):
        train(numbers, **SMALL)
    labels[:9] = np.arange(9) % 3
    with pytest.raises(ValueError, match="'a;b' lists several classes"):
        train(graph.with_(labels=labels, label_names=("a", "a;b", "b")), **SMALL)
    labels[:9] = 1
    with pytest.raises(ValueError, match="give nodes of two classes"):
        train(graph.with_(labels=labels), **SMALL)


def test_nodes_to_label_next_are_unlabelled_and_unsure(towns: tuple[Graph, np.ndarray]) -> None:
    graph = labelled(*towns, 8)
    result = train(graph, model="logistic", **SMALL)
    nodes = result.least_sure(5)
    assert (graph.labels[nodes] < 0).all()
    top = result.predictions.probabilities.max(axis=1)
    assert top[nodes].max() <= np.sort(top[graph.labels < 0])[4]


def test_labels_drawn_per_class_are_weighted_by_what_is_predicted() -> None:
    graph, truth = communities(3, separation=1.0)
    rare = np.random.default_rng(0).random(len(truth)) < 0.8
    kept = np.flatnonzero((truth != 0) | ~rare)
    skewed = Graph(graph.adjacency[kept][:, kept], features=graph.features[kept])
    truth = truth[kept]
    result = train(labelled(skewed, truth, 8), model="logistic", **SMALL)
    assert result.assessment.shares[0] < 0.25
    assert "Classes count by their estimated share" in result.card()["how"]


def test_small_networks_predict_beside_the_main_one(towns: tuple[Graph, np.ndarray], tmp_path: Path) -> None:
    graph = labelled(*towns, 12)
    result = train(graph, epochs=20, hidden=8, **SMALL)
    names = [candidate.name for candidate in result.candidates]
    assert names[0] == "dfnet-plus"
    assert {f"small network ({kind})" for kind in ("propagated", "averaged", "looped", "alone")} < set(names)
    card = result.card()
    assert sum(member["model"].startswith("small network") for member in card["members"]) >= 2
    # Whichever model has the largest share, the card can be made.
    for first in range(len(result.choice.parts)):
        parts = result.choice.parts
        turned = replace(result.choice, parts=(*parts[first:], *parts[:first]))
        assert "changed graph too" in replace(result, choice=turned).card()["new_nodes"]
    result.save(tmp_path / "model")
    again = training.load(tmp_path / "model").predict(graph, device="cpu")
    assert np.array_equal(again.probabilities, result.predictions.probabilities)


def test_classes_are_shifted_to_what_is_frequent_among_the_nodes_to_be_predicted(tmp_path: Path) -> None:
    """As many labels of each class, and one of them has nine nodes in ten."""
    graph, truth = communities(5, n=900, separation=0.35, homophily=0.3)
    rng = np.random.default_rng(0)
    kept = np.flatnonzero((truth == 0) | (rng.random(900) < 0.12))
    skewed = Graph(graph.adjacency[kept][:, kept], features=graph.features[kept], name="skewed")
    own = labelled(skewed, truth[kept], 15)
    result = train(own, model="logistic", **SMALL)
    offsets = np.array(result.trained.class_offsets)
    assert offsets.argmax() == 0
    plain = result.predictions.per_replica.mean(axis=0).argmax(axis=1)
    assert hidden_accuracy(own, truth[kept], result.predictions.labels) > hidden_accuracy(own, truth[kept], plain) + 3
    result.save(tmp_path / "model")
    again = training.load(tmp_path / "model").predict(own, device="cpu")
    assert np.array_equal(again.probabilities, result.predictions.probabilities)

"""The model folder: what was saved predicts the same; what was tampered with is refused."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from dfnets import Graph, checksums
from dfnets.datasets.splits import Split
from dfnets.training import Result, fit, load

SMALL: dict[str, Any] = {"units": (4, 6), "dropout": 0.5, "learning_rate": 0.01}


@pytest.fixture
def result(graph: Graph, split: Split) -> Result:
    return fit("dfnet", graph, protocol=split, replicas=2, epochs=20, progress=False, **SMALL)


def test_a_saved_model_predicts_the_same(result: Result, graph: Graph, tmp_path: Path) -> None:
    for rule in ("final", "validation"):
        result.save(tmp_path / rule, rule=rule)
        assert sorted(path.name for path in (tmp_path / rule).iterdir()) == [
            "config.json",
            "filter.json",
            "model.safetensors",
        ]
        model = load(tmp_path / rule)
        np.testing.assert_array_equal(model.predict(graph).probabilities, result.predict(rule=rule).probabilities)
        assert model.about["rule"] == rule
        assert model.about["protocol"] == "mine"
        assert model.about["seeds"] == [0, 1]
    assert model.classes == ("red", "green", "blue")


def test_predictions_are_the_mean_of_the_replicas(result: Result, graph: Graph) -> None:
    trained = result.trained("final")
    network = result._trainer.model.eval()
    with torch.no_grad():
        each = torch.softmax(network(result._trainer.inputs), dim=-1)
    np.testing.assert_allclose(trained.predict(graph).probabilities, each.mean(1), atol=1e-6)


def test_columns_are_found_by_name(graph: Graph, split: Split, tmp_path: Path) -> None:
    assert graph.features is not None
    count = graph.features.shape[1]
    names = tuple(f"column {k}" for k in range(count))
    named = graph.with_(features=graph.features, feature_names=names)
    fit("dfnet", named, protocol=split, epochs=5, progress=False, **SMALL).save(tmp_path)
    model = load(tmp_path)
    order = np.random.default_rng(0).permutation(count)
    shuffled = graph.with_(features=graph.features[:, order], feature_names=[names[k] for k in order])
    np.testing.assert_array_equal(model.predict(shuffled).probabilities, model.predict(named).probabilities)
    other = graph.with_(features=graph.features, feature_names=("other", *names[1:]))
    with pytest.raises(ValueError, match=r"lack 1 columns .*'column 0'\) and have 1 columns .*does not know \('other'"):
        model.predict(other)


def test_frame_has_ids_and_names(result: Result, graph: Graph) -> None:
    named = graph.with_(node_ids=np.array([f"node {i}" for i in range(120)], dtype=object))
    frame = result.predict(named).frame()
    assert list(frame.columns) == ["id", "label", "probability", "p(red)", "p(green)", "p(blue)"]
    assert frame["id"][7] == "node 7"
    assert set(frame["label"]) <= {"red", "green", "blue"}
    np.testing.assert_allclose(frame[["p(red)", "p(green)", "p(blue)"]].sum(axis=1), 1)
    np.testing.assert_allclose(frame["probability"], frame[["p(red)", "p(green)", "p(blue)"]].max(axis=1))


def test_a_graph_that_has_grown(result: Result, graph: Graph) -> None:
    """A new node like the reds, with red friends, is red; the others hardly change."""
    adjacency = np.zeros((121, 121))
    adjacency[:120, :120] = graph.adjacency.toarray()
    adjacency[120, :20] = adjacency[:20, 120] = 1
    words = np.vstack([graph.features.toarray(), np.arange(30) % 3 == 0])  # type: ignore[union-attr]
    grown = Graph(adjacency, features=sp.csr_array(words.astype(float)), name="grown")
    predictions = result.predict(grown)
    assert predictions.probabilities.shape == (121, 3)
    assert predictions.labels[120] == 0
    assert np.mean(predictions.labels[:120] == result.predict().labels) > 0.85


def test_other_features_are_refused(result: Result, graph: Graph) -> None:
    with pytest.raises(ValueError, match="blocks has 2 features, but the model was made for 30"):
        result.predict(graph.with_(features=np.ones((120, 2))))


@pytest.mark.parametrize("part", ["model.safetensors", "filter.json", "config.json"])
@pytest.mark.parametrize("how", ["cut off", "changed", "missing"])
def test_damage_is_refused(result: Result, tmp_path: Path, part: str, how: str) -> None:
    result.save(tmp_path)
    path = tmp_path / part
    content = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "cut off":
        path.write_bytes(content[: len(content) // 2])
    else:
        at = content.rindex(b"0.5") if part == "config.json" else len(content) - 30
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    with pytest.raises(
        ValueError, match=rf"{part.replace('.', '[.]')}.*(missing|cut off|changed|no JSON)|has no {part}"
    ):
        load(tmp_path)


def test_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is not a model folder: it has no config\.json"):
        load(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"a": 1}))
    with pytest.raises(ValueError, match="lacks the mark 'dfnets model, version 1'"):
        load(tmp_path)


def test_saving_again_replaces(result: Result, tmp_path: Path, graph: Graph) -> None:
    result.save(tmp_path, rule="final")
    result.save(tmp_path, rule="validation")
    assert load(tmp_path).about["rule"] == "validation"
    np.testing.assert_array_equal(load(tmp_path).predict(graph).probabilities, result.predict().probabilities)


def test_a_model_folder_of_version_0_1_0_still_loads() -> None:
    """Settings and tensors of DFNetPlus had other names then; what it predicted is kept here."""
    trained = load(Path(__file__).with_name("model_0_1_0"))
    assert trained.config.select_by == "loss"
    values = trained.config.model_dump()
    names = ("balance_below", "node_dropout", "augmentations", "consistency_weight")
    assert [values[name] for name in names] == [2, 0.25, 3, 1.0]
    n = 24
    labels = np.arange(n) % 2
    ring = np.roll(np.eye(n), 2, axis=0) + np.roll(np.eye(n), -2, axis=0)
    features = np.stack([np.sin(np.arange(n) * k + labels) for k in (1.0, 2.0, 3.0)], axis=1)
    features[:, 0] += labels
    found = trained.predict(Graph(ring, features=features, name="ring")).probabilities
    expected = [[0.509652, 0.490348], [0.481112, 0.518888], [0.481112, 0.518888], [0.481112, 0.518888]]
    np.testing.assert_allclose(found[:4], expected, atol=2e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": 3}, "does not describe a model"),
        ({"model": "perceptron"}, "does not describe a model"),
        ({"replicas": 0}, "does not describe a model"),
        ({"classes": "red"}, "does not describe a model"),
        ({"features": None}, "does not describe a model"),
        ({"config": {"units": "many"}}, "does not describe a model"),
        ({"config": {"wings": 2}}, "does not describe a model"),
        ({"sha256": []}, "was changed"),
        ({"class_offsets": [0.5]}, "it has 1 class_offsets for 3 classes"),
        ({"replicas": 3}, "the weights do not fit the model 'dfnet'"),
        # No machine has memory for it: the sizes are compared before any is asked for.
        ({"replicas": 2**40}, "it has 1099511627776 replicas, and the tensors another"),
        ({"features": 2**40}, "the weights do not fit the model 'dfnet' of the config: [^$]*size mismatch"),
    ],
)
def test_entries_of_another_type_are_refused(
    result: Result, graph: Graph, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    """A checksum keeps accidents out; here somebody has made it fit."""
    result.save(tmp_path)
    content = json.loads((tmp_path / "config.json").read_text()) | change
    if isinstance(content["sha256"], dict):
        del content["sha256"]["config.json"]
        content["sha256"]["config.json"] = checksums.of_json(content)
    (tmp_path / "config.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message):
        load(tmp_path).predict(graph)


@pytest.mark.usefixtures("exchange")
def test_a_model_is_replaced_while_it_is_read(result: Result, tmp_path: Path) -> None:
    """Four threads save models whose weights differ, and whoever loads meanwhile has all of one of them."""
    one = result.trained()
    others = [replace(one, weights={k: v + r for k, v in one.weights.items()}, about={"r": r}) for r in range(8)]
    one.save(tmp_path / "model")
    first = next(iter(one.weights))
    with ThreadPoolExecutor(3) as pool:
        saved = [pool.submit(other.save, tmp_path / "model") for other in others]
        while not all(future.done() for future in saved):
            found = load(tmp_path / "model")
            shift = found.about.get("r", 0)
            assert torch.equal(found.weights[first], one.weights[first] + shift)
    assert [future.exception() for future in saved] == [None] * 8
    assert [path.name for path in tmp_path.iterdir()] == ["model"]

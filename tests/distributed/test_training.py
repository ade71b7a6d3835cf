"""Networks trained on row blocks are those of one process, to rounding; a killed worker changes nothing, to the bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from communities import communities
from starting import torchrun

import dfnets
from dfnets import Graph, training
from dfnets.datasets import splits
from dfnets.distributed import partition, write_partition

COMMON = {"protocol": "mine", "replicas": 2, "epochs": 8}
# Measured features are standardised by dfnet-plus, words are not.
MEASURED: list[dict[str, Any]] = [
    {"model": "gcn", "class_weights": "balanced", "clip": 0.05},
    {"model": "dfnet-plus", "hidden": 8, "every": 2},
    {"model": "dfnet-plus", "band": "high", "input_dropout": 0.0, "patience": 4, "every": 2},
]
WORDS: list[dict[str, Any]] = [
    {"model": "dfnet-plus", "every": 2},
    *({"model": name} for name in ("gcn", "gcn-dense", "mlp", "sgc", "chebyshev", "arma", "appnp", "gcnii", "gprgnn")),
    *({"model": name} for name in ("bernnet", "chebnet2", "jacobiconv")),
]


def towns(*, words: bool) -> Graph:
    graph, truth = communities(1, n=150)
    x: Any = graph.features
    x = sp.csr_array(np.where(np.abs(x) > 1.5, np.abs(x), 0)) if words else x
    labelled = graph.with_(features=x, labels=truth)
    draws = splits.make(labelled, "random", draws=2, per_class=8, validation_per_class=8)
    return labelled.with_(splits={"mine": tuple(draws)})


def run(folder: Path, graph: Graph, tasks: list[dict[str, Any]], processes: int, *options: str) -> list[dict[str, Any]]:
    """What ``processes`` processes trained."""
    write_partition(graph, partition(graph, processes, method="streaming"), folder / "parts")
    (folder / "tasks.json").write_text(json.dumps([COMMON | task for task in tasks]))
    torchrun(processes, *options, str(Path(__file__).with_name("train_program.py")), str(folder))
    return [dict(np.load(folder / f"out-{number}.npz")) for number in range(len(tasks))]


def check_equals_one_process(graph: Graph, task: dict[str, Any], found: dict[str, Any]) -> None:
    arguments: dict[str, Any] = COMMON | task
    if task["model"] == "dfnet-plus":
        # On row blocks it is the network alone.
        arguments["ensemble"] = False
    alone = training.fit(arguments.pop("model"), graph, progress=False, device="cpu", **arguments)
    # Single precision, and eight steps of Adam, which divides by the size of a gradient.
    np.testing.assert_allclose(
        found["history"], alone.history.arrays()["table"], rtol=1e-4, atol=1e-5, err_msg=str(task)
    )
    for name, tensor in alone.trained("final").weights.items():
        np.testing.assert_allclose(found[name], tensor.numpy(), rtol=1e-3, atol=1e-4, err_msg=f"{task} {name}")
    expected = alone.predict(rule="final").per_replica.transpose(1, 0, 2)
    np.testing.assert_allclose(found["predictions"], expected, atol=1e-4, err_msg=str(task))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("measured")
    return folder, run(folder, towns(words=False), MEASURED, 2)


def test_two_processes_train_the_networks_of_one(measured: tuple[Path, list[dict[str, Any]]]) -> None:
    graph = towns(words=False)
    for task, found in zip(MEASURED, measured[1], strict=True):
        check_equals_one_process(graph, task, found)


def test_what_one_of_them_saved_is_a_model_for_one_process(measured: tuple[Path, list[dict[str, Any]]]) -> None:
    folder, found = measured
    predicted = training.load(folder / "model-0").predict(towns(words=False), device="cpu")
    np.testing.assert_allclose(predicted.per_replica.transpose(1, 0, 2), found[0]["predictions"], atol=1e-5)


def test_sparse_features_and_every_model_on_four_processes(tmp_path: Path) -> None:
    graph = towns(words=True)
    for task, found in zip(WORDS, run(tmp_path, graph, WORDS, 4), strict=True):
        check_equals_one_process(graph, task, found)


def test_a_worker_that_is_killed_changes_nothing(measured: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    checkpoint = {"checkpoint": str(tmp_path / "saved.ckpt"), "checkpoint_every": 0.0}
    (found,) = run(tmp_path, towns(words=False), [MEASURED[1] | checkpoint | {"dies_at": 5}], 2, "--max-restarts", "1")
    assert found["first_epoch"] in (5, 6), "the second attempt starts from the checkpoint of epoch 4 or 5"
    for name, values in measured[1][1].items():
        if name != "first_epoch":
            np.testing.assert_array_equal(found[name], values, err_msg=name)


def test_what_cannot_be_trained_on_row_blocks_is_refused() -> None:
    with pytest.raises(ValueError, match="model='gat' cannot be trained on row blocks"):
        dfnets.distributed.fit_row_blocks("gat", "anywhere")
    with pytest.raises(RuntimeError, match="torchrun"), dfnets.distributed.processes():
        pass

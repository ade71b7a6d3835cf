"""Commands with ``--distributed``, networks shared out, and the scripts of the tutorial: what one process gives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from communities import communities
from starting import torchrun
from typer.testing import CliRunner

import dfnets
from dfnets import Graph, filters, training
from dfnets.cli import app
from dfnets.distributed import partition, write_partition

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorials" / "many-processes.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("commands")
    graph, truth = communities(2, n=200)
    graph = graph.with_(labels=truth)
    graph.save(place / "graph")
    write_partition(graph, partition(graph, 2), place / "parts")
    dfnets.design(dfnets.responses.low_pass(0.5), p=3, q=2, gamma=0.9).save(place / "filter.json")
    np.save(place / "x.npy", np.random.default_rng(0).standard_normal((200, 5)))
    return place


@pytest.fixture(scope="module")
def printed(folder: Path) -> str:
    return torchrun(2, str(Path(__file__).with_name("share_program.py")), str(folder))


def filtered(folder: Path) -> np.ndarray:
    f = filters.load(folder / "filter.json")
    return f.apply(Graph.open(folder / "graph"), np.load(folder / "x.npy"), tol=1e-8)


def test_filter_shares_out_columns_or_rows(folder: Path, printed: str) -> None:
    np.testing.assert_array_equal(np.load(folder / "columns.npy"), filtered(folder))
    np.testing.assert_allclose(np.load(folder / "rows.npy"), filtered(folder), atol=1e-7)
    assert printed.count("written: ") == 2, "one process speaks for all"


@pytest.mark.usefixtures("printed")
def test_replicas_shared_out_are_the_same_to_the_bit(folder: Path) -> None:
    options: dict[str, Any] = {"protocol": "random", "epochs": 6, "patience": 2, "device": "cpu", "progress": False}
    alone = training.fit("gcn", Graph.open(folder / "graph"), replicas=3, **options)
    with np.load(folder / "fitted.npz") as arrays:
        np.testing.assert_array_equal(arrays["table"], alone.history.arrays()["table"])
        np.testing.assert_array_equal(arrays["predictions"], alone.predict().per_replica)
    saved = training.load(folder / "fitted")
    for name, tensor in alone.trained().weights.items():
        np.testing.assert_array_equal(saved.weights[name].numpy(), tensor.numpy())
    assert {path.name for path in folder.glob("run.ckpt*")} == {"run.ckpt.0", "run.ckpt.1"}


@pytest.mark.usefixtures("printed")
def test_folds_shared_out_are_the_same_to_the_bit(folder: Path) -> None:
    graph = Graph.open(folder / "graph")
    alone = training.train(graph, model="gcn", effort="quick", epochs=4, device="cpu", progress=False)
    with np.load(folder / "folds.npz") as arrays:
        np.testing.assert_array_equal(arrays["probabilities"], alone.predictions.probabilities)
        assert float(arrays["accuracy"]) == alone.assessment.accuracy


def test_train_writes_its_model_once_and_says_how_good_it_is(folder: Path, printed: str) -> None:
    assert training.load(folder / "on-parts").replicas == 1
    assert training.load(folder / "shared").replicas == 2
    assert printed.count("model (validation): ") == 2


def test_torchrun_starts_the_command(folder: Path) -> None:
    arguments = ["--dataset", str(folder / "parts"), "--distributed", "--model", "gat"]
    message = torchrun(2, "-m", "dfnets", "train", *arguments, status=1)
    assert "model='gat' cannot be trained on row blocks" in message


def test_without_torchrun_it_says_what_to_do(folder: Path) -> None:
    signal, f = str(folder / "x.npy"), str(folder / "filter.json")
    for arguments in (
        ["filter", str(folder / "graph"), signal, "--filter", f, "--distributed"],
        ["train", "--dataset", str(folder / "parts"), "--distributed"],
    ):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 2
        assert "torchrun" in done.output
    done = CliRunner().invoke(app, ["train", "--dataset", str(folder / "parts")])
    assert done.exit_code == 2
    assert "--distributed" in done.output


def test_the_scripts_of_the_tutorial_run(folder: Path) -> None:
    scripts = re.findall(r"```python\n# (\w+\.py), started by torchrun\n(.*?)```", TUTORIAL.read_text(), flags=re.S)
    assert [name for name, _ in scripts] == ["columns.py", "rows.py", "training.py"]
    (folder / "all.py").write_text("".join(body for _, body in scripts))
    torchrun(2, "all.py", folder=folder)
    np.testing.assert_allclose(np.load(folder / "filtered.npy"), filtered(folder), atol=1e-5)
    assert training.load(folder / "model").name == "dfnet-plus"

"""From three CSV files to a model, and from the model to predictions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas
import pytest
import typer
from typer.testing import CliRunner, Result

from dfnets.cli.train import predict_command, train_command
from dfnets.datasets.files import read

app = typer.Typer()
app.command("train")(train_command)
app.command("predict")(predict_command)
NETWORK = ["--epochs", "30", "--set", "units=[4, 6]", "--set", "dropout=0.5", "--device", "cpu"]
SMALL = ["--protocol", "random", "--model", "dfnet", "--replicas", "2", *NETWORK]
COUNTS = ["--per-class", "10", "--validation-per-class", "5"]
OWN = ["--model", "dfnet-plus", "--epochs", "12", "--set", "hidden=4", "--device", "cpu"]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def files(tmp_path: Path) -> list[object]:
    """People with names, who know mostly people of their own town."""
    rng = np.random.default_rng(0)
    names = [f"person{i}" for i in range(90)]
    towns = np.repeat(["Ulm", "Lyon", "Oslo"], 30)
    same = towns[:, None] == towns
    ends = np.argwhere(np.triu(rng.random((90, 90)) < np.where(same, 0.15, 0.01), 1))
    pandas.DataFrame([(names[i], names[j]) for i, j in ends], columns=["a", "b"]).to_csv(
        tmp_path / "e.csv", index=False
    )
    words = rng.random((90, 12)) < np.where(np.arange(12) % 3 == np.repeat([0, 1, 2], 30)[:, None], 0.5, 0.1)
    features = pandas.DataFrame(words.astype(float), columns=[f"w{i}" for i in range(12)])
    features.insert(0, "id", names)
    features.to_csv(tmp_path / "x.csv", index=False)
    known = rng.random(90) < 0.9
    labels = pandas.DataFrame({"id": names, "town": towns})[known]
    labels.to_csv(tmp_path / "y.csv", index=False)
    return ["--edges", tmp_path / "e.csv", "--features", tmp_path / "x.csv"]


def test_train_save_and_predict(files: list[object], tmp_path: Path) -> None:
    folder, table = tmp_path / "model", tmp_path / "p.csv"
    trained = run("train", *files, "--labels", tmp_path / "y.csv", *SMALL, *COUNTS, "--out", folder)
    assert trained.exit_code == 0, trained.output
    assert "epochs=30, protocol random, rule validation, 2 runs, seeds 0-1" in trained.output
    assert "rule final" in trained.output
    assert "oracle" not in trained.output
    predicted = run("predict", folder, *files, "--out", table)
    assert predicted.exit_code == 0, predicted.output
    assert "90 predictions" in predicted.output
    frame = pandas.read_csv(table)
    assert list(frame.columns) == ["id", "label", "probability", "p(Lyon)", "p(Oslo)", "p(Ulm)"]
    assert frame["id"].tolist() == [f"person{i}" for i in range(90)]
    assert np.mean(frame["label"] == np.repeat(["Ulm", "Lyon", "Oslo"], 30)) > 0.8


def test_columns_in_another_order_and_categories(files: list[object], tmp_path: Path) -> None:
    """A model finds its columns by name, and encodes categories and gaps as in training."""
    frame = pandas.read_csv(tmp_path / "x.csv")
    frame["club"] = np.where(np.arange(90) % 4 == 0, "chess", "golf")
    frame.loc[3, "w1"] = np.nan
    frame.to_csv(tmp_path / "x.csv", index=False)
    trained = run("train", *files, "--labels", tmp_path / "y.csv", *SMALL, *COUNTS, "--out", tmp_path / "model")
    assert trained.exit_code == 0, trained.output
    first = trained.output.splitlines()[0]
    assert first.startswith("90 nodes, ")
    assert first.endswith("classes (column town), weights: all 1")
    assert "column club: 2 categories, one feature each" in trained.output
    run("predict", tmp_path / "model", *files, "--out", tmp_path / "one.csv")
    shuffled = frame[["id", *frame.columns[:0:-1]]]
    shuffled.to_csv(tmp_path / "x.csv", index=False, sep=";", decimal=",")
    done = run("predict", tmp_path / "model", *files, "--out", tmp_path / "two.csv")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "two.csv").read_text() == (tmp_path / "one.csv").read_text()
    shuffled.drop(columns="w3").assign(new=1).to_csv(tmp_path / "x.csv", index=False)
    refused = str(run("predict", tmp_path / "model", *files).exception)
    assert "lack 1 columns that the model was trained on ('w3')" in refused
    assert "have 1 columns that the model does not know ('new')" in refused


def test_predictions_are_printed_when_no_file_is_given(files: list[object], tmp_path: Path) -> None:
    run("train", *files, "--labels", tmp_path / "y.csv", *SMALL, *COUNTS, "--out", tmp_path / "model")
    printed = run("predict", tmp_path / "model", *files)
    assert printed.exit_code == 0, printed.output
    assert "person0" in printed.output
    assert "p(Oslo)" in printed.output


def test_a_checkpoint_is_gone_on_from(files: list[object], tmp_path: Path) -> None:
    arguments = ["train", *files, "--labels", tmp_path / "y.csv", *SMALL, *COUNTS, "--checkpoint", tmp_path / "run"]
    first, again = run(*arguments), run(*arguments)
    assert (tmp_path / "run").exists()
    assert first.output == again.output


def test_mini_batches_from_a_folder_that_a_graph_was_saved_into(files: list[object], tmp_path: Path) -> None:
    graph = read(files[1], features=files[3], labels=tmp_path / "y.csv").graph
    graph.save(tmp_path / "graph")
    own = ["--epochs", "40", "--replicas", "2", "--set", "unlabelled=30", "--device", "cpu"]
    arguments = ["train", "--dataset", tmp_path / "graph", "--mini-batch", *own, *COUNTS, "--out", tmp_path / "model"]
    trained = run(*arguments)
    assert trained.exit_code == 0, trained.output
    assert "dfnet-plus on" in trained.output
    assert "protocol random, rule validation, 2 runs" in trained.output
    predicted = run("predict", tmp_path / "model", *files, "--out", tmp_path / "p.csv")
    assert predicted.exit_code == 0, predicted.output
    frame = pandas.read_csv(tmp_path / "p.csv")
    assert np.mean(frame["label"] == np.repeat(["Ulm", "Lyon", "Oslo"], 30)) > 0.8


def test_without_a_protocol_every_label_is_used(files: list[object], tmp_path: Path) -> None:
    folder, table = tmp_path / "model", tmp_path / "p.parquet"
    trained = run("train", *files, "--labels", tmp_path / "y.csv", *OWN, "--out", folder)
    assert trained.exit_code == 0, trained.output
    labels = pandas.read_csv(tmp_path / "y.csv")
    assert f"90 nodes, {len(labels)} labels" not in trained.output
    assert f"{len(labels)} labels, 3 classes" in trained.output
    assert "90 % interval" in trained.output
    assert "  lp: " in trained.output
    assert "Confusion (rows: true, columns: predicted)" in trained.output
    assert "label these next" in trained.output
    assert (folder / "card.html").exists()
    predicted = run("predict", folder, *files, "--out", table)
    assert predicted.exit_code == 0, predicted.output
    frame = pandas.read_parquet(table)
    assert np.mean(frame["label"] == np.repeat(["Ulm", "Lyon", "Oslo"], 30)) > 0.8


def test_predictions_are_written_by_their_ending(files: list[object], tmp_path: Path) -> None:
    run("train", *files, "--labels", tmp_path / "y.csv", "--model", "logistic", "--out", tmp_path / "model")
    written = run("predict", tmp_path / "model", *files, "--out", tmp_path / "p.json")
    assert written.exit_code == 0, written.output
    rows = json.loads((tmp_path / "p.json").read_text())
    assert rows[7]["id"] == "person7"
    assert run("predict", tmp_path / "model", *files, "--out", tmp_path / "p.csv").exit_code == 0
    frame = pandas.read_csv(tmp_path / "p.csv")
    assert frame["label"].tolist() == [row["label"] for row in rows]
    refused = run("predict", tmp_path / "model", *files, "--out", tmp_path / "p.xls")
    assert ".csv, .parquet, .json" in refused.output.replace("\n", " ")


def test_the_order_of_feature_columns_does_not_matter(files: list[object], tmp_path: Path) -> None:
    run("train", *files, "--labels", tmp_path / "y.csv", "--model", "logistic", "--out", tmp_path / "model")
    frame = pandas.read_csv(tmp_path / "x.csv")
    shuffled = frame[["id", *np.random.default_rng(0).permutation(frame.columns[1:])]]
    shuffled.to_csv(tmp_path / "other.csv", index=False)
    tables = []
    for features in ("x.csv", "other.csv"):
        out = tmp_path / f"p-{features}"
        done = run(
            "predict",
            tmp_path / "model",
            "--edges",
            tmp_path / "e.csv",
            "--features",
            tmp_path / features,
            "--out",
            out,
        )
        assert done.exit_code == 0, done.output
        tables.append(pandas.read_csv(out))
    pandas.testing.assert_frame_equal(tables[0], tables[1], rtol=1e-5)


def test_a_model_is_not_overwritten_and_out_is_checked_first(files: list[object], tmp_path: Path) -> None:
    arguments = ["train", *files, "--labels", tmp_path / "y.csv", "--model", "logistic", "--out", tmp_path / "model"]
    assert run(*arguments).exit_code == 0
    assert "exists already" in str(run(*arguments).exception)
    assert run(*arguments, "--force").exit_code == 0
    (tmp_path / "file").write_text("")
    assert "not a folder" in str(run("train", *files, "--out", tmp_path / "file").exception)


def test_options_of_protocols_are_refused_without_one(files: list[object], tmp_path: Path) -> None:
    wrong = run("train", *files, "--labels", tmp_path / "y.csv", "--replicas", "3")
    assert "belongs to --protocol" in wrong.output
    assert "not both" in run("train", *files, "--quick", "--thorough").output


def test_bad_arguments(files: list[object], tmp_path: Path) -> None:
    assert "give either --dataset or --edges" in run("train").output
    assert "belong to --edges" in run("train", "--dataset", "digits", "--labels", "y.csv").output
    assert "give name=value" in run("train", *files, "--labels", tmp_path / "y.csv", *COUNTS, "--set", "units").output
    unknown = run("train", *files, "--labels", tmp_path / "y.csv", *SMALL, *COUNTS, "--set", "wings=2")
    assert "dfnet has no setting 'wings'" in str(unknown.exception)
    assert "is not a model folder" in str(run("predict", tmp_path, *files).exception)

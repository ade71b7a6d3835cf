import json

import numpy as np
import pytest
from typer.testing import CliRunner

from dfnets import Graph
from dfnets.cli.data import app
from dfnets.datasets import cache, library, sources
from dfnets.datasets.files import read_graph

runner = CliRunner()


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """An empty cache, and no source that answers."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("DFNETS_DATA", raising=False)
    monkeypatch.setattr(sources, "PLANETOID", "https://no-such-host.invalid")
    monkeypatch.setattr(sources, "NELL", "https://no-such-host.invalid")
    monkeypatch.setattr(sources, "_pip_download", unreachable)


def unreachable(_):
    raise OSError("no network in this test")


def test_list(tmp_path, monkeypatch):
    path = library.cached("cora")
    with cache.lock(path):
        cache.store(path, {"x": np.zeros(1)})
    np.savez(tmp_path / "nell.npz", x=np.zeros(1))
    monkeypatch.setenv("DFNETS_DATA", str(tmp_path))
    result = runner.invoke(app, ["list"])
    assert result.exit_code == 0
    rows = {line.split("│")[1].strip(): line for line in result.stdout.splitlines() if line.startswith("│")}
    assert list(rows) == ["cora", "citeseer", "pubmed", "nell", "digits"]
    assert "needs no network" in rows["digits"]
    assert "dfnets data fetch citeseer" in rows["citeseer"]


def test_fetch_says_where_it_is(monkeypatch):
    monkeypatch.setattr(library, "_obtain", lambda _: {"x": np.zeros(1)})
    result = runner.invoke(app, ["fetch", "all"])
    assert result.exit_code == 0
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == ["cora", "citeseer", "pubmed", "nell"]
    assert str(library.cached("pubmed")) in result.stdout


def test_fetch_without_a_network_is_an_error_in_words():
    result = runner.invoke(app, ["fetch", "cora"])
    assert result.exit_code == 1
    assert "cora could not be fetched" in str(result.exception)
    assert "'digits' needs no network" in str(result.exception)
    assert runner.invoke(app, ["fetch", "kora"]).exit_code == 1


def test_describe_a_dataset_and_draw_it(tmp_path):
    figure = tmp_path / "digits.png"
    result = runner.invoke(app, ["describe", "digits", "--figure", str(figure)])
    assert result.exit_code == 0, result.output
    assert "1797" in result.stdout
    assert figure.stat().st_size > 10000


def test_describe_ones_own_graph(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\nu,v\nv,w\n")
    (tmp_path / "x.csv").write_text("id,x\nu,1\nv,2\nw,3\nalone,4\n")
    (tmp_path / "y.csv").write_text("id,y\nu,red\nv,red\n")
    options = ["--edges", "e.csv", "--features", "x.csv", "--labels", "y.csv"]
    result = runner.invoke(app, ["describe", *(str(tmp_path / o) if "." in o else o for o in options)])
    assert result.exit_code == 0, result.output
    assert "isolated nodes" in result.stdout
    (tmp_path / "e.csv").write_text("a,b\nu,v\nv,\n")
    result = runner.invoke(app, ["describe", "--edges", str(tmp_path / "e.csv")])
    assert result.exit_code == 1
    assert "e.csv, line 3, column 'b': '' is no id" in str(result.exception)


def test_check_tells_what_is_odd_and_its_status_says_whether_it_matters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text("Source;Target;Weight\nu;v;0,5\nv;w;1\nw;w;1\n")
    (tmp_path / "y.csv").write_text("u,red\nv,blue\nw,red\nu2,blue\n")
    arguments = ["check", "--edges", "e.csv", "--labels", "y.csv"]
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "4 nodes, 3 edges, 4 labels, 2 classes (column 2), weights: column Weight"
    assert "  e.csv: separated by semicolons, decimal commas" in lines
    assert "odd, edges: 1 edge from a node to itself; the filter adds such a loop by itself" in lines
    found = json.loads(runner.invoke(app, [*arguments, "--json"]).stdout)
    assert found["ok"]
    assert [finding["severity"] for finding in found["findings"]] == ["odd"] * 3
    (tmp_path / "e.csv").write_text("Source;Target;Weight\nu;v;0,5\nv;u;1\n")
    result = runner.invoke(app, arguments)
    assert result.exit_code == 1
    assert "PROBLEM, edges: e.csv, line 2 and line 3" in result.stdout
    assert "(--duplicates sum)" in result.stdout
    assert runner.invoke(app, [*arguments, "--duplicates", "max"]).exit_code == 0


def test_a_saved_graph_is_the_same_graph(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text("Source;Target;Weight\nu;v;0,5\nv;w;1\n")
    (tmp_path / "y.csv").write_text("u,red\nv,blue\n")
    files = ["--edges", "e.csv", "--labels", "y.csv"]
    assert runner.invoke(app, ["save", "graph", *files]).exit_code == 0
    assert "FileExistsError" in repr(runner.invoke(app, ["save", "graph", *files]).exception)
    saved = runner.invoke(app, ["describe", "--edges", "graph"])
    assert saved.exit_code == 0, saved.output
    assert saved.stdout.splitlines()[0] == "3 nodes, 2 edges, 2 labels, 2 classes"
    opened, read = Graph.open("graph"), read_graph("e.csv", labels="y.csv")
    np.testing.assert_array_equal(opened.adjacency.toarray(), read.adjacency.toarray())
    assert (opened.node_ids.tolist(), opened.labels.tolist()) == (read.node_ids.tolist(), read.labels.tolist())


def test_options_say_how_files_are_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.txt").write_text("u:v:1,5:9\nv:w:2,5:9\n")
    options = ["--separator", ":", "--no-header", "--decimal", ",", "--weight-column", "3", "--source-column", "1"]
    result = runner.invoke(app, ["describe", "--edges", "e.txt", *options])
    assert result.exit_code == 0, result.output
    assert "3 nodes, 2 edges, weights: column 3" in result.stdout


@pytest.mark.parametrize("arguments", [[], ["cora", "--edges", "e.csv"], ["cora", "--labels", "y.csv"]])
def test_describe_takes_a_name_or_files(arguments):
    assert runner.invoke(app, ["describe", *arguments]).exit_code == 2

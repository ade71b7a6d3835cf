"""`dfnets design` and `dfnets filter`, as a person calls them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from conftest import random_graph

import dfnets
from dfnets import cli


def run(*arguments: object, capsys, monkeypatch) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of the command line, in this process."""
    monkeypatch.setattr(sys, "argv", ["dfnets", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


@pytest.fixture
def dfnets_command(capsys, monkeypatch):
    return lambda *arguments: run(*arguments, capsys=capsys, monkeypatch=monkeypatch)


def test_design_prints_saves_and_plots(dfnets_command, tmp_path) -> None:
    status, out, _ = dfnets_command(
        "design",
        *("--response", "high-pass", "--cut", 0.5, "-p", 5, "-q", 3, "--gamma", 0.9, "--centre", 0),
        *("--method", "least-squares", "--constraint", "samples"),
        *("--save", tmp_path / "f.json", "--plot", tmp_path / "f.png"),
    )
    assert status == 0
    assert "-4.4521486" in out
    assert "largest |P|" in out
    f = dfnets.filters.load(tmp_path / "f.json")
    assert f.psi[0] == pytest.approx(-4.45214856)
    assert (tmp_path / "f.png").stat().st_size > 0


def test_design_from_drawn_points_on_an_interval(dfnets_command, tmp_path) -> None:
    arguments = ("design", "--response", "interpolated", "--interval", 0, 1.5, "--save", tmp_path / "f.json")
    status, _, _ = dfnets_command(*arguments, "--points", "0:1,0.5:0.75,1.5:0", "--method", "refit")
    assert status == 0
    wanted = dfnets.responses.interpolated([0, 0.5, 1.5], [1, 0.75, 0])
    f = dfnets.design(wanted, method="refit", interval=(0, 1.5))
    saved = dfnets.filters.load(tmp_path / "f.json")
    np.testing.assert_array_equal(saved.psi, f.psi)
    assert saved.target == wanted
    assert saved.interval == (0.0, 1.5)
    status, _, err = dfnets_command(*arguments, "--points", "0:1,half:0", "--force")
    assert status == 1
    assert "frequency:gain pairs" in err


def test_filter_applies_a_saved_filter(dfnets_command, tmp_path) -> None:
    graph = random_graph(50, 4, 0)
    sp.save_npz(tmp_path / "graph.npz", graph.adjacency)
    x = np.random.default_rng(0).standard_normal((50, 3))
    np.save(tmp_path / "x.npy", x)
    f = dfnets.design(dfnets.responses.low_pass(0.5))
    f.save(tmp_path / "f.json")
    status, out, err = dfnets_command(
        "filter", tmp_path / "graph.npz", tmp_path / "x.npy", "--filter", tmp_path / "f.json", "--tol", 1e-9
    )
    assert (status, err) == (0, "")
    assert "products" in out
    np.testing.assert_allclose(np.load(tmp_path / "x.filtered.npy"), f.apply(graph, x, tol=1e-9), atol=1e-12)


def test_a_graph_in_a_folder_is_filtered_from_file_to_file(dfnets_command, tmp_path) -> None:
    graph = random_graph(50, 4, 0)
    graph.save(tmp_path / "graph")
    x = np.random.default_rng(0).standard_normal((50, 3))
    np.save(tmp_path / "x.npy", x)
    f = dfnets.design(dfnets.responses.low_pass(0.5))
    f.save(tmp_path / "f.json")
    options = ("--filter", tmp_path / "f.json", "--tol", 1e-9)
    status, out, err = dfnets_command("filter", tmp_path / "graph", tmp_path / "x.npy", *options)
    assert (status, err) == (0, "")
    assert "nodes=50" in out
    np.testing.assert_allclose(np.load(tmp_path / "x.filtered.npy"), f.apply(graph, x, tol=1e-9), atol=1e-12)
    pandas.DataFrame({"id": range(50), "a": x[:, 0]}).to_csv(tmp_path / "s.csv", index=False)
    status, _, err = dfnets_command("filter", tmp_path / "graph", tmp_path / "s.csv", *options)
    assert (status, err) == (0, "")
    found = pandas.read_csv(tmp_path / "s.filtered.csv")["a"]
    np.testing.assert_allclose(found, f.apply(graph, x, tol=1e-9)[:, 0], atol=1e-12)


def test_filter_keeps_ids_whatever_the_order_of_the_files(dfnets_command, tmp_path) -> None:
    """Signals are known by id, in CSV as in .npy, where row k is node k and not the k-th that the edges name."""
    graph = random_graph(30, 4, 0)
    order = np.random.default_rng(1).permutation(30)
    x = np.random.default_rng(2).standard_normal((30, 2))
    f = dfnets.design(dfnets.responses.low_pass(0.5))
    f.save(tmp_path / "f.json")
    expected = f.apply(graph, x, tol=1e-9)
    ends = sp.triu(graph.adjacency, format="coo")
    listed = pandas.DataFrame({"Source": ends.row, "Target": ends.col, "Weight": ends.data})
    listed = listed.sample(frac=1, random_state=0)
    listed.to_csv(tmp_path / "e.csv", index=False)
    np.save(tmp_path / "x.npy", x)
    options = ("--filter", tmp_path / "f.json", "--tol", 1e-9)
    status, out, err = dfnets_command("filter", tmp_path / "e.csv", tmp_path / "x.npy", *options)
    assert (status, err) == (0, "")
    assert f"30 nodes, {graph.num_edges} edges, 2 features, weights: column Weight" in out
    np.testing.assert_allclose(np.load(tmp_path / "x.filtered.npy"), expected, atol=1e-12)
    names = np.array([f"n{k:02d}" for k in range(30)])
    named = listed.assign(Source=names[listed["Source"]], Target=names[listed["Target"]])
    named.to_csv(tmp_path / "named.csv", index=False, sep=";")
    pandas.DataFrame({"node": names, "a": x[:, 0], "b": x[:, 1]}).iloc[order].to_csv(tmp_path / "s.csv", index=False)
    status, _, err = dfnets_command("filter", tmp_path / "named.csv", tmp_path / "s.csv", *options)
    assert (status, err) == (0, "")
    found = pandas.read_csv(tmp_path / "s.filtered.csv").set_index("id").loc[names]
    np.testing.assert_allclose(found[["a", "b"]], expected, atol=1e-12)
    status, _, err = dfnets_command("filter", tmp_path / "named.csv", tmp_path / "x.npy", *options, "--force")
    assert status == 1
    assert "give a table with an id in each row" in err
    status, _, err = dfnets_command(
        "filter", tmp_path / "no.csv", tmp_path / "no.npy", "--filter", tmp_path / "no.json"
    )
    assert status == 1
    assert all(name in err for name in ("no.csv", "no.npy", "no.json"))
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("design --gamma 1.2", "gamma=1.2 must lie between 0 and 1"),
        ("design -p 0", "p=0 must be a whole number"),
        ("design --time 3", "--time does not belong to --response low-pass; it takes --cut"),
        ("design --response band-pass --low 1.5 --high 1", "low=1.5 must be less than high=1"),
        ("design --centre left", "centre='left'"),
        ("design --method magic", "method='magic' is not one of"),
    ],
)
def test_bad_input_ends_in_one_line(dfnets_command, arguments: str, message: str) -> None:
    status, _, err = dfnets_command(*arguments.split())
    assert status == 1
    assert err.startswith("error: ")
    assert message in err
    assert "Traceback" not in err


def test_a_damaged_signal_is_refused(dfnets_command, tmp_path) -> None:
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY garbage")
    dfnets.design(dfnets.responses.low_pass(0.5)).save(tmp_path / "f.json")
    sp.save_npz(tmp_path / "graph.npz", random_graph(5, 2, 0).adjacency)
    status, _, err = dfnets_command(
        "filter", tmp_path / "graph.npz", tmp_path / "x.npy", "--filter", tmp_path / "f.json"
    )
    assert status == 1
    assert "x.npy is not a plain .npy array" in err


def test_help_teaches(dfnets_command) -> None:
    status, out, _ = dfnets_command("design", "--help")
    assert status == 0
    assert "Example: dfnets design" in out
    assert "Cut-off frequency" in out


def test_import_is_quick() -> None:
    """Neither torch nor plotting is imported before it is needed."""
    code = "import sys, dfnets; print([m for m in ('torch', 'matplotlib', 'pandas', 'sklearn') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"

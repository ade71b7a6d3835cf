"""What is odd is told, each thing by a graph that has it, and nothing is told of a graph that is as it should be."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas
import pytest
from conftest import random_graph

from dfnets.datasets.check import check

N = 60


@pytest.fixture
def files(tmp_path):
    """A connected graph of 60 nodes in two classes, with ordinary features."""
    rng = np.random.default_rng(0)
    made = random_graph(N, 8, 0).to_networkx()
    made.add_edges_from((k, (k + 1) % N) for k in range(N))
    edges = [(f"n{a}", f"n{b}") for a, b in made.edges if a != b]
    labels = [(f"n{k}", "red" if k < N // 2 else "blue") for k in range(N)]
    features = rng.standard_normal((N, 4))

    def write(*, edges=edges, labels=labels, features=features, columns=None):
        with_weights = len(edges[0]) == 3 if edges else False
        names = ["source", "target", *(["weight"] if with_weights else [])]
        pandas.DataFrame(edges, columns=names).to_csv(tmp_path / "e.csv", index=False)
        pandas.DataFrame(labels, columns=["id", "label"]).to_csv(tmp_path / "y.csv", index=False)
        frame = pandas.DataFrame(features, columns=columns)
        frame.insert(0, "id", [f"n{k}" for k in range(N)])
        frame.to_csv(tmp_path / "x.csv", index=False)
        return [tmp_path / name for name in ("e.csv", "x.csv", "y.csv")]

    write.edges, write.labels, write.features = edges, labels, features
    return write


def homophilous(edges):
    """Only edges within a class, and one between."""
    same = [(a, b) for a, b in edges if (int(a[1:]) < N // 2) == (int(b[1:]) < N // 2)]
    return [*same, ("n0", f"n{N - 1}")]


def test_nothing_is_odd_about_an_ordinary_graph(files):
    report = check(*files(edges=homophilous(files.edges)))
    assert [finding.text for finding in report.findings] == []
    assert report.ok
    assert json.loads(json.dumps(report.to_json()))["summary"].startswith("60 nodes, ")


def odd_edges(edges):
    return {
        "loop": ([*edges, ("n3", "n3")], "1 edge from a node to itself"),
        "parts": (
            [e for e in edges if e != ("n0", f"n{N - 1}")],
            "it falls into 2 parts that no edge joins; the largest has 50%",
        ),
        "alone": ([e for e in edges if "n5" not in e], r"1 node without an edge \(n5\)"),
        "weights": ([(a, b, 1e-9 if k else 1) for k, (a, b) in enumerate(edges)], "weights go from 1e-09 to 1; "),
        "left out": ([*edges, ("n3", "n999")], r"1 edge left out: an end is not a row of x\.csv"),
    }


@pytest.mark.parametrize("case", ["loop", "parts", "alone", "weights", "left out"])
def test_odd_edges(files, case):
    edges, message = odd_edges(homophilous(files.edges))[case]
    report = check(*files(edges=edges))
    assert report.ok
    (finding,) = report.findings
    assert finding.severity == "odd"
    assert re.match(message, finding.text), finding.text


def test_hubs(tmp_path):
    """A star of 300 leaves on a long path."""
    edges = [(k, k + 1) for k in range(3000)] + [(5000, k) for k in range(0, 3000, 5)]
    pandas.DataFrame(edges, columns=["source", "target"]).to_csv(tmp_path / "e.csv", index=False)
    texts = [finding.text for finding in check(tmp_path / "e.csv").findings]
    assert texts == ["1 node with more than 100 times as many neighbours as others (5000)"]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (np.ones(N), "column odd has the same value in every row"),
        (1e5 * np.arange(N) ** 2, "column odd has values more than 1,000 times as large as most others"),
        (np.arange(N), "column odd has a different whole number in every row"),
        (np.repeat([7, 3], N // 2), "column odd has the label itself, in other words"),
    ],
)
def test_odd_features(files, column, message):
    paths = files(
        edges=homophilous(files.edges),
        features=np.column_stack([files.features, column]),
        columns=["a", "b", "c", "d", "odd"],
    )
    (finding,) = check(*paths).findings
    assert finding.text.startswith(message)


@pytest.mark.parametrize(
    ("change", "severity", "message"),
    [
        (lambda y: [*y[:-1], (y[-1][0], "green")], "odd", "1 class with one label (green)"),
        (
            lambda y: [*y[:-3], *((name, "green") for name, _ in y[-3:])],
            "odd",
            "1 class with fewer than 5 labels (green)",
        ),
        (lambda y: [(name, "red") for name, _ in y], "problem", "there is one class, 'red'"),
        (lambda y: [(name, "?") for name, _ in y], "problem", "there is no label"),
        (
            lambda y: [(name, k / 7) for k, (name, _) in enumerate(y)],
            "problem",
            "60 classes for 60 labels: are these amounts",
        ),
        (
            lambda y: [(name, c.title() if k % 3 else c) for k, (name, c) in enumerate(y)],
            "odd",
            "classes differ in their case",
        ),
        (
            lambda y: [(name, "red" if k % 31 else "blue") for k, (name, _) in enumerate(y)],
            "odd",
            "97% of the labels are 'red'",
        ),
    ],
)
def test_odd_labels(files, change, severity, message):
    report = check(*files(edges=homophilous(files.edges), labels=change(files.labels)))
    assert any(f.severity == severity and f.text.startswith(message) for f in report.findings), report.findings
    assert report.ok == (severity == "odd")


def test_classes_that_seek_each_other(files):
    edges = [(f"n{k}", f"n{(k + N // 2) % N}") for k in range(N // 2)] + [
        (f"n{k}", f"n{N // 2 + (7 * k + 3) % 30}") for k in range(30)
    ]
    texts = [finding.text for finding in check(*files(edges=edges)).findings]
    assert any(
        text.startswith("edges join nodes of one class less often (0%) than chance would (50%)") for text in texts
    )


def test_everything_that_is_wrong_is_told_at_once(files, tmp_path):
    edges, features, labels = files(edges=[*((a, b, 1) for a, b in homophilous(files.edges)), ("n1", "n0", 3)])
    report = check(edges, features, labels)
    assert not report.ok
    assert report.reading is not None
    assert "is listed with weights 1 and 3 (1 such pairs)" in report.findings[0].text
    features.write_text("id,a\nn0,1\nn0,2\n")
    labels.write_text("id,label\nn0,red\nn0,red\n")
    edges.write_text("source,target,weight\nn0,n1,1\n")
    report = check(edges, features, labels)
    assert report.reading is None
    assert [finding.severity for finding in report.findings] == ["problem"] * 2
    assert ["x.csv, line 3" in report.findings[0].text, "y.csv, line 3" in report.findings[1].text] == [True, True]
    (missing,) = check(tmp_path / "none.csv", tmp_path / "no.csv").findings
    assert "none.csv and " in missing.text

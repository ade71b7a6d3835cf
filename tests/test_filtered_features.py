"""Features filtered once and kept on disk: their values against a dense filter, their identity, and their refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_graph

from dfnets import Graph, Shift
from dfnets.filtered_features import FilteredFeatures
from dfnets.models.feature_kind import FeatureKind
from dfnets.nn.filter_bank import restart_filter

FILTERS = [restart_filter(0.1), restart_filter(1.0), restart_filter(0.4, high=True)]


def example(sparse: bool = False) -> Graph:
    rng = np.random.default_rng(0)
    x = rng.random((70, 6)) * (rng.random((70, 6)) < 0.4)
    return random_graph(70, 5, 0).with_(features=sp.csr_array(x) if sparse else x)


def exact(graph: Graph, scaling: str) -> np.ndarray:
    """(n, K, f)"""
    assert graph.features is not None
    x = graph.features.toarray() if sp.issparse(graph.features) else graph.features
    norms = {"none": np.ones(len(x)), "row": abs(x).sum(axis=1), "unit": np.linalg.norm(x, axis=1)}[scaling]
    x = x / np.where(norms > 0, norms, 1)[:, None]
    frequencies, vectors = np.linalg.eigh(Shift(graph, centre=0.0).tocsr().toarray())
    return np.stack([vectors @ (f.response(frequencies)[:, None] * (vectors.T @ x)) for f in FILTERS], axis=1)


@pytest.mark.parametrize("scaling", ["none", "row", "unit"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("memory", [1, 10**9])
def test_rows_are_those_of_the_filtered_features(tmp_path: Path, scaling: str, sparse: bool, memory: int) -> None:
    graph = example(sparse)
    graph.save(tmp_path / "graph")
    opened = Graph.open(tmp_path / "graph")
    made = FilteredFeatures.make(opened, FILTERS, tmp_path / "z", scaling=scaling, tol=1e-6, memory=memory)
    wanted = exact(graph, scaling)
    np.testing.assert_allclose(made.values.reshape(70, 3, 6), wanted, atol=1e-5)
    np.testing.assert_allclose(made.mean, wanted.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(made.variance, wanted.var(axis=0), atol=1e-5)
    nodes = np.array([60, 3, 3])
    rows = FilteredFeatures.open(tmp_path / "z", verify=True).rows(nodes, [FILTERS[2], FILTERS[0]], scaling)
    np.testing.assert_allclose(rows.at(np.arange(3)), wanted[nodes][:, [2, 0]], atol=1e-5)
    np.testing.assert_allclose(rows.moments()[0], wanted[:, [2, 0]].mean(axis=0), atol=1e-5)


def test_scaling_follows_the_kind_of_features(tmp_path: Path) -> None:
    made = FilteredFeatures.make(example(), FILTERS, tmp_path / "z")
    assert (made.kind, made.scaling) == (FeatureKind.PROFILE, "unit")
    signed = example().with_(features=np.random.default_rng(0).standard_normal((70, 2)))
    made = FilteredFeatures.make(signed, FILTERS, tmp_path / "z", force=True)
    assert (made.kind, made.scaling) == (FeatureKind.MEASURED, "none")


def test_dropped_entries_are_at_their_mean_and_the_others_keep_it(tmp_path: Path) -> None:
    rows = FilteredFeatures.make(example(), FILTERS, tmp_path / "z").rows(np.arange(70), FILTERS, "unit")
    found = rows.dropped(np.arange(70), np.arange(500), 0.5, 0.25)
    mean = rows.moments()[0].astype(np.float32)
    gone = found == mean
    assert gone[:, :, 0].mean() == pytest.approx(0.25, abs=0.01)
    whole = np.broadcast_to(rows.at(np.arange(70))[:, None], found.shape)
    np.testing.assert_allclose((found - mean)[~gone], (whole - mean)[~gone] / 0.75, rtol=1e-3, atol=1e-5)


def test_another_graph_is_refused_and_other_labels_are_not(tmp_path: Path) -> None:
    graph = example()
    made = FilteredFeatures.make(graph, FILTERS, tmp_path / "z")
    made.check(graph.with_(labels=np.zeros(70, np.int64), name="other"))
    with pytest.raises(ValueError, match="another graph or other features"):
        made.check(graph.with_(features=graph.features * 2))
    with pytest.raises(ValueError, match="another graph or other features"):
        made.check(random_graph(70, 5, 1).with_(features=graph.features))


def test_what_was_not_made_is_refused(tmp_path: Path) -> None:
    made = FilteredFeatures.make(example(), FILTERS, tmp_path / "z")
    with pytest.raises(ValueError, match="no features filtered by"):
        made.rows(np.arange(3), [restart_filter(0.3)], "unit")
    with pytest.raises(ValueError, match="scaled as 'unit'"):
        made.rows(np.arange(3), FILTERS, "none")
    with pytest.raises(ValueError, match="filters is empty"):
        FilteredFeatures.make(example(), [], tmp_path / "none")
    with pytest.raises(ValueError, match="no features to filter"):
        FilteredFeatures.make(random_graph(10, 3, 0), FILTERS, tmp_path / "none")
    with pytest.raises(FileExistsError):
        FilteredFeatures.make(example(), FILTERS, tmp_path / "z")


def test_damage_is_found(tmp_path: Path) -> None:
    FilteredFeatures.make(example(), FILTERS, tmp_path / "z")
    rows = tmp_path / "z" / "rows.npy"
    content = bytearray(rows.read_bytes())
    content[-1] ^= 1
    rows.write_bytes(content)
    FilteredFeatures.open(tmp_path / "z")
    with pytest.raises(ValueError, match=r"rows.npy is cut off or was changed"):
        FilteredFeatures.open(tmp_path / "z", verify=True)
    rows.write_bytes(content[:-9])
    with pytest.raises(ValueError, match=r"rows.npy is missing or damaged"):
        FilteredFeatures.open(tmp_path / "z")
    header = json.loads((tmp_path / "z" / "filtered.json").read_text())
    (tmp_path / "z" / "filtered.json").write_text(json.dumps(header | {"format": "?"}))
    with pytest.raises(ValueError, match="lacks the mark"):
        FilteredFeatures.open(tmp_path / "z")
    with pytest.raises(FileNotFoundError, match="holds no filtered features"):
        FilteredFeatures.open(tmp_path)

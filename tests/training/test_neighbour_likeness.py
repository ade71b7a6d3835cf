"""Assortativity against a loop over edges, and the band that it gives where labels are few."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from communities import communities, labelled

from dfnets import Graph, models
from dfnets.models.plus_config import DFNetPlusConfig
from dfnets.training.budget import make_plan
from dfnets.training.neighbour_likeness import feature_assortativity, settled_band

CONFIG = models.config("dfnet-plus")
assert isinstance(CONFIG, DFNetPlusConfig)


def by_loop(graph: Graph) -> float:
    """The correlation over both directions of every edge."""
    x = np.asarray(graph.features) / np.linalg.norm(graph.features, axis=1, keepdims=True)
    source, target = graph.adjacency.nonzero()
    mean = np.mean([x[i] for i in source], axis=0)
    together = np.mean([(x[i] - mean) @ (x[j] - mean) for i, j in zip(source, target, strict=True)])
    return float(together / np.mean([(x[i] - mean) @ (x[i] - mean) for i in source]))


@pytest.mark.parametrize("homophily", [0.0, 0.9])
@pytest.mark.parametrize("sparse", [True, False])
def test_assortativity_is_the_correlation_over_edges(homophily: float, sparse: bool) -> None:
    graph, _ = communities(homophily=homophily, separation=2.0)
    expected = by_loop(graph)
    if sparse:
        graph = graph.with_(features=sp.csr_array(graph.features))
    found, error = feature_assortativity(graph)
    assert found == pytest.approx(expected, abs=1e-9)
    assert 0 < error < 0.05
    assert (expected > 3 * error) == (homophily > 0.5)


def test_nothing_is_told_without_edges_or_common_features() -> None:
    graph, _ = communities()
    assert np.isnan(feature_assortativity(Graph(sp.csr_array(graph.adjacency.shape), features=graph.features))).all()
    assert np.isnan(feature_assortativity(graph.with_(features=sp.eye_array(240, format="csr")))).all()


@pytest.mark.parametrize(
    ("homophily", "per_class", "band"),
    [(0.9, 3, "low"), (0.0, 3, "all"), (0.9, 9, "low"), (0.0, 9, None), (0.9, 10, None), (0.0, 10, None)],
)
def test_features_choose_the_band_where_labels_are_too_few(homophily: float, per_class: int, band: str | None) -> None:
    """Three labels of each of three classes tell nothing at all, nine little, ten enough."""
    graph = labelled(*communities(n=3000, homophily=homophily, features=50), per_class)
    assert settled_band(graph, CONFIG) == band
    plan = make_plan(graph, "dfnet-plus", "quick", torch.device("cpu"))
    assert plan.overrides.get("band") == band


def test_a_band_that_is_given_and_features_that_tell_nothing_are_left_alone() -> None:
    graph = labelled(*communities(homophily=0.9), 3)
    assert settled_band(graph, CONFIG.model_copy(update={"band": "high"})) == "high"
    assert settled_band(graph.with_(features=sp.eye_array(240, format="csr")), CONFIG) is None
    assert "band" not in make_plan(graph, "dfnet-plus", "quick", torch.device("cpu"), band="high").overrides


def test_with_many_classes_the_labels_choose() -> None:
    graph = labelled(*communities(homophily=0.9, separation=2.0, classes=11), 2)
    assert settled_band(graph, CONFIG) is None

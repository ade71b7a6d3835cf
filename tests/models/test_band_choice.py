"""The choice of the band, and each of its thresholds from both sides."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from dfnets import Graph
from dfnets.models.band_choice import BandChoice, choose_band, decide, gram_matrices, trust_with_classes
from dfnets.nn import Features
from dfnets.nn.filter_bank import FilterBank, restart_filter
from dfnets.shift import Shift

BANDS = {"low": [0], "all": [1], "high": [1, 2]}


def ring(n: int = 40) -> Graph:
    """A ring of two halves, each of one class, with features that say little by themselves."""
    rng = np.random.default_rng(0)
    labels = np.arange(n) // (n // 2)
    edges = np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0)
    return Graph(edges, features=np.eye(2)[labels] + rng.normal(size=(n, 2)), labels=labels)


def bank(graph: Graph) -> FilterBank:
    return FilterBank([restart_filter(0.1), restart_filter(1.0), restart_filter(0.4, high=True)], Shift(graph))


def grams_of(graph: Graph) -> Callable[[np.ndarray], np.ndarray]:
    return partial(gram_matrices, Features(graph.features), bank(graph))


def test_neighbours_of_one_class_choose_the_low_band() -> None:
    graph = ring()
    assert graph.labels is not None
    choice = choose_band(grams_of(graph), BANDS, np.arange(40), graph.labels)
    assert choice.band == "low"
    assert choice.informative
    assert choice.accuracy == 35 / 40


def test_gram_matrices_are_those_of_the_filtered_rows() -> None:
    graph, nodes = ring(), np.array([3, 17, 30])
    s = np.eye(40) - Shift(graph, centre=0.0) @ np.eye(40)
    low = 0.1 * np.linalg.solve(np.eye(40) - 0.9 * s, graph.features)[nodes]
    expected = low @ low.T / np.trace(low @ low.T)
    np.testing.assert_allclose(gram_matrices(Features(graph.features), bank(graph), nodes)[0], expected, atol=1e-3)


@pytest.mark.parametrize(("gap", "band"), [(0.9, "low"), (1.1, "high")])
def test_another_band_must_be_better_by_a_standard_error(gap: float, band: str) -> None:
    spread = np.tile([-1.0, 1.0], 50)
    error = spread.std() / np.sqrt(len(spread))
    errors = {"low": np.full(100, 2.0), "high": 2.0 - gap * error - spread}
    assert decide(errors, 3.0, 0.5).band == band


def test_of_several_better_bands_the_best_is_taken() -> None:
    errors = {"low": np.full(9, 0.9), "all": np.full(9, 0.5), "high": np.full(9, 0.4)}
    assert decide(errors, 1.0, 0.5).band == "high"


@pytest.mark.parametrize(("share", "informative"), [(0.84, True), (0.86, False)])
def test_a_low_band_hardly_better_than_guessing_tells_nothing(share: float, informative: bool) -> None:
    choice = decide({"low": np.full(5, 2 * share)}, 2.0, 0.9)
    assert choice.error == pytest.approx(share)
    assert choice.informative is informative


@pytest.mark.parametrize(("accuracy", "trust"), [(0.3, 0.0), (0.5, 0.0), (0.575, 0.5), (0.65, 1.0), (0.9, 1.0)])
def test_predictions_that_are_wrong_half_of_the_time_are_no_targets(accuracy: float, trust: float) -> None:
    assert BandChoice("low", 0.5, accuracy).trust == pytest.approx(trust)


def test_with_many_classes_agreement_counts_less() -> None:
    assert [trust_with_classes(classes) for classes in (2, 10, 16, 25, 100)] == pytest.approx([1.0, 1.0, 0.6, 0.0, 0.0])


def test_single_labels_of_many_classes_leave_the_low_band() -> None:
    """A node whose class has no other labelled one is never told right, so that it must not speak for any band."""
    graph = ring(60)
    rng = np.random.default_rng(0)

    def looked_at(nodes: np.ndarray) -> np.ndarray:
        raise AssertionError(f"nothing can be left out of {len(nodes)} single labels")

    assert choose_band(looked_at, BANDS, np.arange(60), np.arange(60)).band == "low"
    # Twelve nodes of two classes among singles decide alone: features that are the class choose X as it is.
    labels = np.concatenate([np.arange(12) % 2, np.arange(2, 50)])
    told = graph.with_(features=np.eye(50)[labels] + 0.01 * rng.normal(size=(60, 50)))
    assert choose_band(grams_of(told), BANDS, np.arange(60), labels).band == "all"


def test_no_more_nodes_are_looked_at_than_needed() -> None:
    seen = []
    graph = ring(1200)

    def counted(nodes: np.ndarray) -> np.ndarray:
        seen.append(len(nodes))
        return grams_of(graph)(nodes)

    assert graph.labels is not None
    choose_band(counted, BANDS, np.arange(1200), graph.labels)
    assert seen == [500]

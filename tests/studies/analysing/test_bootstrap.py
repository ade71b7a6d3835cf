"""The bootstrap over nodes and seeds: against a slow one, and by how often its interval holds the truth."""

from __future__ import annotations

import numpy as np
import pytest

from dfnets.studies.analysing import bootstrap
from dfnets.studies.analysing.statistics import mean


def drawn(seed: int, runs: int = 6, nodes: int = 40) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return list(rng.choice([-100.0, 0.0, 100.0], p=[0.1, 0.7, 0.2], size=(runs, nodes)))


def slow(values: list[np.ndarray], same_nodes: bool, samples: int) -> np.ndarray:
    """Node by node."""
    rng, means = np.random.default_rng(9), []
    for _ in range(samples):
        runs = rng.integers(len(values), size=len(values))
        shared = rng.integers(len(values[0]), size=len(values[0]))
        picks = [values[r][shared if same_nodes else rng.integers(len(values[r]), size=len(values[r]))] for r in runs]
        means.append(np.mean([pick.mean() for pick in picks]))
    return np.array(means)


@pytest.mark.parametrize("same_nodes", [True, False])
def test_it_is_what_drawing_node_by_node_gives(same_nodes: bool) -> None:
    values = drawn(0)
    found = bootstrap.estimate(values, same_nodes=same_nodes, samples=20_000)
    samples = slow(values, same_nodes, 20_000)
    error = (found.high - found.low) / (2 * 1.959964)
    assert error == pytest.approx(samples.std(ddof=1), rel=0.03)
    assert found.mean == pytest.approx(np.mean([own.mean() for own in values]))
    assert abs(samples.mean() - found.mean) < 0.2 * error
    assert found.p == pytest.approx(2 * (1 - _normal(abs(found.mean) / error)), rel=1e-6)


def _normal(z: float) -> float:
    from math import erf, sqrt

    return (1 + erf(z / sqrt(2))) / 2


TRUTH = 100 * 0.8 * (0.12 - 0.10)


def simulated(rng: np.random.Generator, same_nodes: bool) -> list[np.ndarray]:
    """Differences of two models whose true mean over seeds and nodes is known.

    A node favours the one (12 of 100), the other (10) or neither; four runs in five show it.
    """
    favours = rng.choice([100.0, -100.0, 0.0], p=[0.12, 0.10, 0.78], size=(1 if same_nodes else 8, 300))
    return list(favours * (rng.uniform(size=(8, 300)) < 0.8))


@pytest.mark.parametrize("same_nodes", [True, False])
def test_its_interval_holds_the_truth_as_often_as_it_says(same_nodes: bool) -> None:
    rng = np.random.default_rng(1)
    inside, over_seeds = 0, 0
    for _ in range(300):
        values = simulated(rng, same_nodes)
        found = bootstrap.estimate(values, same_nodes=same_nodes, samples=400)
        alone = mean([float(own.mean()) for own in values])
        inside += found.low <= TRUTH <= found.high
        over_seeds += alone.low <= TRUTH <= alone.high
    assert 0.92 < inside / 300 < 0.99
    # Where the nodes are the same, an interval over seeds takes them for the whole population.
    assert (over_seeds / 300 < 0.7) == same_nodes


def test_equal_runs_vary_by_their_nodes_only() -> None:
    own = np.array([100.0] * 80 + [0.0] * 20)
    found = bootstrap.estimate([own] * 5, same_nodes=True, samples=4000)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * 100 * np.sqrt(0.8 * 0.2 / 100), rel=0.06)
    assert found.varies == "test nodes and seeds"
    nothing = bootstrap.estimate([np.zeros(10)] * 3, same_nodes=False)
    assert (nothing.low, nothing.high, nothing.p) == (0.0, 0.0, 1.0)

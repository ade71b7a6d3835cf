"""The plan: by sizes and device alone, more work for more effort, never more than is allowed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from dfnets import Graph
from dfnets.models.plus_ensemble import KINDS
from dfnets.training.budget import (
    EPOCHS,
    LOOKS,
    SECONDS,
    SMALL,
    SMALL_EPOCHS,
    WIDTHS,
    _small_seconds,
    make_plan,
    small_epochs,
)

CPU = torch.device("cpu")


def graph(n: int, features: int = 1500, labels: int = 20, classes: int = 7) -> Graph:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, n, (2, 3 * n))
    edges = sp.coo_array((np.ones(3 * n), ends), shape=(n, n)).tocsr()
    edges.setdiag(0)
    words = sp.random_array((n, features), density=0.01, rng=rng, format="csr")
    y = np.full(n, -1)
    y[: labels * classes] = np.repeat(np.arange(classes), labels)
    return Graph(((edges + edges.T) > 0).astype(float), features=words, labels=y)


@pytest.mark.parametrize("effort", ["quick", "default", "thorough"])
@pytest.mark.parametrize("n", [200, 3000, 20000])
def test_the_work_is_held(n: int, effort: str) -> None:
    plan = make_plan(graph(n, features=300), "dfnet-plus", effort, CPU)  # type: ignore[arg-type]
    assert plan.seconds <= SECONDS[effort] * max(1, n / SMALL)
    assert EPOCHS[effort][0] // 2 <= plan.epochs <= EPOCHS[effort][1]


def test_more_effort_is_more_work() -> None:
    plans = [make_plan(graph(3000), "dfnet-plus", effort, CPU) for effort in ("quick", "default", "thorough")]
    assert plans[0].seconds < plans[1].seconds < plans[2].seconds
    assert plans[0].networks < plans[2].networks


def test_few_labels_have_few_folds_and_more_networks_on_every_label() -> None:
    few, many = (make_plan(graph(3000, labels=k), "dfnet-plus", "default", CPU) for k in (2, 20))
    assert (few.folds, many.folds) == (2, 5)
    assert few.repeats >= 3
    assert few.whole >= 3


def test_what_a_person_gives_stays() -> None:
    plan = make_plan(graph(200, features=20), "dfnet-plus", "default", CPU, epochs=7, ramp=3)
    assert plan.epochs == 7
    assert "ramp" not in plan.overrides


def test_a_model_without_epochs_has_none() -> None:
    assert make_plan(graph(200, features=20), "lp", "default", CPU).epochs == 0


def test_a_hidden_layer_that_the_labels_will_ask_for_is_paid_for() -> None:
    """Where neighbours are of one class none is needed, where they tell nothing there will be one."""
    rng = np.random.default_rng(0)
    n, classes = 3000, 5
    labels = np.arange(n) % classes
    ends = rng.integers(0, n // classes, size=(2, 12 * n)) * classes
    own = rng.integers(0, classes, size=12 * n)
    alike = sp.coo_array((np.ones(12 * n), (ends[0] + own, ends[1] + own)), shape=(n, n))
    mixed = sp.coo_array((np.ones(12 * n), (ends[0] + own, ends[1] + rng.permutation(own))), shape=(n, n))
    words = sp.random_array((n, 300), density=0.02, rng=rng, format="csr")
    words = words + sp.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, 300)) * 0.3
    known = np.where(rng.random(n) < 0.1, labels, -1)
    plans = []
    for edges in (alike, mixed):
        joined = (edges + edges.T).tocsr()
        joined.setdiag(0)
        joined.eliminate_zeros()
        plans.append(
            make_plan(Graph(joined, features=words, labels=known), "dfnet-plus", "default", torch.device("cpu"))
        )
    assert "hidden" not in plans[0].overrides
    assert plans[1].overrides["hidden"] in WIDTHS
    per_step = [plan.seconds / (plan.networks * plan.epochs) for plan in plans]
    assert per_step[1] > 2 * per_step[0]


@pytest.mark.parametrize("allowed", [0.1, 10.0, 30.0, 3000.0])
def test_small_networks_keep_to_their_time_and_the_cheap_ones_come_first(allowed: float) -> None:
    data, (least, most) = graph(3000), SMALL_EPOCHS["default"]
    epochs = small_epochs(data, 7, allowed, least, most)
    assert all(least <= count <= most for count in epochs.values())
    costs = {kind: _small_seconds(data, kind) for kind in KINDS}
    spent = sum(7 * (count * costs[kind][0] + LOOKS * costs[kind][1]) for kind, count in epochs.items())
    assert spent <= allowed
    left_out = [costs[kind] for kind in KINDS if kind not in epochs]
    if epochs and left_out:
        assert max(costs[kind] for kind in epochs) <= min(left_out)
    assert (set(epochs) == set(KINDS)) == (allowed > 20)
    assert bool(epochs) == (allowed > 1)


def test_without_edges_only_the_network_that_reads_none_is_left() -> None:
    data = graph(300, features=20)
    bare = Graph(sp.csr_array((300, 300)), features=data.features, labels=data.labels)
    assert list(small_epochs(bare, 7, 1e6, 60, 200)) == ["alone"]

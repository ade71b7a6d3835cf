"""A small network by itself says what the same network says within DFNetPlus."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from dfnets import Graph, fit, models, training
from dfnets.datasets.splits import Split
from dfnets.models import DFNetPlus, Sizes
from dfnets.models.plus_ensemble import KINDS
from dfnets.models.plus_members import STANDARDISED
from dfnets.models.small_network import SmallNetwork
from dfnets.nn.batched import generators

CPU = torch.device("cpu")
N, CLASSES = 60, 3


def graph(*, words: bool) -> Graph:
    rng = np.random.default_rng(0)
    joined = np.triu(rng.random((N, N)) < 0.15, 1).astype(float)
    x = rng.standard_normal((N, 20))
    features = sp.csr_array(np.where(x > 1.6, 1.0, 0.0)) if words else x
    return Graph(joined + joined.T, features=features, labels=np.arange(N) % CLASSES, name="small")


def network(name: str, **settings: object) -> SmallNetwork:
    made = SmallNetwork(models.config("small-network", name, **settings), Sizes(20, CLASSES, N), replicas=2)
    made.reset_parameters(generators(range(2)))
    made.use_streams(generators(range(2)))
    return made


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize("place", range(len(KINDS)))
def test_it_says_what_it_says_within_the_ensemble(place: int, words: bool) -> None:
    data, name = graph(words=words), list(KINDS)[place]
    alone = network(name)
    inputs = alone.prepare(data, CPU)
    whole = DFNetPlus(models.config("dfnet-plus"), Sizes(20, CLASSES, N), replicas=2)
    read = whole.prepare(data, CPU)
    member, own = whole._with_inputs(read)[place]
    labels = [(np.arange(30), data.labels[:30])] * 2  # type: ignore[index]
    alone.begin(inputs, labels)
    member.load_state_dict(alone.network.state_dict())
    assert member.config.l2 == alone.network.config.l2
    assert member.config.class_weights == alone.config.class_weights == KINDS[name].class_weights
    torch.testing.assert_close(alone.eval()(inputs), member.eval()(own), rtol=0, atol=0)


def test_its_penalty_is_that_of_its_kind_unless_it_is_given() -> None:
    data = graph(words=False)
    labels = [(np.arange(30), data.labels[:30])] * 2  # type: ignore[index]
    for given, expected in ((None, KINDS["looped"].l2), (0.5, 0.5), (0.0, 0.0)):
        made = network("looped", l2=given)
        made.begin(made.prepare(data, CPU), labels)
        torch.testing.assert_close(made.network._penalty, torch.full((2,), STANDARDISED * expected))


def test_other_graphs_are_scaled_as_the_one_it_was_trained_on() -> None:
    made = network("alone")
    made.prepare(graph(words=True), CPU)
    inputs = made.prepare(graph(words=False), CPU)
    assert not inputs.standardise
    lengths = np.linalg.norm(np.asarray(inputs.features.source), axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-5)


@pytest.mark.usefixtures("one_thread")
def test_with_validation_nodes_its_temperature_is_fitted_before_an_epoch_is_judged(tmp_path: Path) -> None:
    data = graph(words=False)
    split = Split(np.arange(24), np.arange(24, 42), np.arange(42, 60), "made")
    result = fit("small-network", data, protocol=split, replicas=2, epochs=30, progress=False, device="cpu")
    # Random labels: without a temperature the loss would rise above that of guessing.
    assert result.history.validation_loss.min() < np.log(CLASSES) + 0.1
    result.save(tmp_path / "model")
    again = training.load(tmp_path / "model").predict(data, device="cpu")
    assert np.array_equal(again.per_replica, result.predict().per_replica)

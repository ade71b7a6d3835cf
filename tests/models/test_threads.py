"""Weights do not depend on the number of threads, whatever the model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from conftest import random_graph

from dfnets import models
from dfnets.engine import threads
from dfnets.training.fitting import make_trainer
from dfnets.training.objective import Nodes

N = 1200
TRAINED = [name for name in models.names() if models.config(name).epochs > 0]


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("exact_products")
@pytest.mark.parametrize("name", TRAINED)
def test_weights_have_the_same_bits_for_1_2_and_4_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "WORTH_WAKING", 10_000)
    monkeypatch.setattr(threads, "PIECE", 5_000)
    rng = np.random.default_rng(0)
    features = sp.random_array((N, 60), density=0.1, rng=rng, format="csr", dtype=np.float32)
    graph = random_graph(N, 6.0, seed=1).with_(features=features, labels=rng.integers(0, 5, N))
    nodes = Nodes(np.arange(140), np.arange(140, 300), np.arange(300, 500))
    runs = []
    for count in (1, 2, 4):
        torch.set_num_threads(count)
        monkeypatch.setattr(threads, "count", lambda count=count: count)
        trainer, _ = make_trainer(name, models.config(name), graph, [nodes], [0], "cpu")
        for _ in range(2):
            trainer.step()
        runs.append(trainer.model.state_dict())
    for other in runs[1:]:
        assert [key for key, value in runs[0].items() if not torch.equal(value, other[key])] == []

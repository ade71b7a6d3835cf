"""Every spectral baseline, trained: a replica among ten is a single run with its seed, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from spectral import small_graph

import dfnets
from dfnets import models
from dfnets.datasets.splits import Split
from dfnets.models.spectral import Spectral

NAMES = [name for name in models.names() if issubclass(models.get(name), Spectral)]


@pytest.mark.usefixtures("one_thread", "exact_replicas")
@pytest.mark.parametrize("name", NAMES)
def test_a_replica_is_a_single_run(name: str) -> None:
    graph = small_graph()
    parts = np.split(np.arange(24), [9, 16])
    options = {"protocol": Split(*parts, "parts", 0, labels=graph.labels), "epochs": 3, "progress": False}
    options |= {"depth": 3} if "depth" in models.get(name).Config.model_fields else {}
    together = dfnets.fit(name, graph, replicas=10, **options).history
    alone = dfnets.fit(name, graph, replicas=1, seed=7, **options).history
    np.testing.assert_array_equal(together.loss[:, 7], alone.loss[:, 0])
    np.testing.assert_array_equal(together.validation_loss[:, 7], alone.validation_loss[:, 0])


@pytest.mark.parametrize("name", [*NAMES, "feedback-looped"])
def test_its_space_names_settings_and_every_preset_holds(name: str) -> None:
    kind = models.get(name)
    assert set(kind.space) <= set(kind.Config.model_fields)
    for preset in models.presets(name):
        models.config(name, preset)

"""The feedback-looped layer without dense connections."""

from __future__ import annotations

import pytest
from spectral import CLASSES, FEATURES, small_graph

from dfnets import models
from dfnets.models import Sizes


@pytest.mark.parametrize("preset", models.presets("feedback-looped"))
def test_is_dfnet_without_dense_connections(preset: str) -> None:
    config = models.config("feedback-looped", preset, units=(4, 5))
    assert not config.dense
    # What a search found is of either model alone.
    if preset in models.presets("dfnet") and preset != models.DEFAULT and not preset.startswith("tuned"):
        assert config == models.config("dfnet", preset, units=(4, 5), dense=False)
    kind = models.get("feedback-looped")
    model = kind(config, Sizes(FEATURES, CLASSES, 24), filter=kind.design(config, small_graph()))
    assert [layer.conv.in_channels for layer in model.block.layers] == [FEATURES, 4]

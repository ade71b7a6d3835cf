"""The graphs of the studio: whole, connected, with a place and a value for each node."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from dfnets.studio import scenes


@pytest.mark.parametrize("name", scenes.SCENES)
def test_every_node_has_a_place_a_value_and_a_neighbour(name: str) -> None:
    scene = scenes.SCENES[name]()
    n = scene.graph.num_nodes
    assert scene.coordinates.shape == (n, 2)
    assert scene.signal.shape == (n,)
    _, part = connected_components(scene.graph.adjacency)
    assert np.bincount(part).max() > 0.98 * n
    content = scene.content()
    assert len(content["links"]) == 2 * scene.graph.num_edges
    assert sum(content["density"]) == pytest.approx(1, abs=1e-3)


def test_roads_do_not_cross_the_circle_of_a_third_place() -> None:
    scene = scenes.roads(n=60)
    rows, columns = scene.graph.adjacency.nonzero()
    for a, b in zip(rows, columns, strict=True):
        middle = (scene.coordinates[a] + scene.coordinates[b]) / 2
        radius = np.linalg.norm(scene.coordinates[a] - middle)
        others = np.delete(scene.coordinates, [a, b], axis=0)
        assert np.linalg.norm(others - middle, axis=1).min() >= radius * (1 - 1e-6)


def test_noise_is_of_the_size_that_is_said() -> None:
    scene = scenes.sensors()
    assert (scene.noisy(0.5) - scene.signal).std() == pytest.approx(0.5 * scene.signal.std(), rel=0.1)
    np.testing.assert_array_equal(scene.noisy(0.0), scene.signal)


def test_a_large_graph_is_drawn_in_part() -> None:
    scene = scenes.sensors(n=scenes.MOST_DRAWN + 1000)
    content = scene.content()
    assert len(content["places"][0]) == scenes.MOST_DRAWN
    assert max(content["links"]) < scenes.MOST_DRAWN

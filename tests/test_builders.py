"""Graphs built from sizes and from points, against what each one is by definition."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

from dfnets import Graph, Shift, builders


def test_path_and_ring_have_the_eigenvalues_of_the_cosine_transform() -> None:
    # The shift of a ring is circulant: 1 - (1 + 2 cos(2 pi k / n)) / 3.
    values = np.linalg.eigvalsh(Shift(builders.ring(12), centre=0.0).tocsr().toarray())
    expected = np.sort(1 - (1 + 2 * np.cos(2 * np.pi * np.arange(12) / 12)) / 3)
    np.testing.assert_allclose(values, expected, atol=1e-12)
    np.testing.assert_array_equal(builders.path(5).adjacency.toarray(), np.eye(5, k=1) + np.eye(5, k=-1))
    assert builders.path(1).num_edges == 0


def test_grid_is_the_lattice_and_the_image() -> None:
    graph = builders.grid(3, 4)
    expected = networkx.to_numpy_array(networkx.grid_2d_graph(3, 4))
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)
    np.testing.assert_array_equal(graph.coordinates[5], [1, -1])
    assert builders.grid(3).num_nodes == 9


def test_radius_joins_exactly_the_near_pairs() -> None:
    points = np.random.default_rng(0).random((40, 2))
    graph = builders.radius(points, 0.3)
    distances = np.linalg.norm(points[:, None] - points, axis=-1)
    near = (distances <= 0.3) & ~np.eye(40, dtype=bool)
    np.testing.assert_allclose(graph.adjacency.toarray(), np.where(near, np.exp(-2 * (distances / 0.3) ** 2), 0))
    np.testing.assert_array_equal(graph.coordinates, points)
    assert builders.radius(points[:, :1], 0.3).coordinates is None
    assert builders.radius(points, 1e-9).num_edges == 0


def test_nearest_neighbours_have_at_least_k() -> None:
    points = np.random.default_rng(1).random((50, 3))
    graph = builders.nearest_neighbours(points, 4)
    assert (np.diff(graph.adjacency.indptr) >= 4).all()
    assert graph.features is None
    np.testing.assert_array_equal(graph.coordinates, points[:, :2])


def test_sensors_are_the_same_for_the_same_seed() -> None:
    first, again, other = (builders.sensor(70, seed=seed) for seed in (3, 3, 4))
    assert first.num_nodes == 70
    assert ((first.coordinates > 0) & (first.coordinates < 1)).all()
    np.testing.assert_array_equal(first.coordinates, again.coordinates)
    assert (first.coordinates != other.coordinates).any()
    assert builders.sensor(2).num_edges == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: builders.path(0), "n=0 must be a whole number of at least 1"),
        (lambda: builders.ring(2), "n=2"),
        (lambda: builders.grid(2.5), "rows=2.5"),
        (lambda: builders.sensor(1), "n=1"),
        (lambda: builders.radius([[0.0, np.nan]], 1.0), "finite"),
        (lambda: builders.radius([[0.0, 1.0]], 0.0), "r=0.0"),
        (lambda: builders.nearest_neighbours([[0.0], [1.0]], 5), "k=5"),
        (lambda: Graph(np.zeros((2, 2)), coordinates=np.zeros((3, 2))), r"coordinates has shape \(3, 2\)"),
    ],
)
def test_bad_arguments_are_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()

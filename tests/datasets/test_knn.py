import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from dfnets.datasets import neighbours
from dfnets.datasets.digits import digits


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n - 1))), st.integers(0, 100))
def test_against_all_distances(sizes, seed):
    n, k = sizes
    X = np.random.default_rng(seed).standard_normal((n, 3))
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(distances, np.inf)
    nearest = distances <= np.sort(distances, axis=1)[:, k - 1, None]
    expected = nearest | nearest.T
    np.testing.assert_array_equal(neighbours(X, k).adjacency.toarray(), expected)
    weighted = neighbours(sp.csr_array(X), k, weights="gaussian").adjacency.toarray()
    scale = np.sort(distances, axis=1)[:, k - 1].mean()
    np.testing.assert_allclose(weighted, np.where(expected, np.exp(-(distances**2) / (2 * scale**2)), 0), rtol=1e-6)


def test_points_in_one_place():
    graph = neighbours(np.ones((4, 2)), 2, weights="gaussian", name="same")
    assert graph.name == "same"
    assert set(graph.adjacency.data) == {1.0}
    np.testing.assert_array_equal(graph.features, np.ones((4, 2)))


def test_bad_arguments():
    with pytest.raises(ValueError, match="k=4: with 4 points it is from 1 to 3"):
        neighbours(np.ones((4, 2)), 4)
    with pytest.raises(ValueError, match="weights='heat' is not one of 'one', 'gaussian'"):
        neighbours(np.ones((4, 2)), 2, weights="heat")


def test_digits_are_a_real_dataset_without_a_network():
    graph = digits()
    assert (graph.num_nodes, graph.num_classes, graph.features.shape[1]) == (1797, 10, 64)
    assert graph.adjacency.diagonal().sum() == 0
    assert np.diff(graph.adjacency.indptr).min() >= 10
    assert graph.label_names == tuple("0123456789")


@pytest.mark.parametrize("k", [1, 3, 7])
def test_of_equally_near_points_the_first_are_taken_by_any_number_of_threads(k: int) -> None:
    # Points of a small grid, some of them twice: nearly all distances are tied.
    points = np.random.default_rng(0).integers(0, 4, size=(60, 2)).astype(float)
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    expected = np.zeros((60, 60))
    for i in range(60):
        others = [j for j in range(60) if j != i]
        for j in sorted(others, key=lambda j: (squared[i, j], j))[:k]:
            expected[i, j] = expected[j, i] = 1
    for threads in (1, 2):
        with threadpool_limits(threads):
            assert np.array_equal(neighbours(points, k).adjacency.toarray(), expected)

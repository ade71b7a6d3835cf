"""The shift against dense matrices, and its interval against true spectra."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse.linalg
from conftest import random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from dfnets import Graph, Shift


def dense_laplacian(graph: Graph) -> np.ndarray:
    weights = graph.adjacency.toarray() + np.eye(graph.num_nodes)
    degrees = weights.sum(axis=1)
    return np.eye(graph.num_nodes) - weights / np.sqrt(np.outer(degrees, degrees))


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 30), degree=st.floats(0, 8), seed=st.integers(0, 10**6), centre=st.floats(-1, 3))
def test_it_is_the_operator_of_the_paper(n: int, degree: float, seed: int, centre: float) -> None:
    graph = random_graph(n, degree, seed)
    shift = Shift(graph, centre=centre)
    expected = dense_laplacian(graph) - centre * np.eye(n)
    np.testing.assert_allclose(shift.tocsr().toarray(), expected, atol=1e-13)
    x = np.random.default_rng(seed).standard_normal((n, 3))
    np.testing.assert_allclose(shift @ x, expected @ x, atol=1e-12)
    np.testing.assert_allclose(shift @ x[:, 0], expected @ x[:, 0], atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 30), degree=st.floats(0, 8), seed=st.integers(0, 10**6), loops=st.booleans())
def test_every_interval_holds_the_spectrum(n: int, degree: float, seed: int, loops: bool) -> None:
    graph = random_graph(n, degree, seed)
    if loops:
        adjacency = graph.adjacency + np.diag(np.random.default_rng(seed).uniform(0, 3, n))
        graph = Graph(np.asarray(adjacency))
    values = np.linalg.eigvalsh(dense_laplacian(graph))
    for lmax in ("bound", "lanczos"):
        low, high = Shift(graph, lmax=lmax).interval
        assert low - 1e-12 <= values.min()
        assert values.max() <= high + 1e-12


def test_the_bound_is_attained() -> None:
    # Two nodes: d_max = 2, and L^ has the eigenvalues 0 and 1 = 2 - 2 / 2.
    assert Shift(Graph(np.array([[0, 1], [1, 0]]))).interval == (0.0, 1.0)


def test_cora_and_citeseer(cora, citeseer) -> None:
    for graph, published in ((cora, 1.4826), (citeseer, 1.5022)):
        matrix = Shift(graph, centre=0.0).tocsr()
        top = scipy.sparse.linalg.eigsh(matrix, k=1, which="LA", tol=1e-10, return_eigenvectors=False)[0]
        assert top == pytest.approx(published, abs=1e-4)
        proved, likely = Shift(graph), Shift(graph, lmax="lanczos")
        assert top <= likely.interval[1] < proved.interval[1] < 2
        assert likely.interval[1] <= 1.03 * top
        assert likely.certainty == "with probability 1 - 1e-10"
        assert proved.certainty == "proved"
        assert likely.centre == likely.interval[1] / 2


def test_lanczos_never_exceeds_the_proved_bound() -> None:
    graph = random_graph(400, 3, 0)
    shift = Shift(graph, lmax="lanczos", steps=2)
    assert shift.interval == Shift(graph).interval
    assert shift.certainty == "proved"


def test_a_given_lmax(cora) -> None:
    assert Shift(cora, lmax=2.0).certainty == "proved"
    assert Shift(cora, lmax=1.49).certainty == "given"
    with pytest.raises(ValueError, match=r"lmax=1\.2, but this graph has a frequency of at least 1\.4"):
        Shift(cora, lmax=1.2)


def test_recentring_shares_the_arrays(cora) -> None:
    shift = Shift(cora)
    other = shift.recentred(0.3)
    assert other.values is shift.values
    assert shift.indices is cora.adjacency.indices
    assert (other.centre, shift.centre) == (0.3, shift.interval[1] / 2)
    assert other.radius == shift.interval[1] - 0.3


def test_isolated_nodes_have_frequency_zero() -> None:
    shift = Shift(Graph(np.zeros((4, 4))), centre=0.0)
    assert shift.interval == (0.0, 0.0)
    np.testing.assert_array_equal(shift @ np.ones(4), 0)


def test_density_of_a_small_graph_is_its_spectrum() -> None:
    graph = random_graph(40, 4, 1)
    frequencies, weights = Shift(graph).density(probes=100, steps=40)
    assert weights.sum() == pytest.approx(1)
    values = np.linalg.eigvalsh(dense_laplacian(graph))
    assert frequencies.min() == pytest.approx(values.min(), abs=1e-8)
    assert frequencies.max() == pytest.approx(values.max(), abs=1e-8)
    for power in (1, 2, 3):
        assert weights @ frequencies**power == pytest.approx(np.mean(values**power), rel=0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lmax": 2.5}, "between 0 and 2"),
        ({"lmax": "ritz"}, "lmax='ritz': it takes 'bound' or 'lanczos'"),
        ({"lmax": np.nan}, "lmax=nan"),
        ({"centre": "left"}, "centre='left'"),
        ({"centre": np.inf}, "centre=inf"),
        ({"lmax": "lanczos", "failure": 0.0}, "failure=0.0"),
        ({"lmax": "lanczos", "steps": 1}, "steps=1"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Shift(random_graph(20, 3, 0), **arguments)


def test_repr(cora) -> None:
    assert repr(Shift(cora)) == "Shift(nodes=2708, centre=0.994083, interval=[0, 1.98817], proved)"

"""Signals on graphs, and where nodes are put that have no place."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import dfnets
from dfnets import builders, plots


def test_dots_lie_at_the_coordinates_and_have_the_values(tmp_path) -> None:
    graph = builders.grid(4, 5)
    signal = np.arange(20.0)
    figure = graph.plot(np.stack([signal, -signal], axis=1), tmp_path / "g.png", titles=["up", "down"])
    assert (tmp_path / "g.png").stat().st_size > 5000
    assert [axes.get_title() for axes in figure.axes[:2]] == ["up", "down"]
    edges, dots = figure.axes[1].collections
    np.testing.assert_array_equal(dots.get_offsets(), graph.coordinates)
    np.testing.assert_array_equal(dots.get_array(), -signal)
    # One scale for both, so that colours can be compared.
    assert dots.get_clim() == (-19, 19)
    assert len(edges.get_segments()) == graph.num_edges


def test_a_graph_without_a_signal_and_without_coordinates() -> None:
    graph = dfnets.Graph(sp.csr_array(np.ones((5, 5)) - np.eye(5)))
    assert len(graph.plot().axes) == 1


def test_the_layout_of_a_path_is_its_order() -> None:
    path = builders.path(30).with_(coordinates=None)
    order = np.argsort(plots.layout(path)[:, 0])
    assert order.tolist() in (list(range(30)), list(range(29, -1, -1)))


def test_the_layout_separates_two_blocks_and_keeps_small_parts_aside() -> None:
    rng = np.random.default_rng(0)
    dense = (rng.random((40, 40)) < np.kron(np.array([[0.6, 0.02], [0.02, 0.6]]), np.ones((20, 20)))).astype(float)
    dense = np.triu(dense, 1)
    whole = np.zeros((43, 43))
    whole[:40, :40] = dense + dense.T
    whole[41, 42] = whole[42, 41] = 1
    places = plots.layout(dfnets.Graph(whole))
    side = np.sign(places[:40, 0])
    assert abs(side[:20].sum()) == 20
    assert side[:20].sum() == -side[20:].sum()
    assert (places[40:, 0] > 1).all()
    assert np.isfinite(places).all()


def test_wrong_shapes_are_named() -> None:
    graph = builders.path(4)
    with pytest.raises(ValueError, match="3 values, but the graph has 4"):
        graph.plot(np.ones(3))
    with pytest.raises(ValueError, match="coordinates has shape"):
        plots.signal_figure(graph, np.ones(4), coordinates=np.ones((3, 2)))

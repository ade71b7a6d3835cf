"""Figures: that they show what they say, as far as a program can see it."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_graph

import dfnets
from dfnets import responses

GRAPH = random_graph(80, 4, 0)


def labels(axes) -> set[str]:
    return {text.get_text() for text in axes.get_legend().get_texts()}


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_a_file_is_written(tmp_path, ending: str) -> None:
    path = tmp_path / f"f.{ending}"
    dfnets.design(responses.low_pass(0.5)).plot(path, graph=GRAPH)
    assert path.stat().st_size > 5000


def test_the_four_panels_of_a_feedback_looped_filter() -> None:
    f = dfnets.design(responses.low_pass(0.5), gamma=0.9)
    figure = f.plot(graph=GRAPH)
    panels = {axes.get_title(): axes for axes in figure.axes if axes.get_title()}
    assert set(panels) == {"response", "feedback", "poles", "convergence of the recursion"}
    assert labels(panels["response"]) == {"density of the graph's spectrum", "wanted: low_pass(cut=0.5)", "realised"}
    assert "gamma = 0.9" in labels(panels["feedback"])
    realised = next(line for line in panels["response"].lines if line.get_label() == "realised")
    np.testing.assert_allclose(realised.get_ydata(), f.response(realised.get_xdata()))
    lines = {line.get_label(): line.get_ydata() for line in panels["convergence of the recursion"].lines}
    assert (np.asarray(lines["measured"]) <= lines["predicted, at most"] + 1e-11).all()


def test_without_a_graph_only_the_prediction_is_drawn() -> None:
    panels = {axes.get_title(): axes for axes in dfnets.design(responses.low_pass(0.5)).plot().axes}
    assert labels(panels["convergence of the recursion"]) == {"predicted, at most"}


def test_a_filter_that_diverges_says_so() -> None:
    figure = dfnets.design(responses.high_pass(0.5), convention="published").plot()
    axes = next(a for a in figure.axes if a.get_title().startswith("convergence"))
    assert axes.texts[0].get_text() == "diverges: a pole in the interval"


def test_peers_have_one_panel() -> None:
    figure = dfnets.ChebyshevFilter.fit(responses.heat(2.0), 8).plot(graph=GRAPH)
    assert [axes.get_title() for axes in figure.axes if axes.get_title()] == ["response"]

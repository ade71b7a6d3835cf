"""Figures: that they show what they say, as far as a program can see it."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_graph

import dfnets
from dfnets import responses

RESPONSE = "Response: what is wanted and what is realised"
FEEDBACK = "Feedback: below 1 everywhere, the loop converges"
POLES = "Poles: none may touch the interval"
CONVERGENCE = "Error of the recursion, iteration by iteration"
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
    assert set(panels) == {RESPONSE, FEEDBACK, POLES, CONVERGENCE}
    assert labels(panels[RESPONSE]) == {
        "density of the graph's spectrum",
        "wanted: low_pass(cut=0.5)",
        "realised",
        "transition band: errors there do not count",
    }
    assert "gamma = 0.9" in labels(panels[FEEDBACK])
    realised = next(line for line in panels[RESPONSE].lines if line.get_label() == "realised")
    np.testing.assert_allclose(realised.get_ydata(), f.response(realised.get_xdata()))
    lines = {line.get_label(): line.get_ydata() for line in panels[CONVERGENCE].lines}
    assert (np.asarray(lines["measured"]) <= lines["proved: at most this"] + 1e-11).all()


def test_without_a_graph_only_the_prediction_is_drawn() -> None:
    panels = {axes.get_title(): axes for axes in dfnets.design(responses.low_pass(0.5)).plot().axes}
    assert labels(panels[CONVERGENCE]) == {"proved: at most this"}


def test_a_filter_that_diverges_says_so() -> None:
    figure = dfnets.design(responses.high_pass(0.5), convention="published").plot()
    axes = next(a for a in figure.axes if a.get_title() == CONVERGENCE)
    assert axes.texts[0].get_text() == "diverges: a pole in the interval"


def test_peers_have_one_panel() -> None:
    figure = dfnets.ChebyshevFilter.fit(responses.heat(2.0), 8).plot(graph=GRAPH)
    assert [axes.get_title() for axes in figure.axes if axes.get_title()] == [RESPONSE]


def test_no_line_is_drawn_across_a_pole() -> None:
    f = dfnets.FeedbackLoopedFilter([-2.1], [1.0], 0.0)  # 1 - P = 1 - 2.1 f: a pole at 1 / 2.1
    figure = f.plot()
    line = next(line for line in figure.axes[0].lines if line.get_label() == "realised")
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    gaps = np.flatnonzero(np.isnan(y))
    assert len(gaps) == 1
    assert x[gaps[0]] <= 1 / 2.1 <= x[gaps[0] + 1]

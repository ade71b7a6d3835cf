"""Training curves, confusion and embedding: that they show the numbers they are given."""

from __future__ import annotations

import numpy as np
import pytest

import dfnets
from dfnets import plots


@pytest.fixture(scope="module")
def result():
    graph = dfnets.datasets.load("digits")
    return dfnets.fit("mlp", graph, protocol="random", replicas=2, epochs=4, progress=False)


def test_the_curves_are_the_history(result, tmp_path) -> None:
    figure = result.plot(tmp_path / "r.svg")
    loss, accuracy = figure.axes
    lines = {line.get_label(): line.get_ydata() for line in accuracy.lines}
    np.testing.assert_allclose(lines["test"], result.history.test.mean(axis=1))
    np.testing.assert_allclose(lines["validation"], result.history.validation.mean(axis=1))
    assert {line.get_label() for line in loss.lines} >= {"training", "validation"}
    assert (tmp_path / "r.svg").stat().st_size > 5000


def test_confusion_counts(result) -> None:
    figure = plots.confusion_figure([0, 0, 1, 1, -1], [0, 1, 1, 1, 0], ["cat", "dog"])
    axes = figure.axes[0]
    shown = {text.get_position(): text.get_text() for text in axes.texts}
    assert shown == {(0, 0): "1", (1, 0): "1", (1, 1): "2"}
    assert "75.0 % of 4 right" in axes.get_title()
    accuracy = result.accuracy().values[0]
    assert f"{accuracy:.1f} %" in result.plot_confusion().axes[0].get_title()


def test_an_embedding_has_one_group_per_class() -> None:
    points = np.random.default_rng(0).standard_normal((40, 5))
    labels = np.repeat([-1, 0, 1, 2], 10)
    axes = plots.embedding_figure(points, labels, ["a", "b", "c"]).axes[0]
    names = [group.get_label() for group in axes.collections]
    assert names == ["unknown", "a", "b", "c"]
    assert all(len(group.get_offsets()) == 10 for group in axes.collections)
    with pytest.raises(ValueError, match="one row and one label per node"):
        plots.embedding_figure(points, labels[:5])


def test_a_notebook_shows_the_accuracy(result) -> None:
    assert f"{result.accuracy().mean:.1f}" in result._repr_html_()

"""Training and its outcome: curves over the epochs, what is confused with what, nodes in two dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dfnets.plots.style import BLUE, GREEN, GREY, ORANGE, Place, finished, legend_below, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dfnets.training import Result

# The first ten are apart for every kind of colour vision (Petroff, 2021); classes beyond them share colours, not marks.
CLASS_COLOURS = (
    "#3f90da",
    "#ffa90e",
    "#bd1f01",
    "#94a4a2",
    "#832db6",
    "#a96b59",
    "#e76300",
    "#b9ac70",
    "#717581",
    "#92dadd",
)
MARKS = "osD^v<>P*X"


def training_figure(result: Result, path: Place = None) -> Figure:
    """Loss and accuracy after each epoch: the mean over the replicas, and the range from the worst to the best.

    The dotted line is the epoch that the selection rule takes, the median over the replicas.
    """
    history = result.history
    figure = new_figure(9.5, 3.8)
    left, right = figure.subplots(1, 2)
    for axes, series in (
        (left, [("training", history.loss, BLUE), ("validation", history.validation_loss, ORANGE)]),
        (
            right,
            [
                ("training", history.train, BLUE),
                ("validation", history.validation, ORANGE),
                ("test", history.test, GREEN),
            ],
        ),
    ):
        for name, values, colour in series:
            _band(axes, history.epochs, values, name, colour)
        chosen = history.epochs[result.chosen_rows()]
        axes.axvline(float(np.median(chosen)), color=GREY, linestyle=":", label=f"epoch taken ({result.select})")
        axes.set_xlabel("epoch")
        legend_below(axes, 4)
    left.set(title="Loss", ylabel="cross-entropy", ylim=(0, None))
    right.set(title="Accuracy", ylabel="accuracy in percent")
    figure.suptitle(str(result.accuracy()), fontsize=10)
    return finished(figure, path)


def _band(axes: Axes, epochs: np.ndarray, values: np.ndarray, name: str, colour: str) -> None:
    known = ~np.isnan(values).all(axis=1)
    if not known.any():
        return
    at, rows = epochs[known], values[known]
    axes.plot(at, np.nanmean(rows, axis=1), color=colour, label=name)
    if rows.shape[1] > 1:
        axes.fill_between(at, np.nanmin(rows, axis=1), np.nanmax(rows, axis=1), color=colour, alpha=0.2, linewidth=0)


def confusion_figure(true: Any, predicted: Any, names: Sequence[str] | None = None, path: Place = None) -> Figure:
    """How often each class (row) was taken for each class (column); a row is coloured by its shares.

    Args:
        true, predicted: (n,) class numbers; nodes whose true class is -1 are left out.
        names: of the classes.
    """
    true, predicted = np.asarray(true), np.asarray(predicted)
    if true.shape != predicted.shape:
        raise ValueError(f"true has shape {true.shape} and predicted {predicted.shape}; they must be the same")
    true, predicted = true[true >= 0], predicted[true >= 0]
    count = len(names) if names is not None else int(max(true.max(initial=0), predicted.max(initial=0))) + 1
    table = np.zeros((count, count), dtype=int)
    np.add.at(table, (true, predicted), 1)
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    side = max(3.6, 0.5 * count + 1.6)
    figure = new_figure(side + 0.4, side)
    axes = figure.subplots()
    axes.imshow(share, cmap="cividis", vmin=0, vmax=1)
    if count <= 25:
        for i, j in np.argwhere(table):
            axes.text(
                j,
                i,
                table[i, j],
                ha="center",
                va="center",
                fontsize=8,
                color="#000000" if share[i, j] > 0.5 else "#ffffff",
            )
    labels = [str(k) for k in range(count)] if names is None else list(names)
    axes.set_xticks(range(count), labels, rotation=90 if max(map(len, labels)) > 3 else 0)
    axes.set_yticks(range(count), labels)
    right = 100 * float((true == predicted).mean()) if len(true) else float("nan")
    axes.set(title=f"What is taken for what: {right:.1f} % of {len(true)} right", xlabel="predicted", ylabel="true")
    return finished(figure, path)


def embedding_figure(
    points: Any, labels: Any, names: Sequence[str] | None = None, path: Place = None, *, seed: int = 0
) -> Figure:
    """Nodes in two dimensions, coloured and marked by class.

    Args:
        points: (n, d); with d > 2 they are brought to two dimensions by t-SNE.
        labels: (n,) class numbers, -1 where unknown (drawn grey).
    """
    places, labels = np.asarray(points, float), np.asarray(labels)
    if places.ndim != 2 or len(places) != len(labels):
        raise ValueError(
            f"points has shape {places.shape} and labels {labels.shape}; give one row and one label per node"
        )
    if places.shape[1] > 2:
        from sklearn.manifold import TSNE

        perplexity = min(30.0, (len(places) - 1) / 3)
        places = TSNE(2, random_state=seed, init="pca", perplexity=perplexity).fit_transform(places)
    figure = new_figure(6.6, 5)
    axes = figure.subplots()
    size = float(np.clip(12000 / len(places), 5, 40))
    for k in np.unique(labels):
        own = places[labels == k]
        name = "unknown" if k < 0 else str(k) if names is None else names[k]
        colour = GREY if k < 0 else CLASS_COLOURS[k % 10]
        axes.scatter(own[:, 0], own[:, 1], s=size, color=colour, marker=MARKS[(k // 10) % 10], linewidths=0, label=name)
    axes.set(title="Nodes in two dimensions: near means alike", xticks=[], yticks=[])
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, frameon=False, markerscale=1.5)
    return finished(figure, path)

"""The demo: few labels on handwritten digits, DFNet against label propagation and an MLP, and a page about it.

The images come with scikit-learn and their graph joins each to its nearest neighbours, so that no network is needed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dfnets import datasets
from dfnets.datasets.splits import Split
from dfnets.filters import FeedbackLoopedFilter
from dfnets.graph import Graph
from dfnets.plots import BLUE, GREEN, GREY, ORANGE, RED
from dfnets.report import Page
from dfnets.shift import Shift

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from dfnets.training import Result

LABELS_PER_CLASS = 5
VALIDATION_PER_CLASS = 10
COLOURS = {"DFNet": BLUE, "label propagation": ORANGE, "MLP": GREEN}


def run(
    folder: str | os.PathLike[str] = "reports", *, replicas: int = 5, epochs: int | None = None
) -> tuple[dict[str, np.ndarray], Path]:
    """Train, compare, and write ``demo.html`` into ``folder``.

    Returns:
        test accuracies in percent, one a draw, by method; and the path of the page.

    Args:
        replicas: draws of the labelled images; each method sees the same ones.
        epochs: of DFNet, the preset's when left out.
    """
    from dfnets.training import fit

    started = time.perf_counter()
    graph = datasets.load("digits")
    draws = datasets.splits.make(
        graph, "random", draws=replicas, per_class=LABELS_PER_CLASS, validation_per_class=VALIDATION_PER_CLASS
    )
    result = fit("dfnet", graph, protocol=draws, replicas=replicas, epochs=epochs)
    accuracies = {
        "DFNet": result.accuracy("validation").values,
        "label propagation": _chosen_on_validation(_label_propagation, (0.2, 0.5, 0.8, 0.95), graph, draws),
        "MLP": _chosen_on_validation(_mlp, (1e-4, 1e-2, 1.0), graph, draws),
    }
    return accuracies, _page(graph, result, accuracies, started).write(Path(folder) / "demo.html")


def _chosen_on_validation(
    method: Callable[[Graph, Split, float], np.ndarray],
    values: Sequence[float],
    graph: Graph,
    draws: Sequence[Split],
) -> np.ndarray:
    """Test accuracy in percent of each draw, with the value that is best on the draw's validation nodes."""
    assert graph.labels is not None
    accuracies = []
    for draw in draws:
        guesses = [method(graph, draw, value) for value in values]
        scores = [np.mean(guess[draw.validation] == graph.labels[draw.validation]) for guess in guesses]
        best = guesses[int(np.argmax(scores))]
        accuracies.append(100 * np.mean(best[draw.test] == graph.labels[draw.test]))
    return np.array(accuracies)


def _label_propagation(graph: Graph, draw: Split, alpha: float) -> np.ndarray:
    from sklearn.semi_supervised import LabelSpreading

    assert graph.labels is not None
    known = np.full(graph.num_nodes, -1)
    known[draw.train] = graph.labels[draw.train]
    spread = LabelSpreading(kernel="knn", n_neighbors=10, alpha=alpha, max_iter=200)
    return spread.fit(graph.features, known).transduction_


def _mlp(graph: Graph, draw: Split, l2: float) -> np.ndarray:
    from sklearn.neural_network import MLPClassifier

    assert graph.labels is not None
    assert isinstance(graph.features, np.ndarray)
    scaled = graph.features / 16
    network = MLPClassifier(64, alpha=l2, solver="lbfgs", max_iter=5000, random_state=draw.draw)
    return network.fit(scaled[draw.train], graph.labels[draw.train]).predict(scaled)


def _page(graph: Graph, result: Result, accuracies: dict[str, np.ndarray], started: float) -> Page:
    assert graph.labels is not None
    split = result.splits[0]
    # Of the first replica only: the others were trained on images that the first draw tests.
    first = result.predict().per_replica[0]
    page = Page(
        "DFNet on handwritten digits",
        f"{graph.num_nodes} images of 8 x 8 pixels, joined to their nearest neighbours by {graph.num_edges} edges; "
        f"{LABELS_PER_CLASS} labelled images a class, the rest to be guessed.",
    )
    page.heading("Accuracy")
    page.text(
        f"Protocol random: {len(split.train)} training, {len(split.validation)} validation and {len(split.test)} test "
        f"images, drawn {len(result.splits)} times; every method sees the same draws. Hyper-parameters and epochs are "
        "chosen on validation images, never on test images. Mean and standard deviation over the draws."
    )
    page.table(
        ["method", "test accuracy", "each draw"],
        [
            [name, f"{values.mean():.1f} ± {values.std():.1f} %", ", ".join(f"{value:.1f}" for value in values)]
            for name, values in accuracies.items()
        ],
    )
    page.figure(_accuracy_figure(accuracies), height=340)
    page.heading("Learning")
    page.text("Accuracy on validation images after each epoch; one thin line a draw, the thick one is their mean.")
    page.figure(_learning_figure(result))
    if result.filter is not None:
        page.heading("The filter")
        page.text(_about_filter(result.filter, graph))
        page.figure(_filter_figure(result.filter, graph))
    page.heading("What is confused with what")
    page.text("Test images of the first draw: rows are the true digits, columns the guessed ones.")
    page.figure(_confusion_figure(graph.labels[split.test], first.argmax(axis=1)[split.test]), height=480)
    page.heading("The images in two dimensions")
    page.text("t-SNE of the first network's class probabilities, on a log scale; colours are the true digits.")
    page.figure(_embedding_figure(graph.labels, first), height=520)
    page.heading("Settings")
    page.table(["setting", "value"], _settings(result, started))
    return page


def _accuracy_figure(accuracies: dict[str, np.ndarray]) -> go.Figure:
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, values in accuracies.items():
        figure.add_bar(
            x=[name],
            y=[values.mean()],
            error_y={"type": "data", "array": [values.std()]},
            marker_color=COLOURS[name],
            opacity=0.75,
            showlegend=False,
        )
        figure.add_scatter(
            x=[name] * len(values), y=values, mode="markers", marker={"color": "#222", "size": 6}, showlegend=False
        )
    lowest = min(values.min() for values in accuracies.values())
    figure.update_yaxes(title="test accuracy, %", range=[max(0, lowest - 10), 100])
    return figure


def _learning_figure(result: Result) -> go.Figure:
    import plotly.graph_objects as go

    history = result.history
    figure = go.Figure()
    for r in range(len(result.seeds)):
        figure.add_scatter(
            x=history.epochs, y=history.validation[:, r], line={"color": GREY, "width": 1}, showlegend=False
        )
    figure.add_scatter(
        x=history.epochs, y=np.nanmean(history.validation, axis=1), line={"color": BLUE, "width": 3}, name="mean"
    )
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(title="validation accuracy, %")
    return figure


def _about_filter(f: FeedbackLoopedFilter, graph: Graph) -> str:
    certificate = f.certificate(Shift(graph))
    text = (
        f"{f!r}: a layer adds P of its input and Q of the pixels. On this graph's interval "
        f"[0, {certificate.interval[1]:.3f}] the largest |P| is {certificate.contraction:.3g}"
    )
    if certificate.stable:
        text += f", so the feedback loop converges; the nearest pole is {certificate.pole_margin:.3g} away."
    else:
        text += ": run as a loop it would diverge, which a layer, one step of the loop, does not mind."
    return text + " Grey: the share of the graph's frequencies."


def _filter_figure(f: FeedbackLoopedFilter, graph: Graph) -> go.Figure:
    import plotly.graph_objects as go

    frequencies, weights = Shift(graph).density()
    share, edges = np.histogram(frequencies, bins=40, range=f.interval, weights=weights)
    grid = np.linspace(*f.interval, 400)
    figure = go.Figure()
    figure.add_bar(x=(edges[1:] + edges[:-1]) / 2, y=share, marker_color=GREY, opacity=0.4, name="spectrum", yaxis="y2")
    for name, values, colour in (("feedback P", f.feedback(grid), RED), ("feedforward Q", f.feedforward(grid), BLUE)):
        figure.add_scatter(x=grid, y=values, line={"color": colour, "width": 2}, name=name)
    figure.update_xaxes(title="frequency")
    figure.update_layout(
        yaxis={"title": "gain"},
        yaxis2={
            "overlaying": "y",
            "side": "right",
            "title": "share of the frequencies",
            "showgrid": False,
            "rangemode": "tozero",
            "tickformat": ".0%",
            "nticks": 5,
        },
    )
    return figure


def _confusion_figure(true: np.ndarray, guessed: np.ndarray) -> go.Figure:
    import plotly.graph_objects as go
    from sklearn.metrics import confusion_matrix

    counts = confusion_matrix(true, guessed)
    names = [str(k) for k in range(len(counts))]
    figure = go.Figure(
        go.Heatmap(z=counts, x=names, y=names, text=counts, texttemplate="%{text}", colorscale="Blues", showscale=False)
    )
    figure.update_xaxes(title="guessed", type="category")
    figure.update_yaxes(title="true", type="category", autorange="reversed")
    return figure


def _embedding_figure(labels: np.ndarray, probabilities: np.ndarray) -> go.Figure:
    import plotly.express as px
    import plotly.graph_objects as go
    from sklearn.manifold import TSNE

    points = TSNE(2, random_state=0, init="pca", perplexity=30).fit_transform(np.log(probabilities + 1e-6))
    figure = go.Figure()
    for digit in range(labels.max() + 1):
        own = points[labels == digit]
        figure.add_scatter(
            x=own[:, 0],
            y=own[:, 1],
            mode="markers",
            marker={"size": 4, "color": px.colors.qualitative.T10[digit]},
            name=str(digit),
        )
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(showticklabels=False)
    return figure


def _settings(result: Result, started: float) -> list[tuple[str, str]]:
    import platform

    import torch

    import dfnets

    return [
        ("command", "dfnets demo"),
        ("model", f"{result.model}: {result.config.model_dump(exclude_defaults=True)}"),
        ("seeds", ", ".join(map(str, result.seeds))),
        ("splits", ", ".join(split.fingerprint for split in result.splits)),
        ("versions", f"dfnets {dfnets.__version__}, torch {torch.__version__}, Python {platform.python_version()}"),
        ("took", f"{time.perf_counter() - started:.0f} s"),
    ]

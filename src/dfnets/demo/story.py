"""The demo's page: the filter first, then the images, the labelled few, what was predicted and what was missed."""

from __future__ import annotations

import platform
import time
from typing import TYPE_CHECKING

import numpy as np

from dfnets import plots, responses
from dfnets.demo import images
from dfnets.filters import design
from dfnets.graph import Graph
from dfnets.plots.style import BLUE, GREY, new_figure
from dfnets.report import Page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dfnets.training import Result

CUT = 0.3


def make_page(graph: Graph, result: Result, accuracies: dict[str, np.ndarray], started: float) -> Page:
    """The whole page."""
    split = result.splits[0]
    page = Page(
        "Handwritten digits with five labels per class",
        f"{graph.num_nodes} images of 8 by 8 pixels, joined to their nearest neighbours by {graph.num_edges} edges. A "
        "filter is designed and certified, a network learns from a few labelled images, and the rest is predicted.",
    )
    _filter(page, graph)
    # Of the first replica only: the others were trained on images that the first draw tests.
    probabilities = result.predict().per_replica[0]
    _images(page, graph, result, probabilities)
    _accuracy(page, result, accuracies)
    page.heading("What is taken for what")
    assert graph.labels is not None
    guessed = probabilities.argmax(axis=1)
    page.figure(
        plots.confusion_figure(graph.labels[split.test], guessed[split.test]),
        "Confusion matrix of the test images of the first draw",
        "Test images of the first draw: rows are the true digits, columns the predicted ones.",
    )
    page.heading("Learning")
    page.figure(plots.training_figure(result), "Loss and accuracy after each epoch")
    page.heading("Settings")
    page.table(["setting", "value"], _settings(result, started))
    return page


def _filter(page: Page, graph: Graph) -> None:
    """A low-pass filter for this graph: its pictures, and what is proved of it."""
    f = design(responses.low_pass(CUT), p=5, q=3, gamma=0.9, method="iterative")
    certificate = f.certificate(graph)
    page.heading("A filter with a certificate")
    page.text(
        f"This low-pass filter keeps what varies slowly over the graph, below frequency {CUT}. It is a feedback loop, "
        f"and it is proved to converge on this graph: the feedback P never exceeds {certificate.contraction:.3g} on "
        f"[0, {certificate.interval[1]:.3f}], where all frequencies of the graph lie, and the nearest pole is "
        f"{certificate.pole_margin:.2g} away. The measured error of the loop stays below the proved one."
    )
    page.figure(f.plot(graph=graph), "Response, feedback, poles and convergence of the filter")
    page.figure(plots.certificate_figure(certificate), "The certificate of the filter")


def _images(page: Page, graph: Graph, result: Result, probabilities: np.ndarray) -> None:
    from sklearn.manifold import TSNE

    assert graph.labels is not None
    split, guessed = result.splits[0], probabilities.argmax(axis=1)
    pictures = images.encoded(np.asarray(graph.features))
    places = TSNE(2, random_state=0, init="pca", perplexity=30).fit_transform(np.log(probabilities + 1e-6))
    page.heading("The images in their graph")
    page.text(
        "Each image lies where the network sees it (t-SNE of its log-probabilities); lines join neighbours. Framed "
        f"blue: the {len(split.train)} labelled images of the first draw. Framed red: test images whose digit was "
        "missed. Point at an image to see it large, with its digit, the prediction and the probability."
    )
    page.html(images.network(graph, pictures, places, guessed, probabilities, split))
    page.heading("The labelled few")
    page.text(f"All that the network is told: {len(split.train) // graph.num_classes} images of each digit.")
    given = split.train[np.argsort(graph.labels[split.train], kind="stable")]
    page.html(images.strip(pictures, given, [str(graph.labels[node]) for node in given]))
    missed = split.test[guessed[split.test] != graph.labels[split.test]]
    page.heading("What was missed")
    page.text(
        f"{len(missed)} of {len(split.test)} test images of the first draw; under each its true digit, and what it was "
        "taken for."
    )
    words = [f"{graph.labels[node]} → {guessed[node]}" for node in missed]
    page.html(images.strip(pictures, missed, words))


def _accuracy(page: Page, result: Result, accuracies: dict[str, np.ndarray]) -> None:
    split = result.splits[0]
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
    page.figure(
        _accuracy_figure(accuracies), "Test accuracy of each method", "Dots: each draw. Bars: mean ± deviation."
    )


def _accuracy_figure(accuracies: dict[str, np.ndarray]) -> Figure:
    figure = new_figure(7, 0.6 * len(accuracies) + 1)
    axes = figure.subplots()
    for k, values in enumerate(accuracies.values()):
        colour = BLUE if k == 0 else GREY
        axes.errorbar([values.mean()], [-k], xerr=[values.std()], color=colour, marker="|", ms=18, capsize=5, lw=2)
        axes.plot(values, np.full(len(values), -k), "o", color=colour, ms=5, alpha=0.7)
        axes.text(values.max() + 0.4, -k + 0.12, f"{values.mean():.1f}", fontsize=9)
    axes.set_yticks([-k for k in range(len(accuracies))], list(accuracies))
    axes.set(xlabel="test accuracy in percent", ylim=(-len(accuracies) + 0.5, 0.5), title="Few labels, three methods")
    return figure


def _settings(result: Result, started: float) -> list[tuple[str, str]]:
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

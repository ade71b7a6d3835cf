"""Pictures: filters and their certificates, signals on graphs, filter banks, training, confusion and embeddings.

Each function returns a Matplotlib figure that belongs to no window, and writes it to a file when it is given a path.
The objects themselves have these pictures as methods: ``f.plot()``, ``graph.plot(signal)``, ``certificate.plot()``,
``result.plot()``. Colours are apart for every kind of colour vision.
"""

from __future__ import annotations

from dfnets.plots.banks import spectrogram_figure
from dfnets.plots.certificates import certificate_figure
from dfnets.plots.filters import filter_figure
from dfnets.plots.graphs import layout, signal_figure
from dfnets.plots.learning import confusion_figure, embedding_figure, training_figure
from dfnets.plots.style import BLUE, COLOURS, GREEN, GREY, ORANGE, RED, as_svg, check_figure, save_figure

__all__ = [
    "BLUE",
    "COLOURS",
    "GREEN",
    "GREY",
    "ORANGE",
    "RED",
    "as_svg",
    "certificate_figure",
    "check_figure",
    "confusion_figure",
    "embedding_figure",
    "filter_figure",
    "layout",
    "save_figure",
    "signal_figure",
    "spectrogram_figure",
    "training_figure",
]

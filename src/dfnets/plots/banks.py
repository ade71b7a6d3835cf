"""Filter banks: where on a graph which frequencies are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dfnets.filters.base import Filter
from dfnets.graph import Graph
from dfnets.plots.graphs import layout
from dfnets.plots.style import COLOURS, Place, finished, new_figure
from dfnets.shift import Shift

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def spectrogram_figure(
    filters: Sequence[Filter], graph: Graph, signal: Any, path: Place = None, *, order: Any = None, tol: float = 1e-4
) -> Figure:
    """The responses of a bank of filters, and what each of them lets through at each node: |h_k(L^) x|.

    Args:
        filters: one per band, from low to high frequency.
        signal: (n,) the signal that is taken apart.
        order: (n,) the nodes from left to right; by default along the slowest oscillation of the graph, or along the
            first coordinate where the graph has coordinates.
        tol: of each filtered signal.
    """
    x = np.asarray(signal, float)
    if x.shape != (graph.num_nodes,):
        raise ValueError(f"signal has shape {x.shape}; the spectrogram takes one signal, ({graph.num_nodes},)")
    if order is None:
        order = np.argsort((layout(graph) if graph.coordinates is None else graph.coordinates)[:, 0], kind="stable")
    shift = Shift(graph, lmax="lanczos")
    energy = np.abs(np.stack([f.apply(shift, x, tol=tol) for f in filters]))[:, np.asarray(order)]
    figure = new_figure(8, 5)
    above, below = figure.subplots(2, 1, height_ratios=[2, 3])
    grid = np.linspace(*shift.interval, 801)
    for k, f in enumerate(filters):
        above.plot(grid, f.response(grid), color=COLOURS[k % len(COLOURS)], label=f"band {k + 1}")
    above.set(title="The bands: gain of each filter", xlabel="frequency", ylabel="gain", xlim=shift.interval)
    above.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, frameon=False)
    image = below.imshow(energy, aspect="auto", origin="lower", cmap="cividis", interpolation="nearest")
    below.set(title="Where each band is: size of the filtered signal", xlabel="node, in order", ylabel="band")
    below.set_yticks(range(len(filters)), [str(k + 1) for k in range(len(filters))])
    figure.colorbar(image, ax=below, label="size")
    return finished(figure, path)

"""Signals on graphs: each node at its place, coloured by its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from dfnets.graph import Graph
from dfnets.plots.style import GREY, Place, finished, new_figure
from dfnets.shift import Shift

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# More lines than this are a blot on the page; the nodes are drawn all the same.
MOST_EDGES = 60_000


def signal_figure(
    graph: Graph,
    signal: Any = None,
    path: Place = None,
    *,
    coordinates: Any = None,
    titles: Any = None,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """One or several signals on a graph, side by side, on one scale of colours.

    The nodes lie at ``coordinates``, or at the graph's own, or where :func:`layout` puts them. The scale is cividis,
    which everyone can read, from the smallest to the largest value.

    Args:
        signal: (n,) or (n, k) values; None draws the graph alone.
        titles: what each signal is, in words.
        limits: the values at the ends of the scale, where others than the smallest and largest.
    """
    n = graph.num_nodes
    columns = None if signal is None else np.asarray(signal, float).reshape(len(signal), -1)
    if columns is not None and columns.shape[0] != n:
        raise ValueError(f"signal has {columns.shape[0]} values, but the graph has {n} nodes")
    places = _places(graph, coordinates)
    count = 1 if columns is None else columns.shape[1]
    names = ["" for _ in range(count)] if titles is None else [titles] if isinstance(titles, str) else list(titles)
    figure = new_figure(4.4 * count + (0.6 if columns is not None else 0), 4.4)
    panels = figure.subplots(1, count, squeeze=False)[0]
    low, high = (0.0, 1.0) if columns is None else limits or (float(columns.min()), float(columns.max()))
    for k, axes in enumerate(panels):
        values = None if columns is None else columns[:, k]
        dots = draw_signal(axes, graph, places, values, low, high)
        axes.set_title(names[k] if k < len(names) else "", fontsize=10)
    if columns is not None:
        figure.colorbar(dots, ax=list(panels), shrink=0.8, label="value")
    return finished(figure, path)


def draw_signal(
    axes: Axes, graph: Graph, places: np.ndarray, values: np.ndarray | None, low: float, high: float
) -> Any:
    """Nodes and edges on given axes, coloured on the scale from ``low`` to ``high``; grey without values."""
    from matplotlib.collections import LineCollection

    edges = sp.triu(graph.adjacency, k=1).tocoo()
    if edges.nnz <= MOST_EDGES:
        lines = places[np.stack([edges.row, edges.col], axis=1)]
        axes.add_collection(LineCollection(list(lines), colors=GREY, linewidths=0.5, alpha=0.5, zorder=1))
    size = float(np.clip(30000 / graph.num_nodes, 2, 60))
    colour: Any = {"color": GREY} if values is None else {"c": values, "cmap": "cividis", "vmin": low, "vmax": high}
    dots = axes.scatter(places[:, 0], places[:, 1], s=size, linewidths=0, zorder=2, **colour)
    axes.set_aspect("equal" if graph.coordinates is not None else "auto")
    axes.set_axis_off()
    return dots


def _places(graph: Graph, coordinates: Any) -> np.ndarray:
    if coordinates is None:
        coordinates = layout(graph) if graph.coordinates is None else graph.coordinates
    places = np.asarray(coordinates, float)
    if places.ndim != 2 or places.shape[0] != graph.num_nodes or places.shape[1] < 1:
        raise ValueError(f"coordinates has shape {places.shape}; it must be ({graph.num_nodes}, 2)")
    return places[:, :2] if places.shape[1] > 1 else np.column_stack([places, np.zeros(len(places))])


def layout(graph: Graph) -> np.ndarray:
    """(n, 2) a place for each node: the two slowest oscillations of the graph, divided by the root of the degree.

    Nodes that are joined by many short paths come to lie close together. Each connected part gets places of its own,
    the largest in the middle of attention: the others are drawn as points beside it.
    """
    import scipy.sparse.linalg
    from scipy.sparse.csgraph import connected_components

    _, part = connected_components(graph.adjacency, directed=False)
    largest = np.flatnonzero(part == np.bincount(part).argmax())
    places = np.zeros((graph.num_nodes, 2))
    if len(largest) > 3:
        inner = Graph(graph.adjacency[largest][:, largest])
        smooth = -Shift(inner, centre=2.0).tocsr()
        start = np.random.default_rng(0).standard_normal(len(largest))
        _, vectors = scipy.sparse.linalg.eigsh(smooth, k=3, which="LA", v0=start, tol=1e-4, ncv=min(len(largest), 40))
        slow = vectors[:, [1, 0]] / np.sqrt(inner.degrees + 1)[:, None]
        # An eigenvector has no sign of its own; this one makes the picture the same each time.
        slow *= np.sign(slow[np.abs(slow).argmax(axis=0), [0, 1]])
        places[largest] = slow / np.abs(slow).max(axis=0)
    rest = np.flatnonzero(part != np.bincount(part).argmax())
    places[rest] = np.stack([np.full(len(rest), 1.2), np.linspace(-1, 1, max(len(rest), 2))[: len(rest)]], axis=1)
    return places

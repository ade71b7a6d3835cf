"""Figures: what a filter does, whether it is stable, and how fast it converges."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dfnets.atomic import replacing
from dfnets.filters.base import Filter
from dfnets.filters.feedback import FeedbackLoopedFilter
from dfnets.filters.products import Products
from dfnets.graph import Graph
from dfnets.shift import Shift

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette: apart for every kind of colour vision.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#999999"
MOST_ITERATIONS = 300


def filter_figure(
    f: Filter, path: str | os.PathLike[str] | None = None, *, graph: Graph | Shift | None = None
) -> Figure:
    """The response against its target; for a feedback-looped filter also P, the poles and the convergence.

    With a graph, its spectral density lies under the response, and the convergence is measured on it beside the
    predicted one. The figure belongs to no window: it is returned, and written to ``path`` in the format of its ending.
    """
    from matplotlib.figure import Figure

    shift = None if graph is None else f.shift_of(graph)
    if isinstance(f, FeedbackLoopedFilter):
        figure = Figure(figsize=(11, 7.6), layout="constrained")
        axes = figure.subplots(2, 2).ravel()
        response_axes(axes[0], f, shift)
        feedback_axes(axes[1], f)
        pole_axes(axes[2], f)
        convergence_axes(axes[3], f, shift)
    else:
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        response_axes(figure.subplots(), f, shift)
    figure.suptitle(repr(f), fontsize=10)
    if path is not None:
        save_figure(figure, path)
    return figure


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Writes a figure in the format that the ending of ``path`` names; an existing file is replaced whole or not."""
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150, format=check_figure(path))


def check_figure(path: str | os.PathLike[str]) -> str:
    """The format that the ending of a figure's file names, or an error that lists those that there are."""
    from matplotlib.figure import Figure

    known = Figure().canvas.get_supported_filetypes()
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in known:
        raise ValueError(f"{path}: a figure cannot be written as {ending!r}; its name ends in .{', .'.join(known)}")
    return ending


def response_axes(axes: Axes, f: Filter, shift: Shift | None = None) -> None:
    """The response, the target, the transition bands, and the density of a graph's spectrum."""
    grid = np.linspace(*f.interval, 2001)
    if shift is not None:
        frequencies, weights = shift.density()
        under = axes.twinx()
        under.hist(frequencies, bins=40, range=f.interval, weights=weights, color=GREY, alpha=0.35)
        under.set_yticks([])
        under.set_ylim(0, 2 * max(under.get_ylim()[1], 1e-12))
        axes.set_zorder(under.get_zorder() + 1)
        axes.patch.set_visible(False)
        axes.plot([], [], color=GREY, alpha=0.5, linewidth=8, label="density of the graph's spectrum")
    if f.target is not None:
        for jump in f.target.jumps:
            axes.axvspan(jump - f.transition, jump + f.transition, color=ORANGE, alpha=0.15, linewidth=0)
        axes.plot(grid, f.target(grid), color=ORANGE, linestyle="--", linewidth=1.5, label=f"wanted: {f.target}")
    gains = f.response(grid)
    axes.plot(grid, gains, color=BLUE, linewidth=1.8, label="realised")
    inside = gains[np.isfinite(gains)]
    # A pole would squeeze everything else into a line.
    axes.set_ylim(max(inside.min(), -3) - 0.1, min(inside.max(), 4) + 0.1)
    axes.set(title="response", xlabel="frequency of L^", ylabel="gain", xlim=f.interval)
    axes.legend(fontsize=8, loc="best")


def feedback_axes(axes: Axes, f: FeedbackLoopedFilter) -> None:
    """P with +-gamma, and where it is zero."""
    grid = np.linspace(*f.interval, 2001)
    largest = f.ranges(f.interval).contraction
    bound = f.provenance.get("gamma")
    axes.plot(grid, f.feedback(grid), color=BLUE, linewidth=1.8, label=f"P, largest |P| = {largest:.4g}")
    if bound:
        for sign in (-1, 1):
            axes.axhline(
                sign * bound, color=RED, linestyle="--", linewidth=1, label=f"gamma = {bound:g}" if sign > 0 else None
            )
    axes.axvline(f.centre, color=GREY, linestyle=":", linewidth=1, label=f"centre = {f.centre:.4g}")
    axes.set(title="feedback", xlabel="frequency of L^", ylabel="P", xlim=f.interval)
    axes.legend(fontsize=8, loc="best")


def pole_axes(axes: Axes, f: FeedbackLoopedFilter) -> None:
    """The poles in the plane of complex frequencies; none may touch the interval."""
    poles = f.poles()
    axes.plot(f.interval, (0, 0), color=GREEN, linewidth=4, solid_capstyle="butt", label="interval")
    axes.plot(poles.real, poles.imag, "x", color=RED, markersize=8, markeredgewidth=2, label="poles")
    axes.axhline(0, color=GREY, linewidth=0.6)
    axes.set(title="poles", xlabel="real part of the frequency", ylabel="imaginary part")
    axes.margins(0.15)
    axes.legend(fontsize=8, loc="best")


def convergence_axes(axes: Axes, f: FeedbackLoopedFilter, shift: Shift | None, tol: float = 1e-10) -> None:
    """The error of the recursion, iteration by iteration: predicted, and measured on a random signal of a graph."""
    axes.set(title="convergence of the recursion", xlabel="iterations", ylabel="error / norm of the signal")
    interval = f.interval if shift is None else shift.interval
    ranges = f.ranges(interval)
    if ranges.contraction >= 1 or ranges.has_pole:
        reason = "a pole in the interval" if ranges.has_pole else f"|P| reaches {ranges.contraction:.4g}"
        axes.text(0.5, 0.5, f"diverges: {reason}", ha="center", va="center", transform=axes.transAxes, color=RED)
        axes.set_axis_off()
        return
    count = min(MOST_ITERATIONS, max(1, int(np.log(tol) / np.log(max(ranges.contraction, tol)))))
    steps = np.arange(count + 1)
    axes.semilogy(
        steps, ranges.distance * ranges.contraction**steps, color=ORANGE, linestyle="--", label="predicted, at most"
    )
    if shift is not None:
        x = np.random.default_rng(0).standard_normal((shift.num_nodes, 1))
        limit = f.apply(shift, x, tol=1e-12)
        iterates = itertools.islice(f.iterates(Products(shift), x), count + 1)
        errors = [np.linalg.norm(iterate - limit) / np.linalg.norm(x) for iterate in iterates]
        axes.semilogy(steps, errors, color=BLUE, linewidth=1.8, label="measured")
    axes.legend(fontsize=8, loc="best")


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

"""What a filter does, whether it is stable, and how fast it converges."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING

import numpy as np

from dfnets.filters.base import Filter
from dfnets.filters.feedback import FeedbackLoopedFilter
from dfnets.filters.products import Products
from dfnets.graph import Graph
from dfnets.plots.style import BLUE, GREEN, GREY, ORANGE, RED, finished, legend_below, new_figure
from dfnets.shift import Shift

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ITERATIONS = 300


def filter_figure(
    f: Filter, path: str | os.PathLike[str] | None = None, *, graph: Graph | Shift | None = None
) -> Figure:
    """The response against its target; for a feedback-looped filter also P, the poles and the convergence.

    With a graph, its spectral density lies under the response, and the convergence is measured on it beside the
    predicted one. The figure belongs to no window: it is returned, and written to ``path`` in the format of its ending.
    """
    shift = None if graph is None else f.shift_of(graph)
    if isinstance(f, FeedbackLoopedFilter):
        figure = new_figure(11, 8.6)
        axes = figure.subplots(2, 2).ravel()
        response_axes(axes[0], f, shift)
        feedback_axes(axes[1], f)
        pole_axes(axes[2], f)
        convergence_axes(axes[3], f, shift)
    else:
        figure = new_figure(6.4, 4.6)
        response_axes(figure.subplots(), f, shift)
    figure.suptitle(repr(f), fontsize=10)
    return finished(figure, path)


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
            name = "transition band: errors there do not count" if jump == f.target.jumps[0] else None
            axes.axvspan(jump - f.transition, jump + f.transition, color=ORANGE, alpha=0.15, linewidth=0, label=name)
        axes.plot(grid, f.target(grid), color=ORANGE, linestyle="--", linewidth=1.5, label=f"wanted: {f.target}")
    gains = without_pole(f, grid)
    axes.plot(grid, gains, color=BLUE, linewidth=1.8, label="realised")
    inside = gains[np.isfinite(gains)]
    # A pole would squeeze everything else into a line.
    axes.set_ylim(max(inside.min(), -3) - 0.1, min(inside.max(), 4) + 0.1)
    axes.set(title="Response: what is wanted and what is realised", xlabel="frequency", ylabel="gain", xlim=f.interval)
    legend_below(axes)


def without_pole(f: Filter, grid: np.ndarray) -> np.ndarray:
    """The response with a gap where it crosses a pole, so that no line is drawn from one side to the other."""
    gains = f.response(grid).astype(float)
    if isinstance(f, FeedbackLoopedFilter):
        sign = np.sign(1 - f.feedback(grid))
        gains[:-1][sign[1:] != sign[:-1]] = np.nan
    return gains


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
    axes.set(title="Feedback: below 1 everywhere, the loop converges", xlabel="frequency", ylabel="P", xlim=f.interval)
    legend_below(axes, 3)


def pole_axes(axes: Axes, f: FeedbackLoopedFilter) -> None:
    """The poles in the plane of complex frequencies; none may touch the interval."""
    poles = f.poles()
    axes.plot(f.interval, (0, 0), color=GREEN, linewidth=4, solid_capstyle="butt", label="interval")
    axes.plot(poles.real, poles.imag, "x", color=RED, markersize=8, markeredgewidth=2, label="poles")
    axes.axhline(0, color=GREY, linewidth=0.6)
    axes.set(title="Poles: none may touch the interval", xlabel="real part of the frequency", ylabel="imaginary part")
    axes.margins(0.15)
    legend_below(axes)


def convergence_axes(axes: Axes, f: FeedbackLoopedFilter, shift: Shift | None, tol: float = 1e-10) -> None:
    """The error of the recursion, iteration by iteration: predicted, and measured on a random signal of a graph."""
    axes.set(
        title="Error of the recursion, iteration by iteration", xlabel="iterations", ylabel="error / norm of the signal"
    )
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
        steps, ranges.distance * ranges.contraction**steps, color=ORANGE, linestyle="--", label="proved: at most this"
    )
    if shift is not None:
        x = np.random.default_rng(0).standard_normal((shift.num_nodes, 1))
        limit = f.apply(shift, x, tol=f.smallest_tolerance(shift))
        iterates = itertools.islice(f.iterates(Products(shift), x), count + 1)
        errors = [np.linalg.norm(iterate - limit) / np.linalg.norm(x) for iterate in iterates]
        axes.semilogy(steps, errors, color=BLUE, linewidth=1.8, label="measured")
    legend_below(axes)

"""A certificate as a picture: how close, how stable, how dear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dfnets.plots.style import BLUE, GREEN, GREY, RED, Place, finished, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dfnets.filters.certificate import Certificate

WAYS = {"recursion": "recursion", "cg": "conjugate gradients", "chebyshev": "Chebyshev expansion"}


def certificate_figure(certificate: Certificate, path: Place = None) -> Figure:
    """What is proved: the contraction, the error beside a polynomial's, the cost of each way to apply the filter."""
    figure = new_figure(10.5, 2.9)
    left, middle, right = figure.subplots(1, 3)
    _contraction(left, certificate)
    _errors(middle, certificate)
    _costs(right, certificate)
    low, high = certificate.interval
    word = "Certified stable" if certificate.stable else "Not stable"
    figure.suptitle(f"{word} for every graph with frequencies in [{low:.4g}, {high:.4g}]", fontsize=11)
    return finished(figure, path)


def _contraction(axes: Axes, certificate: Certificate) -> None:
    largest = certificate.contraction
    axes.barh([0], [min(largest, 2)], color=GREEN if certificate.stable else RED, height=0.5)
    axes.axvline(1, color="#000000", linewidth=1.2)
    axes.text(min(largest, 2), 0.32, f"largest |P| = {largest:.4g}", ha="right", fontsize=8)
    axes.set(title="Contraction: below 1 it converges", xlim=(0, max(1.1, min(largest, 2) * 1.05)), ylim=(-0.5, 0.6))
    axes.set_yticks([])
    axes.set_xlabel(f"nearest pole {certificate.pole_margin:.3g} from the interval", fontsize=8)
    _small(axes)


def _errors(axes: Axes, certificate: Certificate) -> None:
    axes.set_title("Largest error outside the transition")
    rows = [("this filter", certificate.errors, BLUE), ("polynomial, same cost", certificate.polynomial, GREY)]
    known = [(name, errors.linf, colour) for name, errors, colour in rows if errors is not None]
    if not known:
        axes.text(0.5, 0.5, "no target was given", ha="center", transform=axes.transAxes)
    for k, (name, value, colour) in enumerate(known):
        axes.barh([-k], [value], color=colour, height=0.5)
        axes.text(0, -k + 0.32, f" {name}: {value:.3g}", fontsize=8)
    axes.set(ylim=(-len(known) + 0.4, 0.7))
    axes.set_yticks([])
    _small(axes)


def _costs(axes: Axes, certificate: Certificate) -> None:
    axes.set_title(f"Products with the graph, error {certificate.tol:g}")
    for k, (name, cost) in enumerate(certificate.costs.items()):
        label = WAYS.get(name, name)
        if not isinstance(cost, str):
            axes.barh([-k], [cost.products], color=BLUE if name == certificate.cheapest else GREY, height=0.45)
            axes.text(0, -k + 0.3, f" {label}: {cost.products}", fontsize=8)
        else:
            axes.text(0, -k, f" {label}: not possible", fontsize=8, color=RED)
    axes.set(ylim=(-len(certificate.costs) + 0.4, 0.8))
    axes.set_yticks([])
    _small(axes)


def _small(axes: Axes) -> None:
    axes.title.set_fontsize(9)
    axes.tick_params(labelsize=8)

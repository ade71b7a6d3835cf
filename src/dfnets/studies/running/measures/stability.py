"""Whether the feedback loop of a filter converges on a graph, how fast, and where the graph's spectrum lies."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dfnets import responses
from dfnets.filters import Cost, FeedbackLoopedFilter
from dfnets.filters.designing import design
from dfnets.filters.products import Products
from dfnets.graph import Graph
from dfnets.shift import Shift

# Raised when a change alters what is measured.
VERSION = 1
TOLERANCES = (1e-2, 1e-4, 1e-6)
BINS = 40
MOST_ITERATIONS = 2000


def measure(
    graph: Graph,
    response: str,
    cut: float,
    gamma: float,
    convention: str = "consistent",
    p: int = 5,
    q: int = 3,
    seed: int = 0,
) -> dict[str, Any]:
    """The certificate of a filter that was designed on [0, 2], on a graph's own interval, and what is measured there.

    ``bound`` are the iterations that the certificate predicts for each tolerance, ``iterations`` those that a random
    signal needs, None where the recursion diverges; ``recursion`` and ``cheapest`` are products for the last tolerance.
    """
    made = getattr(responses, response.replace("-", "_"))(cut)
    f = design(made, p, q, gamma, method="least-squares", convention=convention)  # type: ignore[arg-type]
    proved, shift = Shift(graph), Shift(graph, lmax="lanczos")
    last = f.certificate(shift, tol=TOLERANCES[-1])
    frequencies, weights = shift.density()
    share, edges = np.histogram(frequencies, bins=BINS, range=(0.0, 2.0), weights=weights)
    middles = (edges[1:] + edges[:-1]) / 2
    recursion, cheapest = last.costs["recursion"], last.costs.get(last.cheapest or "")
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "classes": graph.num_classes,
        "features": None if graph.features is None else graph.features.shape[1],
        "proved": proved.interval[1],
        "lmax": shift.interval[1],
        "ritz": float(frequencies.max()),
        "contraction": last.contraction,
        "universal": f.certificate().contraction,
        "radius": float(np.abs(f.feedback(frequencies)).max()),
        "pole_margin": last.pole_margin if np.isfinite(last.pole_margin) else None,
        "error": None if last.errors is None else last.errors.linf,
        "rms": None if last.errors is None else last.errors.l2,
        "bound": [_iterations(f.costs(tol, shift.interval)["recursion"]) for tol in TOLERANCES],
        "iterations": _needed(f, shift, seed) if last.stable else [None] * len(TOLERANCES),
        "recursion": recursion.products if isinstance(recursion, Cost) else None,
        "cheapest": cheapest.products if isinstance(cheapest, Cost) else None,
        "method": last.cheapest,
        "spectrum": share.round(6).tolist(),
        "feedback": f.feedback(middles).round(6).tolist(),
        "frequencies": middles.round(6).tolist(),
    }


def _iterations(cost: Cost | str) -> int | None:
    return cost.iterations if isinstance(cost, Cost) else None


def _needed(f: FeedbackLoopedFilter, shift: Shift, seed: int) -> list[int | None]:
    """The iterations after which a random signal is as close to its limit as each tolerance asks for."""
    x = np.random.default_rng(seed).standard_normal((shift.num_nodes, 1))
    # As exact as floating point allows: orders of magnitude below the last tolerance.
    limit, size = f.apply(shift, x, tol=f.smallest_tolerance(shift)), float(np.linalg.norm(x))
    needed: list[int | None] = [None] * len(TOLERANCES)
    for t, state in enumerate(itertools.islice(f.iterates(Products(shift), x), MOST_ITERATIONS)):
        error = float(np.linalg.norm(state - limit)) / size
        for i, tol in enumerate(TOLERANCES):
            if needed[i] is None and error <= tol:
                needed[i] = t
        if needed[-1] is not None:
            break
    return needed

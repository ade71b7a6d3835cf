"""What it costs to apply a filter: products with the shift, time, memory."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from dfnets import responses
from dfnets.filters import ArmaFilter, CayleyFilter, ChebyshevFilter, FeedbackLoopedFilter, Filter, LanczosFilter
from dfnets.filters.designing import design
from dfnets.graph import Graph
from dfnets.shift import Shift

# Raised when a change alters what is measured.
VERSION = 1
JACOBI = 5
PARALLEL = 4
REPETITIONS = 5
P, Q = 5, 3
WANTED = responses.low_pass(0.7)


def _arma(count: int) -> ArmaFilter:
    poles = 1.5 + 0.5 * np.arange(count)
    return ArmaFilter(np.ones(count), poles, 1.0)


# For each filter: how one of an order k is made, and how it is applied. The order is the degree of a polynomial, the
# steps of Lanczos, the powers of a Cayley transform, the iterations t of a recursion.
FILTERS: dict[str, Callable[[int], tuple[Filter, str, int | None]]] = {
    "chebyshev": lambda k: (ChebyshevFilter.fit(WANTED, k), "chebyshev", None),
    "lanczos": lambda k: (LanczosFilter(WANTED, k), "ritz", None),
    "cayley": lambda k: (CayleyFilter.fit(WANTED, k), "jacobi", JACOBI),
    "arma-1": lambda k: (_arma(1), "recursion", k),
    "arma-parallel": lambda k: (_arma(PARALLEL), "recursion", k),
    "feedback-looped": lambda k: (_feedback_looped(), "recursion", k),
}


def _feedback_looped() -> FeedbackLoopedFilter:
    return design(WANTED, P, Q, 0.9, method="least-squares")


def measure(filter: str, nodes: int, edges: int, order: int, seed: int = 0) -> dict[str, Any]:
    """Products, seconds and peak bytes of one application to one signal on a random graph.

    The time is the fastest of a few, which other work on the machine disturbs least.

    ``working`` are the bytes of the arrays that are made on the way, ``held`` those of the operator.
    """
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, nodes, (2, edges))
    ends = ends[:, ends[0] != ends[1]]
    graph = Graph.from_edges(ends[0], ends[1], num_nodes=nodes, duplicates="max", name="random")
    shift = Shift(graph)
    x = rng.standard_normal(nodes)
    made, method, iterations = FILTERS[filter](order)

    def apply() -> int:
        return made.apply(shift, x, tol=1e-6, method=method, iterations=iterations, details=True).products

    products = apply()  # compiles what must be compiled
    seconds = []
    for _ in range(REPETITIONS):
        began = time.perf_counter()
        apply()
        seconds.append(time.perf_counter() - began)
    tracemalloc.start()
    apply()
    working = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    held = sum(array.nbytes for array in (shift.indptr, shift.indices, shift.values, shift.diagonal))
    return {
        "products": products,
        "seconds": min(seconds),
        "working": working,
        "held": held,
        "edges": graph.num_edges,
    }

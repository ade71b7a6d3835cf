"""What the page shows of a filter: its curves, poles, certificate and costs, as plain numbers for JSON."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dfnets.filters import FeedbackLoopedFilter
from dfnets.filters.certificate import Errors
from dfnets.filters.products import Products
from dfnets.plots.filters import without_pole
from dfnets.shift import Shift

POINTS = 321
MOST_ITERATIONS = 120
TOLERANCE = 1e-6


def curves(f: FeedbackLoopedFilter) -> dict[str, Any]:
    """The response, the target, P, the poles and the certificate of a filter on its own interval."""
    grid = np.linspace(*f.interval, POINTS)
    certificate = f.certificate(tol=TOLERANCE)
    ranges = f.ranges(f.interval)
    has_pole = ranges.has_pole
    return {
        "psi": f.psi.tolist(),
        "phi": f.phi.tolist(),
        "centre": f.centre,
        "interval": list(f.interval),
        "frequency": numbers(grid),
        "response": numbers(without_pole(f, grid)),
        "feedback": numbers(f.feedback(grid)),
        "poles": [[round(pole.real, 6), round(pole.imag, 6)] for pole in f.poles()],
        "bound": f.provenance.get("gamma"),
        "predicted": [] if has_pole or not certificate.stable else predicted(ranges.contraction, ranges.distance),
        "certificate": {
            "stable": bool(certificate.stable),
            "pole_inside": bool(has_pole),
            "contraction": finite(certificate.contraction),
            "pole_margin": finite(certificate.pole_margin),
            "gain": finite(certificate.gain),
            "denominator": [finite(value) for value in certificate.denominator],
            "tol": TOLERANCE,
            "errors": _errors(certificate.errors),
        },
    }


def predicted(contraction: float, distance: float) -> list[float | None]:
    """The error of the recursion after 0, 1, 2, ... iterations, relative to the signal: at most this."""
    steps = np.arange(MOST_ITERATIONS + 1)
    return numbers(distance * contraction**steps)


def costs(f: FeedbackLoopedFilter, shift: Shift) -> dict[str, Any]:
    """Products of each way to apply the filter on a graph's interval, or the reason why it cannot be used."""
    return {
        name: cost if isinstance(cost, str) else cost.products
        for name, cost in f.costs(TOLERANCE, shift.interval).items()
    }


def measured(f: FeedbackLoopedFilter, shift: Shift, x: np.ndarray) -> list[float | None]:
    """The error of the recursion on a graph after 0, 1, 2, ... iterations, relative to the signal.

    It is empty where the recursion diverges.
    """
    ranges = f.ranges(shift.interval)
    if ranges.has_pole or ranges.contraction >= 1:
        return []
    columns = x[:, None]
    limit = f.apply(shift, columns, tol=1e-12)
    iterates = itertools.islice(f.iterates(Products(shift), columns), MOST_ITERATIONS + 1)
    size = np.linalg.norm(x) or 1.0
    return numbers(np.array([np.linalg.norm(iterate - limit) / size for iterate in iterates]), digits=12)


def _errors(errors: Errors | None) -> dict[str, float | None] | None:
    if errors is None:
        return None
    return {
        "rms": finite(errors.l2),
        "largest": finite(errors.linf),
        "pass": finite(errors.pass_ripple),
        "stop": finite(errors.stop_ripple),
    }


def numbers(values: np.ndarray, digits: int = 6) -> list[float | None]:
    """A list for JSON: rounded, None where a value is not finite."""
    return [value if np.isfinite(value) else None for value in np.round(np.asarray(values, float), digits).tolist()]


def finite(value: float | None) -> float | None:
    """A number for JSON: None where it is not finite."""
    return None if value is None or not np.isfinite(value) else float(value)

"""What is checked at the door of every filter: its vectors, its interval, and the signals that come to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dfnets.filters.polynomials import Interval

# More coefficients than any filter has a use for; without a limit a damaged file could keep a process busy for hours.
MOST_COEFFICIENTS = 20_000
# The largest degree that a design takes.
LARGEST_ORDER = 20


def checked_vector(
    values: Any, name: str, least: int, *, kind: type = float, most: int = MOST_COEFFICIENTS
) -> np.ndarray:
    """A finite vector of at least ``least`` entries, or an error that names it."""
    try:
        array: np.ndarray = np.array(values, dtype=kind)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a vector of at least {least} finite numbers, not {_short(values)}") from None
    if array.ndim != 1 or len(array) < least or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a vector of at least {least} finite numbers, not {_short(values)}")
    if len(array) > most:
        raise ValueError(f"{name} has {len(array)} coefficients; this filter takes {most} at the most")
    array.flags.writeable = False
    return array


def checked_interval(interval: Any) -> Interval:
    """(low, high) with 0 <= low <= high <= 2."""
    try:
        low, high = (checked_number(end, "interval") for end in interval)
    except (TypeError, ValueError):
        raise ValueError(f"interval={_short(interval)} must be two numbers, low and high") from None
    if not 0 <= low <= high <= 2:
        raise ValueError(f"interval={interval!r}: frequencies of L^ lie in [0, 2], so 0 <= low <= high <= 2")
    return low, high


def checked_number(value: Any, name: str, *, least: float = -np.inf) -> float:
    """A finite number of at least ``least``, or an error that names it."""
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not real or not np.isfinite(value) or value < least:
        bound = "" if least == -np.inf else f" of at least {least:g}"
        raise ValueError(f"{name}={_short(value)} must be a finite number{bound}")
    return float(value)


def checked_signal(x: Any, n: int) -> np.ndarray:
    """A signal of n nodes, (n,) or (n, k), as a contiguous array of float32 or float64."""
    signal = np.asarray(x)
    if signal.ndim not in (1, 2) or signal.shape[0] != n:
        raise ValueError(f"x has shape {signal.shape}, but the graph has {n} nodes; it must be ({n},) or ({n}, k)")
    if signal.dtype.kind not in "fiub":
        raise ValueError(f"x has entries of type {signal.dtype}; signals are real numbers")
    if signal.dtype not in (np.float32, np.float64):
        signal = signal.astype(np.float64)
    if not np.isfinite(signal).all():
        raise ValueError("x has entries that are not finite: fill or drop them before filtering")
    return np.ascontiguousarray(signal)


def check_orders(p: int, q: int, samples: int) -> None:
    """Whole numbers p >= 1, q >= 0 up to the largest order, and enough samples to tell the coefficients apart."""
    for name, value, least in (("p", p, 1), ("q", q, 0)):
        if not isinstance(value, int | np.integer) or not least <= value <= LARGEST_ORDER:
            raise ValueError(f"{name}={value!r} must be a whole number from {least} to {LARGEST_ORDER}")
    if not isinstance(samples, int | np.integer) or samples <= p + q + 1:
        raise ValueError(f"samples={samples!r} must be a whole number above p + q + 1 = {p + q + 1}")


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """One of the choices, or an error that lists them."""
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."

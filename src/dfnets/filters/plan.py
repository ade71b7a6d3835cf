"""Before the work: which method, in which precision, at what cost; and the work itself, in groups of columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dfnets.filters.products import Products
from dfnets.filters.rounding import unit
from dfnets.shift import Shift

if TYPE_CHECKING:
    from dfnets.filters.base import Filter

SMALLEST_TOLERANCE = 1e-13
MOST_PRODUCTS = 50_000
# Entries of the shift times columns that one core gets through in about a second, for the warning about long work.
ENTRIES_PER_SECOND = 5e8
LONG_SECONDS = 120
# The part of a tolerance that rounding may take; the method gets what is left of it.
SHARE = 0.75


@dataclass(frozen=True)
class Cost:
    """What a method needs for a tolerance: its own iterations, and products with the shift in all."""

    iterations: int
    products: int


@dataclass(frozen=True)
class Applied:
    """A filtered signal and how it came about.

    Attributes:
        signal: same shape and dtype as the input.
        method: the one that was used.
        iterations, products: what it took, products counted for one pass over all columns.
        error: the bound on norm(y - y*) / norm(x) of each column, rounding included.
        proved: whether that bound is proved. It is not for a response that is an arbitrary Python function, which may
            do anything between the samples.
    """

    signal: np.ndarray
    method: str
    iterations: int
    products: int
    error: float
    proved: bool = True


# The methods that know beforehand how many products they take, and never look at a signal's norm.
WITHOUT_NORMS = frozenset({"chebyshev", "recursion"})


@dataclass(frozen=True)
class Plan:
    """The method, the type to compute in, and how much of the tolerance rounding may take."""

    method: str
    cost: Cost
    dtype: np.dtype
    rounding: float


def chosen(f: Filter, method: str, shift: Shift, dtype: np.dtype, tol: float, *, fixed: bool = False) -> Plan:
    """The plan with the fewest products that holds the tolerance in floating point.

    Args:
        dtype: of the signal. Float32 is computed in float32 where that is good enough, in float64 otherwise.
        fixed: a number of iterations is given, so that no tolerance needs to be held.
    """
    costs = dict(f.costs(tol, shift.interval))
    if shift.exchange is not None:
        # A norm over one process's nodes is not the norm of the signal.
        costs |= {
            name: "it needs norms of whole signals, which many processes share"
            for name in costs
            if name not in WITHOUT_NORMS
        }
    possible = {name: cost for name, cost in costs.items() if isinstance(cost, Cost)}
    if method != "auto" and method not in costs:
        raise ValueError(f"method={method!r} is not one of 'auto', {', '.join(map(repr, costs))}")
    if method != "auto" and method not in possible:
        raise ValueError(f"{f!r} cannot be applied by {method}: {costs[method]}")
    # A direct method factorises instead of multiplying; its products do not tell what it costs.
    names = sorted(possible.keys() - f.direct, key=lambda name: possible[name].products)
    if method == "auto" and not names:
        raise ValueError(f"{f!r} cannot be applied: " + "; ".join(f"{name}: {why}" for name, why in costs.items()))
    lost = {}
    for name in names if method == "auto" else [method]:
        units = f.rounding(name, shift, tol)
        for kind in (np.dtype(np.float32), np.dtype(np.float64)):
            if kind == np.float32 and dtype != np.float32:
                continue
            # A float64 result of a float32 signal is rounded once more, on its way out.
            last = unit(dtype) * f.gain(shift.interval) if dtype != kind else 0.0
            lost[name] = units * unit(kind) + last
            if fixed or (lost[name] <= SHARE * tol and _reaches(f, name, shift, tol - lost[name])):
                return Plan(name, possible[name], kind, lost[name])
    least = min(lost.values())
    best = min(lost, key=lambda name: lost[name])
    raise ValueError(
        f"tol={tol:g} cannot be held in floating point: with {best} rounding alone may reach {least:.2g} for "
        f"{dtype} signals on this graph; the smallest tolerance is about {1.1 * least / SHARE:.2g}"
        + (", or less for float64 signals" if dtype == np.float32 else "")
    )


def _reaches(f: Filter, method: str, shift: Shift, tol: float) -> bool:
    """Whether a method holds what rounding leaves of a tolerance: a response known to 1e-13 has no expansion below."""
    return isinstance(f.costs(tol, shift.interval)[method], Cost)


def carry_out(
    f: Filter,
    shift: Shift,
    columns: np.ndarray,
    tol: float,
    method: str,
    iterations: int | None,
    max_products: int,
    progress: Callable[[int, int], None] | None,
) -> Applied:
    """Choose, check the cost, and filter (n, k) columns."""
    if columns.size == 0:
        return Applied(columns.copy(), method, 0, 0, 0.0)
    plan = chosen(f, method, shift, columns.dtype, tol, fixed=iterations is not None)
    if iterations is None:
        _check_work(f, plan, shift, columns, tol, max_products)
    # Where float64 is needed for float32 signals: an eighth of the columns at a time, so that the work arrays take less
    # room than one signal does.
    blocks = 8 if plan.dtype != columns.dtype else f.blocks(plan.method)
    width = max(1, -(-columns.shape[1] // blocks))
    whole = width >= columns.shape[1] and plan.dtype == columns.dtype
    y = columns if whole else np.empty_like(columns)
    most, count, error = 0, 0, 0.0
    starts = range(0, columns.shape[1], width)
    for number, start in enumerate(starts):
        products = Products(shift, _reporter(progress, plan.cost.products, number, len(starts)))
        block = columns if whole else np.ascontiguousarray(columns[:, start : start + width], dtype=plan.dtype)
        result, done, bound = f.run(plan.method, products, block, tol - plan.rounding, iterations)
        if whole:
            y = result
        else:
            y[:, start : start + width] = result
        most, count, error = max(most, done), max(count, products.count), max(error, bound)
    return Applied(y, plan.method, most, count, error + plan.rounding, f.tail(shift.interval) is not None)


def _reporter(
    progress: Callable[[int, int], None] | None, products: int, number: int, of: int
) -> Callable[[int], None] | None:
    if progress is None:
        return None
    return lambda count: progress(min(number * products + count, of * products), of * products)


def _check_work(f: Filter, plan: Plan, shift: Shift, columns: np.ndarray, tol: float, max_products: int) -> None:
    """Refuse what would take too many products, warn of what would take long, and name the cheaper way."""
    needed = plan.cost.products
    others = {name: cost.products for name, cost in f.costs(tol, shift.interval).items() if isinstance(cost, Cost)}
    cheapest = min(others, key=lambda name: others[name])
    cheaper = ""
    if others[cheapest] < needed:
        cheaper = f"; method={cheapest!r} needs {others[cheapest]:,}"
    if needed > max_products:
        raise ValueError(
            f"{plan.method} needs {needed:,} products with the shift for tol={tol:g}, above max_products="
            f"{max_products:,}{cheaper}; a larger tol or max_products allows it"
        )
    seconds = needed * (len(shift.indices) + 4.0 * shift.num_nodes) * columns.shape[1] / ENTRIES_PER_SECOND
    if seconds > LONG_SECONDS:
        warnings.warn(
            f"{needed:,} products with {len(shift.indices):,} entries and {columns.shape[1]} columns may take about "
            f"{seconds / 60:.0f} minutes{cheaper}",
            stacklevel=4,
        )

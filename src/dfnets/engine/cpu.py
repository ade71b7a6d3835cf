"""The back end for CPUs: Numba kernels on NumPy arrays, shared out in pieces of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dfnets.engine import kernels, threads
from dfnets.engine.operator import Operator
from dfnets.shift import Shift

# Parts of an inner product, fixed so that the order of its sum is.
PARTS = 256
# Bytes of a row of signals up to which the rows are taken by length.
ORDERED = 16
# Bytes of a signal that a chain works on at once: about what the second-level cache of a core holds, or a bit more.
NEAR = 1 << 20
# Arrays of size 0 stand for absent signals: None would be another type, hence another compilation.
_ABSENT = {
    np.dtype(dtype): (np.empty((0, 0), dtype=dtype), np.empty((0, 0, 0), dtype=dtype))
    for dtype in (np.float32, np.float64)
}
_NO_ORDER = np.empty(0, dtype=np.int32)


def step(
    operator: Operator,
    weights: np.ndarray,
    x: np.ndarray,
    y: np.ndarray | None,
    z: np.ndarray | None,
    out: np.ndarray | None,
    u: np.ndarray | None,
    first: bool = False,
) -> None:
    _run(operator, weights.reshape(1, -1), x, y, z, out, None, u, first, -1)


def walk(
    operator: Operator,
    weights: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray | None,
    out: np.ndarray,
    spare: np.ndarray | None,
    recurrent: int,
) -> None:
    """A step for each row of weights, the last one first, in one call: see :func:`kernels.step`."""
    _run(operator, weights, x, y, z, out, spare, None, False, recurrent)


def small_step(
    entries: int,
    values: np.ndarray | None,
    diagonal: np.ndarray | None,
    centre: float,
    schedule: tuple[np.ndarray, ...],
    shape: tuple[int, ...],
    dtype: np.dtype,
) -> Callable[..., np.ndarray] | None:
    """small(shift, x, scale, y, beta) = scale L~ x + beta y for x and y of that shape; None where threads would help.

    Everything that does not change from call to call is looked up here. Where ``values`` and ``diagonal`` are None they
    are the shift's own, which must not be held on to.
    """
    columns = shape if len(shape) == 2 else (*shape, 1)
    n, k = columns
    width = k * dtype.itemsize
    if threads.worth_waking(_nanoseconds(entries, n, width)):
        return None
    kernel, number = kernels.step_for(k, dtype.itemsize), dtype.type(centre)
    order = schedule[0] if schedule and width <= ORDERED else _NO_ORDER
    signal, stack = _ABSENT[dtype]
    ones, stacked = np.ones((1, 3), dtype), (1, *columns)

    def small(shift: Shift, x: np.ndarray, scale: float, y: np.ndarray | None, beta: float) -> np.ndarray:
        out = np.empty(shape, dtype)
        kernel(
            shift.indptr,
            shift.indices,
            shift.values if values is None else values,
            shift.diagonal if diagonal is None else diagonal,
            number,
            order,
            ones if scale == 1.0 == beta else np.array([[scale, 0.0, beta]], dtype),
            x.reshape(columns),
            stack if y is None else y.reshape(stacked),
            signal,
            out.reshape(columns),
            signal,
            stack,
            False,
            -1,
            np.zeros(9, np.int64),
            1,
        )
        return out

    return small


def _run(
    operator: Operator,
    weights: np.ndarray,
    x: np.ndarray,
    y: np.ndarray | None,
    z: np.ndarray | None,
    out: np.ndarray | None,
    spare: np.ndarray | None,
    u: np.ndarray | None,
    first: bool,
    recurrent: int,
) -> None:
    indptr, indices, values, diagonal, centre, schedule = operator
    k, dtype = x.shape[1], x.dtype
    width = k * dtype.itemsize
    signal, stack = _ABSENT[dtype]
    threads.run(
        kernels.step_for(k, dtype.itemsize),
        indptr,
        indices,
        values,
        diagonal,
        dtype.type(centre),
        schedule[0] if schedule and width <= ORDERED else _NO_ORDER,
        weights,
        x,
        stack if y is None else y,
        signal if z is None else z,
        signal if out is None else out,
        signal if spare is None else spare,
        stack if u is None else u,
        first,
        recurrent,
        nanoseconds=_nanoseconds(len(indices), len(diagonal), width),
        steps=len(weights),
    )


def _nanoseconds(entries: int, n: int, width: int) -> float:
    """What a step of ``width`` bytes a row takes, roughly: one for an entry, and one for 30 bytes of its row."""
    return (entries + 3 * n) * (1 + width / 30)


def variant(operator: Operator, k: int, itemsize: int) -> str:
    """In words, what a step on signals of k columns is computed by: for a benchmark."""
    n = len(operator.diagonal)
    count = threads.threads_for(_nanoseconds(len(operator.indices), n, k * itemsize))
    words = "1 thread" if count == 1 else f"{count} threads"
    return words + (", rows by length" if operator.schedule and k * itemsize <= ORDERED else "")


def combine(weights: np.ndarray, y: np.ndarray, z: np.ndarray | None, out: np.ndarray) -> None:
    # A step with the identity: one pass over the signals, and no kernel of its own to compile.
    n = len(out)
    nothing = np.empty(0, out.dtype)
    identity = Operator(np.zeros(n + 1, np.int32), np.empty(0, np.int32), nothing, np.ones(n, out.dtype), 0.0)
    factors = np.concatenate([weights[2:3], weights[1:2], weights[3 : 2 + len(y)]])
    step(identity, factors, y[0], y[1:] if len(y) > 1 else None, z, out, None)


def inner(x: np.ndarray, y: np.ndarray) -> Any:
    sums = np.empty(PARTS)
    threads.run(kernels.inner, x.ravel(), y.ravel(), sums, nanoseconds=x.size * x.itemsize / 10)
    return sums.sum()


def columns_at_once(signal: np.ndarray) -> int:
    """So many that a signal of theirs stays in a cache near the core from one product to the next.

    All of them where the whole signal hardly leaves that cache, or where even 16 columns do not fit.
    """
    n, k = signal.shape[-2:]
    if n * k * signal.itemsize <= 2 * NEAR:
        return k
    fitting = NEAR // (n * signal.itemsize)
    for block in (256 // signal.itemsize, 64 // signal.itemsize):
        if fitting >= block:
            return min(k, fitting // block * block)
    return k


def empty(like: np.ndarray, *shape: int) -> np.ndarray:
    return np.empty(shape, dtype=like.dtype)


def zeros(like: np.ndarray, *shape: int) -> np.ndarray:
    return np.zeros(shape, dtype=like.dtype)

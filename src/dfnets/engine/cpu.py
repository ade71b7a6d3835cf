"""The back end for CPUs: Numba kernels on NumPy arrays, shared out in pieces of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from dfnets.engine import kernels, threads
from dfnets.engine.operator import Operator

# Parts of an inner product, fixed so that the order of its sum is.
PARTS = 256
# Bytes of a row of signals up to which the rows are taken by length.
ORDERED = 16
# Bytes of a signal that a chain works on at once: about what the second-level cache of a core holds, or a bit more.
NEAR = 1 << 20
# Arrays of size 0 stand for absent signals: None would be another type, hence another compilation.
_NO_SIGNAL = {np.dtype(dtype): np.empty((0, 0), dtype=dtype) for dtype in (np.float32, np.float64)}
_NO_ORDER = np.empty(0, dtype=np.int32)
_NO_STACK = {np.dtype(dtype): np.empty((0, 0, 0), dtype=dtype) for dtype in (np.float32, np.float64)}


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
    indptr, indices, values, diagonal, centre, schedule = operator
    n, k = len(diagonal), x.shape[1]
    dtype = x.dtype
    signal, stack = _NO_SIGNAL[dtype], _NO_STACK[dtype]
    kernel = kernels.step_for(k, dtype.itemsize)
    ordered = schedule and k * dtype.itemsize <= ORDERED
    threads.run(
        kernel,
        indptr,
        indices,
        values,
        diagonal,
        dtype.type(centre),
        schedule[0] if ordered else _NO_ORDER,
        weights,
        x,
        stack if y is None else y,
        signal if z is None else z,
        signal if out is None else out,
        stack if u is None else u,
        first,
        nanoseconds=_nanoseconds(len(indices), n, k * dtype.itemsize),
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

"""The back end for CPUs: Numba kernels on NumPy arrays, in parallel over rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np

from dfnets.engine import kernels
from dfnets.engine.operator import Operator


def step(
    operator: Operator,
    weights: np.ndarray,
    x: np.ndarray,
    y: np.ndarray | None,
    z: np.ndarray | None,
    out: np.ndarray | None,
    u: np.ndarray | None,
    v: np.ndarray | None,
) -> None:
    # An array of size 0 stands for an absent signal: None would be another type, hence another compilation.
    absent = np.empty((0, 0), dtype=x.dtype)
    y, z, out, u, v = (absent if signal is None else signal for signal in (y, z, out, u, v))
    indptr, indices, values, diagonal, centre = operator
    kernel = kernels.step_for(x.shape[1], x.itemsize)
    with _threads(len(indices) + len(diagonal)):
        kernel(indptr, indices, values, diagonal, x.dtype.type(centre), weights, x, y, z, out, u, v)


def combine(a: Any, x: np.ndarray, b: Any, y: np.ndarray | None, out: np.ndarray) -> None:
    number = x.dtype.type
    if y is None:
        np.multiply(x, number(a), out=out)
    else:
        with _threads(x.size):
            kernels.combine(number(a), x.ravel(), number(b), y.ravel(), out.ravel())


def inner(x: np.ndarray, y: np.ndarray) -> Any:
    with _threads(x.size):
        return kernels.inner(x.ravel(), y.ravel()).sum()


def empty_like(x: np.ndarray) -> np.ndarray:
    return np.empty_like(x)


def zeros(like: np.ndarray, *shape: int) -> np.ndarray:
    return np.zeros(shape, dtype=like.dtype)


@contextmanager
def _threads(work: int) -> Iterator[None]:
    """As many threads as set, but one where the work is one piece.

    A parallel loop wakes all its threads, whatever there is to do: microseconds, and milliseconds on a busy CPU.
    """
    if work >= kernels.PIECE:
        yield
        return
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(threads)

"""Filters on signals that are larger than memory: some columns at a time, from one file into another."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from dfnets.atomic import replacing
from dfnets.filters import Filter
from dfnets.graph import Graph
from dfnets.inputs import regular_file
from dfnets.shift import Shift

# A column takes about this many vectors of n while it is filtered: itself, its result, and what the recurrence holds.
VECTORS = 8


def apply_in_blocks(
    filter: Filter,
    graph: Graph | Shift,
    source: str | PathLike[str],
    target: str | PathLike[str],
    *,
    memory: int = 2 * 2**30,
    **options: Any,
) -> None:
    """Filters the columns of a .npy file into another: :meth:`Filter.apply`, with as many columns at a time as fit.

    Together with :meth:`dfnets.Graph.open` neither the graph nor the signals have to fit into memory; a few columns do.
    The numbers are those of ``apply`` on the same columns.

    Args:
        source: (n,) or (n, k) numbers, row i for node i.
        target: gets the same shape, in the precision of ``source``, single or double.
        memory: bytes for the columns that are worked on at the same time.
        options: as in :meth:`Filter.apply`: ``tol``, ``method``.
    """
    source, target = regular_file(source), Path(target)
    try:
        signals = np.load(source, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{source} is not a plain .npy array: {error}") from None
    shift = graph if isinstance(graph, Shift) else filter.shift_of(graph)
    n = shift.num_nodes
    if signals.ndim not in (1, 2) or len(signals) != n or signals.dtype.kind not in "fiub":
        raise ValueError(
            f"{source} has shape {signals.shape} and type {signals.dtype}; signals are numbers, ({n},) or ({n}, k)"
        )
    dtype = signals.dtype if signals.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    with replacing(target) as temporary:
        out = np.lib.format.open_memmap(temporary, mode="w+", dtype=dtype, shape=signals.shape)
        for columns in _blocks(signals.reshape(n, -1).shape[1], memory // (VECTORS * n * dtype.itemsize)):
            block = np.ascontiguousarray(signals.reshape(n, -1)[:, columns], dtype=dtype)
            out.reshape(n, -1)[:, columns] = filter.apply(shift, block, **options)
        out.flush()


def _blocks(count: int, size: int) -> Iterator[slice]:
    size = max(size, 1)
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))

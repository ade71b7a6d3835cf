"""The engine on NumPy arrays: input is checked and brought into form here, and trusted by chains and back ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dfnets.engine import backends, chain, operator
from dfnets.shift import Shift


def step(
    shift: Shift,
    x: np.ndarray,
    *,
    scale: float,
    y: np.ndarray | None,
    beta: float,
    z: np.ndarray | None,
    delta: float,
    out: np.ndarray | None,
    backend: str | None,
) -> np.ndarray:
    for name, signal in (("x", x), ("y", y), ("z", z), ("out", out)):
        _check(name, signal, shift, x)
    if out is not None and not out.flags.writeable:
        raise ValueError("out is read-only: pass an array that may be written, or leave it out")
    if out is not None and np.shares_memory(out, x):
        raise ValueError(
            "out shares memory with x: rows of x are read after rows of out are written; pass another array"
        )
    result = out if out is not None and out.flags.c_contiguous else np.empty(x.shape, dtype=x.dtype)
    weights = np.array([scale, beta, delta, 0, 0], dtype=x.dtype)
    x, y, z = (_columns(signal, result) for signal in (x, y, z))
    plain = operator.arrays(shift, x.dtype)
    backends.get(backend, "cpu").step(plain, weights, x, y, z, result.reshape(len(x), -1), None, None)
    if out is None or out is result:
        return result
    out[...] = result
    return out


def horner(
    shift: Shift,
    Z: np.ndarray,
    Y: np.ndarray | None,
    phi: Sequence[float] | np.ndarray,
    psi: Sequence[float] | np.ndarray | None,
    *,
    backend: str | None,
) -> np.ndarray:
    if Y is not None:
        dtype = np.result_type(Z, Y)
        Z, Y = Z.astype(dtype, copy=False), Y.astype(dtype, copy=False)
    for name, signal in (("Z", Z), ("Y", Y)):
        _check(name, signal, shift, Z)
    signals = [np.ascontiguousarray(_columns(signal)) for signal in (Z, Y) if signal is not None]
    rows = [np.asarray(phi, dtype=np.float64)]
    if Y is not None:
        rows.append(np.concatenate([[0.0], -np.asarray(psi, dtype=np.float64)]))
    degrees = [len(row) - 1 for row in rows]
    table = np.zeros((len(rows), max(degrees) + 1))
    for s, row in enumerate(rows):
        table[s, : len(row)] = row
    plain = operator.arrays(shift, Z.dtype)
    return chain.horner(backends.get(backend, "cpu"), plain, signals, table, degrees).reshape(Z.shape)


def _check(name: str, signal: Any, shift: Shift, x: np.ndarray) -> None:
    if signal is None:
        return
    if not isinstance(signal, np.ndarray) or signal.dtype not in (np.float32, np.float64) or signal.dtype != x.dtype:
        kind = getattr(signal, "dtype", type(signal).__name__)
        raise ValueError(f"{name} is of type {kind}; signals are NumPy arrays, all float32 or all float64")
    if signal.ndim not in (1, 2) or len(signal) != shift.num_nodes or signal.shape != x.shape:
        n = shift.num_nodes
        raise ValueError(
            f"{name} has shape {signal.shape}; the graph has {n} nodes, and signals are ({n},) or ({n}, k)"
        )


def _columns(signal: Any, result: np.ndarray | None = None) -> Any:
    """The signal as a C-contiguous (n, k) array; a copy where it needs one, or where it overlaps the result askew."""
    if signal is None:
        return None
    askew = result is not None and np.may_share_memory(signal, result) and signal.ctypes.data != result.ctypes.data
    return np.array(signal, order="C", copy=True if askew else None).reshape(len(signal), -1)

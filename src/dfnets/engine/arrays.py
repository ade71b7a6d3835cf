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
    plain = z is None and out is None and backend is None
    if plain and (small := operator.recalled(shift, x)) is not None and _ready(x, x) and (y is None or _ready(y, x)):
        return small(shift, x, scale, y, beta)
    _check("x", x, shift, x)
    shape = x.shape if x.ndim == 2 else (len(x), 1)
    result = np.empty(x.shape, x.dtype) if out is None else _result(out, x, shift)
    factors, stack, other = [scale, delta], None, None
    if y is not None:
        _check("y", y, shift, x)
        factors.append(beta)
        stack = _columns(y, out).reshape(1, *shape)
    if z is not None:
        _check("z", z, shift, x)
        other = _columns(z, out).reshape(shape)
    signal = x if x.flags.c_contiguous else np.ascontiguousarray(x)
    native, kernels = operator.arrays(shift, x.dtype), backends.of(shift, backend)
    weights = np.array(factors, x.dtype)
    kernels.step(native, weights, signal.reshape(shape), stack, other, result.reshape(shape), None)
    if plain:
        operator.recall(shift, x, kernels)
    if out is None or out is result:
        return result
    out[...] = result
    return out


def _result(out: np.ndarray, x: np.ndarray, shift: Shift) -> np.ndarray:
    """Where the result is computed: ``out`` itself if it is contiguous."""
    _check("out", out, shift, x)
    if not out.flags.writeable:
        raise ValueError("out is read-only: pass an array that may be written, or leave it out")
    if np.may_share_memory(out, x) and np.shares_memory(out, x):
        raise ValueError(
            "out shares memory with x: rows of x are read after rows of out are written; pass another array"
        )
    return out if out.flags.c_contiguous else np.empty(x.shape, dtype=x.dtype)


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
    signals = [_stack(signal) for signal in (Z, Y) if signal is not None]
    rows = [np.asarray(phi, dtype=np.float64)]
    if Y is not None:
        rows.append(np.concatenate([[0.0], -np.asarray(psi, dtype=np.float64)]))
    degrees = [len(row) - 1 for row in rows]
    table = np.zeros((len(rows), max(degrees) + 1))
    for s, row in enumerate(rows):
        table[s, : len(row)] = row
    plain = operator.arrays(shift, Z.dtype)
    kernels = backends.of(shift, backend)
    return chain.polynomial(kernels, plain, "power", 1.0, signals, table, degrees).reshape(Z.shape)


def clenshaw(shift: Shift, scale: float, X: np.ndarray, coefficients: np.ndarray, *, backend: str | None) -> np.ndarray:
    _check_stack(X, shift)
    plain = operator.arrays(shift, X.dtype)
    stack = _stack(X) if X.ndim < 3 else np.ascontiguousarray(X)
    degrees = [coefficients.shape[1] - 1] * len(coefficients)
    result = chain.polynomial(backends.of(shift, backend), plain, "chebyshev", scale, [stack], coefficients, degrees)
    return result.reshape(X.shape[-2:] if X.ndim == 3 else X.shape)


def analysis(shift: Shift, scale: float, x: np.ndarray, coefficients: np.ndarray, *, backend: str | None) -> np.ndarray:
    _check("x", x, shift, x)
    plain, kernels = operator.arrays(shift, x.dtype), backends.of(shift, backend)
    degrees = [coefficients.shape[1] - 1] * len(coefficients)
    sums, _ = chain.adjoint(kernels, plain, "chebyshev", scale, _stack(x)[0], coefficients, [], degrees)
    return sums.reshape(len(coefficients), *x.shape)


def _check(name: str, signal: Any, shift: Shift, x: np.ndarray) -> None:
    if signal is None or (signal is not x and type(signal) is type(x) and _alike(signal, x)):
        return  # x has been checked
    if not isinstance(signal, np.ndarray) or signal.dtype != x.dtype or signal.dtype.char not in "fd":
        kind = getattr(signal, "dtype", type(signal).__name__)
        raise ValueError(f"{name} is of type {kind}; signals are NumPy arrays, all float32 or all float64")
    n = shift.num_nodes
    if signal.ndim not in (1, 2) or len(signal) != n or signal.shape != x.shape:
        raise ValueError(
            f"{name} has shape {signal.shape}; the graph has {n} nodes, and signals are ({n},) or ({n}, k)"
        )


def _alike(first: np.ndarray, second: np.ndarray) -> bool:
    return first.dtype is second.dtype and first.shape == second.shape


def _check_stack(X: np.ndarray, shift: Shift) -> None:
    for signal in X if X.ndim == 3 else [X]:
        _check("X", signal, shift, signal)


def _stack(signal: np.ndarray) -> np.ndarray:
    """A signal (n,) or (n, k) as a contiguous stack (1, n, k)."""
    return np.ascontiguousarray(signal).reshape(1, len(signal), -1)


def _ready(signal: Any, x: np.ndarray) -> bool:
    """Whether a signal needs neither a check nor a copy, where x is known to be of the right kind."""
    return (
        type(signal) is np.ndarray and signal.dtype is x.dtype and signal.shape == x.shape and signal.flags.c_contiguous
    )


def _columns(signal: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    """The signal in C order; a copy where it needs one, or where it overlaps the place of the result askew."""
    if out is not None and np.may_share_memory(signal, out) and signal.ctypes.data != out.ctypes.data:
        return np.array(signal, order="C", copy=True)
    return signal if signal.flags.c_contiguous else np.ascontiguousarray(signal)

"""The engine on torch tensors, of the CPU or another device: input is checked and brought into form here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

from dfnets.engine import arrays, autograd, backends, operator
from dfnets.shift import Shift

_ARRAYS = {torch.float32: np.dtype(np.float32), torch.float64: np.dtype(np.float64)}
DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


def step(
    shift: Shift,
    x: Tensor,
    *,
    scale: float,
    y: Tensor | None,
    beta: float,
    z: Tensor | None,
    delta: float,
    out: Tensor | None,
    backend: str | None,
) -> Tensor:
    if (plain := _plain(x, y, z, out)) is not None:
        a, b, c, into = plain
        total = arrays.step(shift, a, scale=scale, y=b, beta=beta, z=c, delta=delta, out=into, backend=backend)
        return torch.from_numpy(total) if out is None else out
    for name, signal in (("x", x), ("y", y), ("z", z), ("out", out)):
        _check(name, signal, shift, x)
    if torch.is_grad_enabled() and any(s is not None and s.requires_grad for s in (x, y, z, out)):
        if out is not None:
            raise ValueError("out is given, but gradients are wanted: leave it out, or work under torch.no_grad()")
        result = horner(shift, x, None, (0.0, scale), None, backend=backend)
        return sum((factor * s for factor, s in ((beta, y), (delta, z)) if s is not None), start=result)
    if x.device.type == "cpu":
        wide = _sums(x.dtype)
        views: list[Any] = [None if s is None else s.detach().to(wide).numpy() for s in (x, y, z)]
        into = out.detach().numpy() if out is not None and out.dtype == wide else None
        total = arrays.step(
            shift, views[0], scale=scale, y=views[1], beta=beta, z=views[2], delta=delta, out=into, backend=backend
        )
        result = torch.from_numpy(total).to(x.dtype)
        return result if out is None else out if into is not None else out.copy_(result)
    return _step_on_device(shift, x, (scale, beta, delta), y, z, out, backend)


def horner(
    shift: Shift,
    Z: Tensor,
    Y: Tensor | None,
    phi: Sequence[float] | Tensor,
    psi: Sequence[float] | Tensor | None,
    *,
    backend: str | None,
) -> Tensor:
    if Y is not None:
        dtype = torch.promote_types(Z.dtype, Y.dtype)
        Z, Y = Z.to(dtype), Y.to(dtype)
    if (plain := _plain(Z, Y)) is not None:
        first, second = (None if row is None else _numbers(row, plain[0].dtype) for row in (phi, psi))
        if first is not None and (psi is None or second is not None):
            return torch.from_numpy(arrays.horner(shift, plain[0], plain[1], first, second, backend=backend))
    for name, signal in (("Z", Z), ("Y", Y)):
        _check(name, signal, shift, Z)
    signals = [signal.reshape(1, shift.num_nodes, -1) for signal in (Z, Y) if signal is not None]
    rows = [_coefficients(phi, Z)]
    if Y is not None:
        rows.append(torch.nn.functional.pad(-_coefficients(psi, Z), (1, 0)))
    degrees = [len(row) - 1 for row in rows]
    table = torch.stack([torch.nn.functional.pad(row, (0, max(degrees) + 1 - len(row))) for row in rows])
    graph, backend = _graph(shift, Z, table), backends.named(shift, backend)
    return autograd.polynomial(graph, shift.centre, "power", 1.0, signals, table, degrees, backend).reshape(Z.shape)


def clenshaw(shift: Shift, scale: float, X: Tensor, coefficients: Any, *, backend: str | None) -> Tensor:
    if (plain := _plain(X)) is not None and (numbers := _numbers(coefficients, plain[0].dtype)) is not None:
        return torch.from_numpy(arrays.clenshaw(shift, scale, plain[0], numbers, backend=backend))
    for signal in X if X.ndim == 3 else [X]:
        _check("X", signal, shift, signal)
    table = _table(coefficients, X)
    stack = X if X.ndim == 3 else X.reshape(1, shift.num_nodes, -1)
    degrees = [table.shape[1] - 1] * len(table)
    graph, backend = _graph(shift, X, table), backends.named(shift, backend)
    result = autograd.polynomial(graph, shift.centre, "chebyshev", scale, [stack], table, degrees, backend)
    return result.reshape(X.shape[1:] if X.ndim == 3 else X.shape)


def analysis(shift: Shift, scale: float, x: Tensor, coefficients: Any, *, backend: str | None) -> Tensor:
    if (plain := _plain(x)) is not None and (numbers := _numbers(coefficients, plain[0].dtype)) is not None:
        return torch.from_numpy(arrays.analysis(shift, scale, plain[0], numbers, backend=backend))
    _check("x", x, shift, x)
    table = _table(coefficients, x)
    degrees = [table.shape[1] - 1] * len(table)
    graph, backend = _graph(shift, x, table), backends.named(shift, backend)
    signal = x.reshape(shift.num_nodes, -1)
    sums, _ = autograd.adjoint(graph, shift.centre, "chebyshev", scale, signal, table, [], degrees, backend)
    return sums.reshape(len(table), *x.shape)


def _plain(x: Tensor, *others: Any) -> list[Any] | None:
    """The tensors as NumPy arrays where nobody but the engine has a part in the call, else None.

    Nobody has where they are of one shape, of one dtype that NumPy knows, on the CPU, and where no gradient, compiler
    or transformation of torch follows what becomes of them. Small graphs gain by it: an operator of torch's takes as
    long as dozens of products with them.
    """
    dtype, shape, learns = x.dtype, x.shape, torch.is_grad_enabled()
    if dtype not in _ARRAYS or _followed():
        return None
    for signal in (x, *others):
        if signal is None:
            continue
        if type(signal) is not Tensor or signal.dtype is not dtype or signal.shape != shape or not signal.is_cpu:
            return None
        if learns and signal.requires_grad:
            return None
    try:
        return [
            None if signal is None else signal.detach().numpy() if signal.requires_grad else signal.numpy()
            for signal in (x, *others)
        ]
    except RuntimeError:  # inside torch.func a tensor may have no memory of its own
        return None


def _followed() -> bool:
    """Whether torch watches what is called: while it compiles, in forward mode, under a mode that sees every call."""
    return torch.compiler.is_compiling() or getattr(forward_ad, "_current_level", 0) >= 0 or _modes() > 0


# Where a later torch has no such function, its own operators are called.
_modes = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 1)


def _numbers(coefficients: Any, dtype: np.dtype) -> np.ndarray | None:
    """Coefficients as an array of that dtype; None where they have a gradient or are on another device."""
    if isinstance(coefficients, Tensor):
        if not coefficients.is_cpu or (coefficients.requires_grad and torch.is_grad_enabled()):
            return None
        coefficients = coefficients.detach().numpy()
    return np.asarray(coefficients, dtype=dtype)


def _graph(shift: Shift, signal: Tensor, table: Tensor) -> list[Tensor]:
    if torch.compiler.is_compiling():
        from dfnets.engine.compiled import constant_graph

        return constant_graph(id(shift), signal.device, table.dtype)
    return operator.tensors(shift, signal.device, table.dtype).parts()


def _step_on_device(
    shift: Shift,
    x: Tensor,
    factors: tuple[float, float, float],
    y: Tensor | None,
    z: Tensor | None,
    out: Tensor | None,
    backend: str | None,
) -> Tensor:
    if out is not None and _overlap(out, x):
        raise ValueError("out shares memory with x: rows of x are read after rows of out are written; pass another one")
    result = (
        out if out is not None and out.is_contiguous() else torch.empty_like(x, memory_format=torch.contiguous_format)
    )
    scale, beta, delta = factors
    weights = torch.tensor([scale, delta, beta], dtype=_sums(x.dtype), device=x.device)
    device_operator = operator.tensors(shift, x.device, weights.dtype)
    kernels = backends.get(backends.named(shift, backend), x.device.type)
    x, y, z = (_columns(signal, result) for signal in (x, y, z))
    kernels.step(device_operator, weights, x, None if y is None else y[None], z, result.view(len(x), -1), None)
    return result if out is None or out is result else out.copy_(result)


def _columns(signal: Any, result: Tensor) -> Any:
    """The signal as a contiguous (n, k) tensor; a copy where it needs one, or where it overlaps the result askew."""
    if signal is None:
        return None
    signal = signal.detach()
    if _overlap(signal, result) and signal.data_ptr() != result.data_ptr():
        signal = signal.clone()
    return signal.contiguous().view(len(signal), -1)


def _coefficients(coefficients: Any, like: Tensor) -> Tensor:
    """A vector in the precision of the sums, on the device of the signals; its gradient flows."""
    if isinstance(coefficients, Tensor):
        return coefficients.to(like.device, _sums(like.dtype))
    return torch.tensor([float(c) for c in coefficients], dtype=_sums(like.dtype), device=like.device)


def _table(coefficients: Any, like: Tensor) -> Tensor:
    """The same for a (number of responses, m + 1) table."""
    if isinstance(coefficients, Tensor):
        return coefficients.to(like.device, _sums(like.dtype))
    return torch.as_tensor(coefficients, dtype=_sums(like.dtype)).to(like.device, non_blocking=True)


def _sums(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


def _overlap(first: Tensor, second: Tensor) -> bool:
    """Whether the stretches of memory from first to last entry meet."""
    (a, a_end), (b, b_end) = ((t.data_ptr(), t.data_ptr() + _span(t) * t.element_size()) for t in (first, second))
    return a < b_end and b < a_end


def _span(tensor: Tensor) -> int:
    return 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


def _check(name: str, signal: Any, shift: Shift, x: Tensor) -> None:
    if signal is None:
        return
    if not isinstance(signal, Tensor) or signal.dtype not in DTYPES or signal.dtype != x.dtype:
        kind = getattr(signal, "dtype", type(signal).__name__)
        raise ValueError(
            f"{name} is of type {kind}; signals are tensors of one dtype: float32, float64 or 16-bit floats"
        )
    if signal.device != x.device:
        raise ValueError(f"{name} is on {signal.device}, another signal on {x.device}; move them to one device")
    n = shift.num_nodes
    if signal.ndim not in (1, 2) or len(signal) != n or signal.shape != x.shape:
        shape = tuple(signal.shape)
        raise ValueError(f"{name} has shape {shape}; the graph has {n} nodes, and signals are ({n},) or ({n}, k)")

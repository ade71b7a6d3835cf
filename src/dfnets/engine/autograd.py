"""The chains as torch operators ``dfnets::horner`` and ``dfnets::adjoint``, with derivatives of every order.

Write H(X, C) = sum_s sum_j C[s, j] L~^j X_s for the Horner chain, and for a signal g the adjoint chain

    S(g, C)_s = sum_j C[s, j] L~^j g,        T(g, X)_tj = <L~^j g, X_t>.

L~ is symmetric, so <g, H(X, C)> = sum_s <S(g, C)_s, X_s> = sum_sj C[s, j] T(g, X)_sj, and the derivatives close:

- of H, with the gradient g of its result: dX = S(g, C) and dC = T(g, X);
- of (S, T), with the gradients A of S and a of T: dg = H(A, C) + H(X, a), dX = S(g, a) and dC = T(g, A).

So two operators have gradients, second gradients and so on, all of them chains of the same product. What is saved for
the backward pass is C, and X where C wants a gradient.

A graph enters an operator as its tensors and its centre, so that torch sees everything the result depends on.
"""

# ruff: noqa: ARG001 - a fake kernel has the signature of its operator, whatever it reads of it.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, List  # noqa: UP035

import torch
from torch import Tensor

from dfnets.engine import backends, chain
from dfnets.engine.operator import Operator


@torch.library.custom_op("dfnets::horner", mutates_args=())
def horner(
    indptr: Tensor,
    indices: Tensor,
    values: Tensor,
    diagonal: Tensor,
    centre: float,
    signals: Sequence[Tensor],
    table: Tensor,
    degrees: Sequence[int],
    backend: str | None,
) -> Tensor:
    """H(X, C): signals of shape (n, k) and one dtype, table (s, m + 1), degrees s whole numbers of at most m."""
    kernels = backends.get(backend, signals[0].device.type)
    operator, inputs = _native(Operator(indptr, indices, values, diagonal, centre), [*signals, table])
    result = chain.horner(kernels, operator, inputs[:-1], inputs[-1], degrees)
    return torch.as_tensor(result).to(signals[0].dtype)


@torch.library.custom_op("dfnets::adjoint", mutates_args=())
def adjoint(
    indptr: Tensor,
    indices: Tensor,
    values: Tensor,
    diagonal: Tensor,
    centre: float,
    g: Tensor,
    table: Tensor,
    signals: Sequence[Tensor],
    degrees: Sequence[int],
    backend: str | None,
) -> List[Tensor]:  # noqa: UP006 - the one spelling that torch 2.6 reads
    """[*S(g, C), T(g, X)]: g and signals (n, k), table (s, m + 1), degrees those of its rows, then of the signals.

    T is (number of signals, m + 1), and 0 above a signal's degree.
    """
    kernels = backends.get(backend, g.device.type)
    operator, inputs = _native(Operator(indptr, indices, values, diagonal, centre), [g, table, *signals])
    sums, products = chain.adjoint(kernels, operator, inputs[0], inputs[1], inputs[2:], degrees)
    return [*(torch.as_tensor(total).to(g.dtype) for total in sums), torch.as_tensor(products).to(table.dtype)]


@horner.register_fake
def _(
    indptr: Tensor,
    indices: Tensor,
    values: Tensor,
    diagonal: Tensor,
    centre: float,
    signals: Sequence[Tensor],
    table: Tensor,
    degrees: Sequence[int],
    backend: str | None,
) -> Tensor:
    return signals[0].new_empty(signals[0].shape)


@adjoint.register_fake
def _(
    indptr: Tensor,
    indices: Tensor,
    values: Tensor,
    diagonal: Tensor,
    centre: float,
    g: Tensor,
    table: Tensor,
    signals: Sequence[Tensor],
    degrees: Sequence[int],
    backend: str | None,
) -> list[Tensor]:
    return [*(g.new_empty(g.shape) for _ in table), table.new_empty(len(signals), table.shape[1])]


def _native(operator: Operator, tensors: list[Tensor]) -> tuple[Operator, list[Any]]:
    """What a back end works on: contiguous tensors, and on the CPU the same memory as NumPy arrays.

    NumPy has no bfloat16, and 16-bit arithmetic is slow on most CPUs: half precision is computed in float32 there.
    """
    if operator.values.device.type != "cpu":
        return operator, [tensor.detach().contiguous() for tensor in tensors]
    wide = [tensor.detach().to(operator.values.dtype).contiguous().numpy() for tensor in tensors]
    indptr, indices, values, diagonal = (part.numpy() for part in operator[:4])
    return Operator(indptr, indices, values, diagonal, operator.centre), wide


def _save_horner(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    *graph, ctx.centre, signals, table, ctx.degrees, ctx.backend = inputs
    ctx.wanted = [s for s, signal in enumerate(signals) if signal.requires_grad]
    ctx.count = len(signals)
    ctx.save_for_backward(*graph, table, *(signals if table.requires_grad else ()))


def _differentiate_horner(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    *graph, table = ctx.saved_tensors[:5]
    signals = list(ctx.saved_tensors[5:])
    # One or two signals: the rows that are wanted are always neighbours.
    rows = slice(ctx.wanted[0], ctx.wanted[-1] + 1) if ctx.wanted else slice(0, 0)
    degrees = [*ctx.degrees[rows], *(ctx.degrees if signals else ())]
    *sums, products = adjoint(*graph, ctx.centre, g, table[rows], signals, degrees, ctx.backend)
    gradients: list[Tensor | None] = [None] * ctx.count
    gradients[rows] = sums
    return None, None, None, None, None, gradients, products if signals else None, None, None


def _save_adjoint(ctx: Any, inputs: tuple[Any, ...], output: list[Tensor]) -> None:
    *graph, ctx.centre, g, table, signals, ctx.degrees, ctx.backend = inputs
    ctx.save_for_backward(*graph, g, table, *signals)


def _differentiate_adjoint(ctx: Any, gradients: Sequence[Tensor]) -> tuple[Any, ...]:
    *graph, g, table = ctx.saved_tensors[:6]
    signals = list(ctx.saved_tensors[6:])
    *sums, products = gradients
    start = (*graph, ctx.centre)
    degrees, signal_degrees = ctx.degrees[: len(table)], ctx.degrees[len(table) :]
    dg = None
    if sums:
        dg = horner(*start, sums, table, degrees, ctx.backend)
    if signals:
        through_products = horner(*start, signals, products, signal_degrees, ctx.backend)
        dg = through_products if dg is None else dg + through_products
    *dsignals, dtable = adjoint(*start, g, products, sums, [*signal_degrees, *degrees], ctx.backend)
    return None, None, None, None, None, dg, dtable, dsignals, None, None


horner.register_autograd(_differentiate_horner, setup_context=_save_horner)
adjoint.register_autograd(_differentiate_adjoint, setup_context=_save_adjoint)

"""The chains as torch operators ``dfnets::polynomial`` and ``dfnets::adjoint``, with derivatives of every order.

Write p_j for the basis, L~^j or the Chebyshev polynomial T_j(scale L~), and H(X, C) = sum_s sum_j C[s, j] p_j X_s for
the chain of :func:`chain.polynomial`; and for a signal g the adjoint chain

    S(g, C)_s = sum_j C[s, j] p_j g,        T(g, X)_tj = <p_j g, X_t>.

L~ is symmetric, so <g, H(X, C)> = sum_s <S(g, C)_s, X_s> = sum_sj C[s, j] T(g, X)_sj, and the derivatives close:

- of H, with the gradient g of its result: dX = S(g, C) and dC = T(g, X);
- of (S, T), with the gradients A of S and a of T: dg = H(A, C) + H(X, a), dX = S(g, a) and dC = T(g, A).

So two operators have gradients, second gradients and so on, all of them chains of the same product. What is saved for
the backward pass is C, and X where C wants a gradient.

A graph enters an operator as its tensors and its centre, so that torch sees everything the result depends on. Signals
are a list of stacks (count, n, k), as in :mod:`dfnets.engine.chain`.
"""

# ruff: noqa: ARG001 - a fake kernel has the signature of its operator, whatever it reads of it.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from dfnets.engine import backends, chain
from dfnets.engine.operator import Operator


@torch.library.custom_op("dfnets::polynomial", mutates_args=())
def polynomial(
    graph: Sequence[Tensor],
    centre: float,
    basis: str,
    scale: float,
    signals: Sequence[Tensor],
    table: Tensor,
    degrees: Sequence[int],
    backend: str | None,
) -> Tensor:
    """H(X, C): stacks of S signals in all, table (S, m + 1), degrees S whole numbers of at most m; gives (n, k)."""
    kernels = backends.get(backend, signals[0].device.type)
    operator, inputs = _native(graph, centre, [*signals, table])
    result = chain.polynomial(kernels, operator, basis, scale, inputs[:-1], inputs[-1], degrees)
    return torch.as_tensor(result).to(signals[0].dtype)


@torch.library.custom_op("dfnets::adjoint", mutates_args=())
def adjoint(
    graph: Sequence[Tensor],
    centre: float,
    basis: str,
    scale: float,
    g: Tensor,
    table: Tensor,
    signals: Sequence[Tensor],
    degrees: Sequence[int],
    backend: str | None,
) -> tuple[Tensor, Tensor]:
    """(S(g, C), T(g, X)): g (n, k), table (s, m + 1), degrees those of its rows, then of the signals.

    S is (s, n, k). T is (number of signals, m + 1), and 0 above a signal's degree.
    """
    kernels = backends.get(backend, g.device.type)
    operator, inputs = _native(graph, centre, [g, table, *signals])
    sums, products = chain.adjoint(kernels, operator, basis, scale, inputs[0], inputs[1], inputs[2:], degrees)
    return torch.as_tensor(sums).to(g.dtype), torch.as_tensor(products).to(table.dtype)


@polynomial.register_fake
def _(
    graph: Sequence[Tensor],
    centre: float,
    basis: str,
    scale: float,
    signals: Sequence[Tensor],
    table: Tensor,
    degrees: Sequence[int],
    backend: str | None,
) -> Tensor:
    return signals[0].new_empty(signals[0].shape[1:])


@adjoint.register_fake
def _(
    graph: Sequence[Tensor],
    centre: float,
    basis: str,
    scale: float,
    g: Tensor,
    table: Tensor,
    signals: Sequence[Tensor],
    degrees: Sequence[int],
    backend: str | None,
) -> tuple[Tensor, Tensor]:
    count = sum(len(stack) for stack in signals)
    return g.new_empty(len(table), *g.shape), table.new_empty(count, table.shape[1])


def _native(graph: Sequence[Tensor], centre: float, tensors: list[Tensor]) -> tuple[Operator, list[Any]]:
    """What a back end works on: contiguous tensors, and on the CPU the same memory as NumPy arrays.

    NumPy has no bfloat16, and 16-bit arithmetic is slow on most CPUs: half precision is computed in float32 there.
    """
    parts: list[Any] = list(graph)
    values = graph[2]
    if values.device.type != "cpu":
        inputs: list[Any] = [tensor.detach().contiguous() for tensor in tensors]
    else:
        parts = [part.numpy() for part in parts]
        inputs = [tensor.detach().to(values.dtype).contiguous().numpy() for tensor in tensors]
    return Operator.of(parts, centre), inputs


def _save_polynomial(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    graph, ctx.centre, ctx.basis, ctx.scale, signals, table, ctx.degrees, ctx.backend = inputs
    ctx.parts = len(graph)
    ctx.wanted = [signal.requires_grad for signal in signals]
    ctx.counts = [len(signal) for signal in signals]
    ctx.save_for_backward(*graph, table, *(signals if table.requires_grad else ()))


def _differentiate_polynomial(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    graph, (table, *signals) = ctx.saved_tensors[: ctx.parts], ctx.saved_tensors[ctx.parts :]
    # One or two stacks: the rows of those that are wanted are always neighbours.
    first = 0 if ctx.wanted[0] else ctx.counts[0]
    stop = sum(ctx.counts) if ctx.wanted[-1] else ctx.counts[0]
    rows = slice(first, max(first, stop))
    degrees = [*ctx.degrees[rows], *(ctx.degrees if signals else ())]
    start = (list(graph), ctx.centre, ctx.basis, ctx.scale)
    if degrees:
        sums, products = adjoint(*start, g, table[rows], signals, degrees, ctx.backend)
    gradients: list[Tensor | None] = [None] * len(ctx.counts)
    at = 0
    for s, count in enumerate(ctx.counts):
        if ctx.wanted[s]:
            gradients[s] = sums[at : at + count]
            at += count
    return [None] * ctx.parts, None, None, None, gradients, products if signals else None, None, None


def _save_adjoint(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    graph, ctx.centre, ctx.basis, ctx.scale, g, table, signals, ctx.degrees, ctx.backend = inputs
    ctx.parts = len(graph)
    ctx.save_for_backward(*graph, g, table, *signals)


def _differentiate_adjoint(ctx: Any, sums: Tensor, products: Tensor) -> tuple[Any, ...]:
    graph, (g, table, *signals) = ctx.saved_tensors[: ctx.parts], ctx.saved_tensors[ctx.parts :]
    start = (list(graph), ctx.centre, ctx.basis, ctx.scale)
    degrees, signal_degrees = ctx.degrees[: len(table)], ctx.degrees[len(table) :]
    dg = None
    if len(sums):
        dg = polynomial(*start, [sums], table, degrees, ctx.backend)
    if signals:
        through_products = polynomial(*start, signals, products, signal_degrees, ctx.backend)
        dg = through_products if dg is None else dg + through_products
    both = [sums] if len(sums) else []
    dsignals, dtable = adjoint(*start, g, products, both, [*signal_degrees, *degrees], ctx.backend)
    counts = [len(signal) for signal in signals]
    return [None] * ctx.parts, None, None, None, dg, dtable, list(dsignals.split(counts)) if signals else [], None, None


polynomial.register_autograd(_differentiate_polynomial, setup_context=_save_polynomial)
adjoint.register_autograd(_differentiate_adjoint, setup_context=_save_adjoint)

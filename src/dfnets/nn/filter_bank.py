"""A bank of filters: several responses side by side, each with a signal of its own, summed by one chain of products."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dfnets import engine
from dfnets.filters import FeedbackLoopedFilter
from dfnets.shift import Shift


class FilterBank:
    """sum_k h_k(L^) x_k for K filters on one graph, each run to convergence.

    Every h_k is expanded in Chebyshev polynomials on the graph's interval, sum_j c_kj T_j, so that the sum over k is
    one Clenshaw recurrence b_j = 2 S b_{j+1} - b_{j+2} + sum_k c_kj x_k: as many products as the longest expansion
    has, however many filters there are. A filter of a symmetric shift is its own adjoint, so the gradient of x_k is
    h_k(L^) applied to that of the result: one more chain, and nothing is kept of the first.

    Args:
        filters: the K filters; refused if one does not serve the graph's frequencies or has a pole among them.
        shift: of the graph; may be one without symmetry, to predict only.
        tol: |h_k - its expansion| on the interval.

    Shapes: (K, n, columns) to (n, columns).
    """

    def __init__(self, filters: Sequence[FeedbackLoopedFilter], shift: Shift, *, tol: float = 1e-4) -> None:
        for one in filters:
            one.shift_of(shift)
        self.interval = low, high = shift.interval
        rows = [one.expansion(tol, self.interval).coefficients for one in filters]
        self.coefficients = np.zeros((len(rows), max(map(len, rows))))
        for k, row in enumerate(rows):
            self.coefficients[k, : len(row)] = row
        self.shift = shift.recentred((low + high) / 2)

    def subset(self, indices: Sequence[int]) -> FilterBank:
        """The bank of some of the filters only."""
        part = copy(self)
        part.coefficients = self.coefficients[list(indices)]
        return part

    @property
    def products(self) -> int:
        """With the shift, for one pass."""
        return self.coefficients.shape[1] - 1

    def __call__(self, signals: Tensor) -> Tensor:
        return _Bank.apply(self, signals)

    def clenshaw(self, signals: Tensor) -> Tensor:
        """sum_k h_k(L^) x_k, without gradient."""
        first, *others = signals
        result = self._combined(signals, self.products)
        before = torch.zeros_like(result)
        for j in range(self.products - 1, -1, -1):
            before.neg_()
            for k, other in enumerate(others, start=1):
                if self.coefficients[k, j]:
                    before.add_(other, alpha=float(self.coefficients[k, j]))
            scale = (2 if j else 1) * self._scale_to_unit
            beta = float(self.coefficients[0, j])
            engine.step(self.shift, result, scale=scale, y=first, beta=beta, z=before, out=before)
            result, before = before, result
        return result

    def apply_each(self, signal: Tensor) -> Tensor:
        """h_k(L^) x of one (n, columns) signal for every k, without gradient: (K, n, columns), by one chain too."""
        now = signal.contiguous()
        out = torch.stack([now * float(c) for c in self.coefficients[:, 0]])
        before = None
        for j in range(1, self.products + 1):
            # T_{j+1} = 2 S T_j - T_{j-1} takes the place of T_{j-1}, unless that is the signal: it is not ours.
            then = before if j > 2 else None
            scale = (2 if j > 1 else 1) * self._scale_to_unit
            before, now = now, engine.step(self.shift, now, scale=scale, y=before, beta=-1.0, out=then)
            for k, c in enumerate(self.coefficients[:, j]):
                if c:
                    out[k].add_(now, alpha=float(c))
        return out

    @property
    def _scale_to_unit(self) -> float:
        """What makes [-1, 1] of the interval."""
        low, high = self.interval
        return 2 / (high - low) if high > low else 1.0

    def _combined(self, signals: Tensor, j: int) -> Tensor:
        total = signals[0] * float(self.coefficients[0, j])
        for k, signal in enumerate(signals[1:], start=1):
            total.add_(signal, alpha=float(self.coefficients[k, j]))
        return total

    def __repr__(self) -> str:
        return f"FilterBank(filters={len(self.coefficients)}, products={self.products})"


class _Bank(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, bank: FilterBank, signals: Tensor) -> Tensor:
        ctx.bank = bank
        return bank.clenshaw(signals.contiguous())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        return None, ctx.bank.apply_each(gradient)


def restart_filter(alpha: float, *, high: bool = False) -> FeedbackLoopedFilter:
    """The feedback loop of order one: x = (1 - alpha) S x + alpha x_0, S = I - L^, a low-pass; with -S a high-pass.

    Its response is alpha / (alpha + (1 - alpha) f), personalised PageRank, at the frequency f of L^; the high-pass is
    the same from the other end, 2 - f. It contracts by 1 - alpha on every graph. alpha = 1 passes all alike.

    >>> restart_filter(0.2).response([0.0, 2.0]).round(3)
    array([1.   , 0.111])
    """
    sign = -1.0 if high else 1.0
    return FeedbackLoopedFilter([sign * (1 - alpha)], [alpha], centre=1.0)

"""A bank of filters: several responses side by side, each with a signal of its own, summed by one chain of products."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
import torch
from torch import Tensor

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
        self.interval = shift.interval
        rows = [one.expansion(tol, self.interval).coefficients for one in filters]
        self.coefficients = np.zeros((len(rows), max(map(len, rows))))
        for k, row in enumerate(rows):
            self.coefficients[k, : len(row)] = row
        self.shift = shift
        self._tables: dict[tuple[torch.device, torch.dtype], Tensor] = {}

    def subset(self, indices: Sequence[int]) -> FilterBank:
        """The bank of some of the filters only; its chain is as long as the longest of these needs."""
        part, own = copy(self), list(indices)
        length = 1 + max(np.flatnonzero(self.coefficients[own].any(axis=0)), default=0)
        part.coefficients = self.coefficients[own, :length]
        part._tables = {key: table[own, :length].contiguous() for key, table in self._tables.items()}
        return part

    @property
    def products(self) -> int:
        """With the shift, for one pass."""
        return self.coefficients.shape[1] - 1

    def __call__(self, signals: Tensor) -> Tensor:
        return engine.clenshaw(self.shift, signals, self._table(signals), interval=self.interval)

    def apply_each(self, signal: Tensor) -> Tensor:
        """h_k(L^) x of one (n, columns) signal for every k: (K, n, columns), by one chain too."""
        return engine.analysis(self.shift, signal, self._table(signal), interval=self.interval)

    def _table(self, like: Tensor) -> Tensor:
        """The coefficients beside a signal; moved there once."""
        dtype = torch.promote_types(like.dtype, torch.float32)
        if (like.device, dtype) not in self._tables:
            self._tables[like.device, dtype] = torch.tensor(self.coefficients, device=like.device, dtype=dtype)
        return self._tables[like.device, dtype]

    def __repr__(self) -> str:
        return f"FilterBank(filters={len(self.coefficients)}, products={self.products})"


def restart_filter(alpha: float, *, high: bool = False) -> FeedbackLoopedFilter:
    """The feedback loop of order one: x = (1 - alpha) S x + alpha x_0, S = I - L^, a low-pass; with -S a high-pass.

    Its response is alpha / (alpha + (1 - alpha) f), personalised PageRank, at the frequency f of L^; the high-pass is
    the same from the other end, 2 - f. It contracts by 1 - alpha on every graph. alpha = 1 passes all alike.

    >>> restart_filter(0.2).response([0.0, 2.0]).round(3)
    array([1.   , 0.111])
    """
    sign = -1.0 if high else 1.0
    return FeedbackLoopedFilter([sign * (1 - alpha)], [alpha], centre=1.0)


def neighbour_average() -> FeedbackLoopedFilter:
    """S = I - L^, one step of averaging over neighbours: the response 1 - f, without feedback.

    >>> neighbour_average().response([0.0, 2.0])
    array([ 1., -1.])
    """
    return FeedbackLoopedFilter([0.0], [0.0, -1.0], centre=1.0)

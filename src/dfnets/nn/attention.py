"""Multi-head self-attention over the edges of a graph (Velickovic et al., 2018), sparse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from dfnets.nn import batched
from dfnets.nn.batched import Generators
from dfnets.nn.constraints import unit_norm_
from dfnets.nn.dropout import Dropout
from dfnets.nn.shifts import Edges, as_shift
from dfnets.nn.sparse import SparseMatrix, csr_tensor
from dfnets.shift import Shift


def _elu(x: Tensor) -> Tensor:
    """max(x, exp(x) - 1). torch's own rounds the last entries of a tensor otherwise than the rest, and which those are
    depends on the number of replicas."""
    return torch.where(x > 0, x, torch.expm1(x.clamp(max=0)))


SCORES: dict[str, Callable[[Tensor], Tensor]] = {
    "leaky-relu": partial(functional.leaky_relu, negative_slope=0.2),
    "elu": _elu,
}
# Entries of an (edges, heads, channels) block that is held at a time, so that memory does not grow with the edges.
BLOCK = 1 << 22


class Neighbours:
    """The pattern of A + I: every node attends to its neighbours and to itself.

    Attributes:
        rows, columns: (E,) the two ends i and j of every entry, row after row.
        mirror: (E,) where entry (j, i) stands; the pattern is symmetric, so this is all that a transpose needs.
    """

    def __init__(self, shift: Shift, *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32) -> None:
        edges = sp.csr_array((np.ones(len(shift.indices)), shift.indices, shift.indptr), shape=shift.shape)
        pattern = sp.csr_array(edges + sp.eye_array(shift.num_nodes, format="csr"))
        pattern.sort_indices()
        count = pattern.nnz
        numbers = sp.csr_array((np.arange(count), pattern.indices, pattern.indptr), shape=pattern.shape)
        mirrored = sp.csr_array(numbers.T.tocsr())
        mirrored.sort_indices()
        tensor = partial(torch.as_tensor, device=device)
        self.num_nodes = shift.num_nodes
        self.indptr, self.indices = tensor(pattern.indptr.astype(np.int32)), tensor(pattern.indices.astype(np.int32))
        self.columns = self.indices.long()
        self.rows = torch.repeat_interleave(tensor(np.diff(pattern.indptr)).long())
        self.mirror = tensor(mirrored.data)
        every = sp.csr_array((np.ones(count), np.arange(count), pattern.indptr), shape=(len(self), count))
        self._sum = SparseMatrix(every, torch.device(device), dtype)

    def __len__(self) -> int:
        return self.num_nodes

    def sums(self, values: Tensor) -> Tensor:
        """Sums over the entries of each row: (E, k) gives (n, k)."""
        return self._sum @ values

    def matrix(self, values: Tensor) -> Tensor:
        """The (n, n) matrix with these (E,) values on the pattern."""
        return csr_tensor(self.indptr, self.indices, values, (len(self), len(self)))


class SelfAttention(nn.Module):
    """Each node's weighted mean over its neighbours and itself, with weights that the ends decide; for each head k::

        e_ij = s(a_k . [C_i, C_j] + c_k)
        alpha_ij = softmax over j of e_ij
        C'_i = sum_j alpha_ij C_j

    Weights exist on the edges only: no n x n matrix, and no edges x channels one either.

    Args:
        channels: the width of a head.
        heads: how many.
        score: s, ``"leaky-relu"`` (slope 0.2, the paper) or ``"elu"`` (the authors' code).
        dropout: of alpha.
        value_dropout: of C in the sum, where the weights are made already.
        unit_norm: whether :meth:`project_` puts each a_k on the unit sphere.
        replicas: R.

    Shapes:
        - x: (n, heads channels), or (n, R, heads channels); the output is as x.
    """

    def __init__(
        self,
        channels: int,
        heads: int = 1,
        *,
        score: str = "leaky-relu",
        dropout: float = 0.0,
        value_dropout: float = 0.0,
        unit_norm: bool = False,
        replicas: int = 1,
    ) -> None:
        super().__init__()
        if score not in SCORES:
            raise ValueError(f"score={score!r} is not one of {', '.join(map(repr, SCORES))}")
        self.channels, self.heads, self.replicas = channels, heads, replicas
        self.score, self.unit_norm = score, unit_norm
        self.dropout = Dropout(dropout, replicas=replicas)
        self.value_dropout = Dropout(value_dropout, replicas=replicas)
        self.kernel = nn.Parameter(torch.empty(replicas, heads, 2 * channels))
        self.bias = nn.Parameter(torch.empty(replicas, heads))
        self.reset_parameters()

    def reset_parameters(self, streams: Generators | None = None) -> None:
        """Xavier normal kernels, each replica from its own stream; biases of zero."""
        batched.xavier_normal_(self.kernel, 2 * self.channels, 1, streams or [None] * self.replicas)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, edge_index: Edges | Neighbours) -> Tensor:
        """C' for C = x; make the Neighbours once to train."""
        n = x.shape[0]
        if isinstance(edge_index, Neighbours):
            neighbours = edge_index
        else:
            neighbours = Neighbours(as_shift(edge_index, num_nodes=n), device=x.device, dtype=x.dtype)
        width = self.replicas * self.heads
        values = x.reshape(n, width, self.channels)
        # (n, R heads, 2): what a node contributes as the end that attends, and as the end that is attended to.
        ends = batched.matmul(values, self.kernel.view(width, 2, self.channels).transpose(1, 2))
        alpha = _Softmax.apply(self._scores(ends, neighbours), neighbours)
        alpha = self.dropout(alpha.view(-1, self.replicas, self.heads)).view_as(alpha)
        summed = self.value_dropout(values.view(n, self.replicas, -1)).view_as(values)
        return weighted_sum(alpha, summed, neighbours).view_as(x)

    def _scores(self, ends: Tensor, neighbours: Neighbours) -> Tensor:
        """(E, R heads): s(a . [C_i, C_j] + c)."""
        own = ends[..., 0].contiguous()
        raw = _EdgeSum.apply(own, ends[..., 1].contiguous(), neighbours)
        return SCORES[self.score](batched.add_row_(raw.view(len(raw), self.replicas, self.heads), self.bias)).view_as(
            raw
        )

    def kernels(self) -> list[nn.Parameter]:
        """What kernel regularisation applies to."""
        return [self.kernel]

    @torch.no_grad()
    def project_(self) -> None:
        """Puts the weights back on the unit sphere, where that is asked for."""
        if self.unit_norm:
            unit_norm_(self.kernel.view(self.replicas * self.heads, -1))

    def extra_repr(self) -> str:
        """Its sizes, for ``print``."""
        return f"{self.channels}, heads={self.heads}, score={self.score!r}"


def weighted_sum(alpha: Tensor, values: Tensor, neighbours: Neighbours) -> Tensor:
    """sum_j alpha_ij C_j for every head, with gradients of both: (E, k) and (n, k, c) give (n, k, c)."""
    return _WeightedSum.apply(alpha, values, neighbours)


def squared_distances(x: Tensor, neighbours: Neighbours) -> Tensor:
    """norm(x_i - x_j)^2 on every entry (i, j): (n, k, c) gives (E, k)."""
    return _SquaredDistances.apply(x, neighbours)


class _EdgeSum(torch.autograd.Function):
    """a_i + b_j on every entry (i, j): two (n, k) give (E, k)."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, neighbours: Neighbours) -> Tensor:
        ctx.neighbours = neighbours
        return a[neighbours.rows] + b[neighbours.columns]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        sums = ctx.neighbours.sums
        return sums(gradient), sums(gradient[ctx.neighbours.mirror]), None


class _Softmax(torch.autograd.Function):
    """exp(e) over its sum in each row: (E, k) gives (E, k)."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, neighbours: Neighbours) -> Tensor:
        rows = neighbours.rows
        low = scores.new_full((len(neighbours), scores.shape[1]), -torch.inf)
        top = low.scatter_reduce_(0, rows.unsqueeze(1).expand_as(scores), scores, "amax")
        alpha = (scores - top[rows]).exp_()
        alpha /= neighbours.sums(alpha)[rows]
        ctx.neighbours = neighbours
        ctx.save_for_backward(alpha)
        return alpha

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (alpha,) = ctx.saved_tensors
        weighted = alpha * gradient
        return weighted - alpha * ctx.neighbours.sums(weighted)[ctx.neighbours.rows], None


class _WeightedSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, alpha: Tensor, values: Tensor, neighbours: Neighbours) -> Tensor:
        ctx.neighbours = neighbours
        ctx.save_for_backward(alpha, values)
        return _aggregate(neighbours, alpha, values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        alpha, values = ctx.saved_tensors
        neighbours = ctx.neighbours
        d_values = _aggregate(neighbours, alpha[neighbours.mirror], gradient)
        d_alpha = torch.empty_like(alpha)
        for block in _blocks(neighbours, values):
            products = gradient[neighbours.rows[block]] * values[neighbours.columns[block]]
            torch.sum(products, dim=-1, out=d_alpha[block])
        return d_alpha, d_values, None


class _SquaredDistances(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, neighbours: Neighbours) -> Tensor:
        ctx.neighbours = neighbours
        ctx.save_for_backward(x)
        out = x.new_empty(len(neighbours.rows), x.shape[1])
        for block in _blocks(neighbours, x):
            gaps = x[neighbours.rows[block]] - x[neighbours.columns[block]]
            torch.sum(gaps.square_(), dim=-1, out=out[block])
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        # Both (i, j) and (j, i) hold the distance of i and j.
        both = 2 * (gradient + gradient[ctx.neighbours.mirror])
        return ctx.neighbours.sums(both).unsqueeze(-1) * x - _aggregate(ctx.neighbours, both, x), None


def _blocks(neighbours: Neighbours, values: Tensor) -> Iterator[slice]:
    """Entries in turns, so few at a time that (entries, k, c) is small; values are (n, k, c)."""
    step = max(1, BLOCK // (values.shape[1] * values.shape[2]))
    return (slice(start, start + step) for start in range(0, len(neighbours.rows), step))


def _aggregate(neighbours: Neighbours, alpha: Tensor, values: Tensor) -> Tensor:
    out = torch.empty_like(values, memory_format=torch.contiguous_format)
    for k, weights in enumerate(alpha.T.contiguous()):
        out[:, k] = neighbours.matrix(weights) @ values[:, k].contiguous()
    return out

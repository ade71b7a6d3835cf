"""AdaLanczosNet (Liao et al., "LanczosNet: multi-scale deep graph convolutional networks", 2019)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from dfnets import spectrum
from dfnets.graph import Graph
from dfnets.models.base import Sizes
from dfnets.models.lnet import PAPER, LNet, LNetConfig, Mix, Perceptron, project
from dfnets.models.spectral import Inputs, Spectral
from dfnets.nn import Linear, Neighbours, batched
from dfnets.nn.attention import squared_distances, weighted_sum
from dfnets.nn.batched import Generators
from dfnets.shift import Shift


class AdaLNetConfig(LNetConfig):
    """Settings of AdaLanczosNet.

    Attributes:
        embedding: the width of the node embedding that the affinities are made of.
    """

    steps: int = Field(10, ge=1)
    kernel_units: int = Field(64, ge=1)
    embedding: int = Field(16, ge=1)


@dataclass(frozen=True)
class AdaInputs(Inputs):
    """A graph as AdaLanczosNet reads it; the Lanczos process has one (n,) start for all replicas."""

    neighbours: Neighbours
    start: Tensor


class AdaLNet(LNet):
    """H_t = ReLU(sum_s S^s H U_s + sum_l Q f_l(T^l) Q^T H W_l + b), H = dropout(H_{t-1}), with a learned operator.

    (Q, T) are K Lanczos steps on D^-1/2 B D^-1/2, whose affinities B_ij = exp(-norm(e_i - e_j)^2 / their mean) on the
    edges of A + I come from a learned embedding e = X W, D their row sums. Gradients go through the process. f_l, a
    :class:`Perceptron`, takes the entries of T^l to those of a symmetric matrix: T itself is filtered, as the paper
    does, because the gradient of an eigendecomposition is not stable. Time and memory are linear in the edges.
    """

    Config = AdaLNetConfig
    # What the paper says of LanczosNet; the authors' own values for AdaLanczosNet on citation networks were not found.
    presets: ClassVar = {"default": {}, "paper": PAPER}
    space: ClassVar = {
        "learning_rate": (3e-3, 3e-2, "log"),
        "l2": (1e-5, 1e-2, "log"),
        "dropout": (0.3, 0.9),
        "short": [(1, 2), (1, 2, 3), (2, 4), (1, 2, 5, 7)],
        "kernel_l2": (1e-3, 1e-1, "log"),
        "embedding": [8, 16, 32],
    }
    config: AdaLNetConfig

    def __init__(self, config: AdaLNetConfig, sizes: Sizes, *, filter: None = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        self.embed = _Embedding(sizes.features, config.embedding, bias=False, replicas=replicas)

    def make_kernels(self) -> nn.ModuleList:
        """A spectral kernel f_l a long scale, which all layers share."""
        width, units = self.config.steps**2, self.config.kernel_units
        return nn.ModuleList(Perceptron(width, units, replicas=self.replicas) for _ in self.config.long)

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> AdaInputs:
        both = Spectral.prepare(self, graph, device, shift=shift)
        start = torch.as_tensor(spectrum.random_start(graph.num_nodes, seed=0), device=device)
        neighbours = Neighbours(both.shift, device=device)
        return AdaInputs(both.features, both.shift, neighbours, start.to(both.features.dtype))

    def low_rank(self, inputs: AdaInputs) -> tuple[Tensor, list[Mix]]:
        multiply = learned_operator(self.embed([inputs.features]), inputs.neighbours)
        start = inputs.start[:, None, None].expand(-1, self.replicas, -1)
        basis, tridiagonal = lanczos(multiply, start, self.config.steps)
        filters: list[Tensor] = []
        power = tridiagonal
        for exponent in range(1, max(self.config.long) + 1):
            if exponent > 1:
                power = batched.matmul(power, tridiagonal.transpose(0, 1))
            if exponent in self.config.long:
                filters.append(self._filtered(power, len(filters)))

        def mix(low: Tensor) -> Tensor:
            parts = zip(filters, low.unbind(2), strict=True)
            return reduce(torch.add, [batched.matmul(own, part.transpose(0, 1)) for own, part in parts])

        return basis, [mix] * len(self.layers)

    def _filtered(self, power: Tensor, scale: int) -> Tensor:
        """f_l(T^l), symmetric: (K, R, K) gives the same."""
        steps = self.config.steps
        entries = power.transpose(0, 1).reshape(1, self.replicas, steps**2)
        made = self.kernels[scale](entries).view(self.replicas, steps, steps)
        return ((made + made.transpose(1, 2)) / 2).transpose(0, 1)


class _Embedding(Linear):
    """e = X W. Affinities do not depend on the scale of e, so a W that starts large is one that changes slowly."""

    def reset_parameters(self, streams: Generators | None = None) -> None:
        batched.xavier_normal_(self.weight, 1, 1, [None] * self.replicas if streams is None else streams)


def learned_operator(embedding: Tensor, neighbours: Neighbours) -> Callable[[Tensor], Tensor]:
    """x -> D^-1/2 B D^-1/2 x for (n, R, 1), with the affinities B of an embedding (n, R, d)."""
    distances = squared_distances(embedding, neighbours)
    count = len(distances)
    mean_weights = distances.new_full((1, 1, 1), 1 / count).expand(1, distances.shape[1], count)
    mean = batched.matmul(mean_weights, distances.T[..., None])
    affinities = torch.exp(-batched.matmul(distances[..., None], 1 / mean.transpose(0, 1))[..., 0])
    ones = embedding.new_ones(len(embedding), distances.shape[1], 1)
    scale = 1 / weighted_sum(affinities, ones, neighbours).sqrt()
    return lambda x: scale * weighted_sum(affinities, scale * x, neighbours)


# A Lanczos vector shorter than that is rounding: the Krylov space is exhausted, and what follows is zero.
EXHAUSTED = 1e-4


def lanczos(multiply: Callable[[Tensor], Tensor], start: Tensor, steps: int) -> tuple[Tensor, Tensor]:
    """The Lanczos process with full reorthogonalisation, differentiable: a basis (n, R, K) and T as (K, R, K).

    Args:
        multiply: M x for (n, R, 1), M symmetric.
        start: (n, R, 1), of norm 1.
    """
    basis, rows = start, []
    for k in range(steps):
        x = multiply(basis[:, :, k : k + 1])
        first = project(basis, x)
        x = x - batched.matmul(basis, first.transpose(0, 1))
        x = x - batched.matmul(basis, project(basis, x).transpose(0, 1))
        # sqrt has no slope at 0, where nothing is left.
        size = project(x, x).clamp(min=EXHAUSTED**2).sqrt()
        rows.append((first[-1:], size))
        inverse = torch.where(size > EXHAUSTED, 1 / size, 0.0)
        basis = torch.cat([basis, batched.matmul(x, inverse.transpose(0, 1))], dim=2)
    diagonal = torch.cat([alpha for alpha, _ in rows]).squeeze(2).T
    off = torch.cat([torch.where(beta > EXHAUSTED, beta, 0.0) for _, beta in rows[:-1]]).squeeze(2).T
    tridiagonal = torch.diag_embed(diagonal) + torch.diag_embed(off, 1) + torch.diag_embed(off, -1)
    return basis[:, :, :steps], tridiagonal.transpose(0, 1)

"""LanczosNet (Liao et al., "LanczosNet: multi-scale deep graph convolutional networks", 2019)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from typing import Any, ClassVar

import scipy.linalg
import torch
from pydantic import Field
from torch import Tensor, nn

from dfnets import spectrum
from dfnets.graph import Graph
from dfnets.models.base import Sizes
from dfnets.models.spectral import Inputs, Spectral, SpectralConfig, polynomial
from dfnets.nn import Linear, batched
from dfnets.nn.batched import Generators
from dfnets.shift import Shift

Mix = Callable[[Tensor], Tensor]


class LNetConfig(SpectralConfig):
    """Settings of LanczosNet.

    Attributes:
        short: powers of S that are applied as they are, in rising order.
        long: powers of the Ritz values that the learned kernels read.
        steps: K, of the Lanczos process.
        kernel_units: hidden units of a spectral kernel.
        kernel_l2: of what a kernel adds to the identity.
    """

    dropout: float = Field(0.7, ge=0, lt=1)
    l2: float = Field(1e-3, ge=0)
    short: tuple[int, ...] = Field((1, 2, 3), min_length=1)
    long: tuple[int, ...] = Field((5, 10, 20), min_length=1)
    steps: int = Field(20, ge=1)
    kernel_units: int = Field(32, ge=1)
    kernel_l2: float = Field(2e-3, ge=0)


@dataclass(frozen=True)
class LanczosInputs(Inputs):
    """A graph as LanczosNet reads it: S ~ V diag(values) V^T, with Ritz vectors (n, K) and values (K,)."""

    values: Tensor
    vectors: Tensor


# Liao et al., appendix, as quoted for Cora in lrjconan/LanczosNetwork, issue 1; l2 is not from there: it is GCN's.
PAPER = {
    "units": (64,),
    "dropout": 0.5,
    "short": (1, 2, 5, 7),
    "long": (10, 20, 30),
    "steps": 20,
    "kernel_units": 128,
    "l2": 2.5e-4,
}


class LNet(Spectral):
    """H_t = ReLU(sum_s S^s H U_s + sum_l V diag(f_l(values)) V^T H W_l + b), H = dropout(H_{t-1}).

    s runs over the short scales, l over the long ones. (V, values) are the Ritz pairs of K Lanczos steps on S from a
    random start, made once; f, a :class:`Perceptron`, takes the long powers of a Ritz value to a gain for
    each long scale.
    """

    Config: ClassVar[type[LNetConfig]] = LNetConfig
    presets: ClassVar = {"default": {}, "paper": PAPER}
    space: ClassVar = {
        "learning_rate": (3e-3, 3e-2, "log"),
        "l2": (1e-5, 1e-2, "log"),
        "dropout": (0.3, 0.9),
        "short": [(1, 2), (1, 2, 3), (2, 4), (1, 2, 5, 7)],
        "steps": [10, 20, 40],
    }
    config: LNetConfig

    def __init__(self, config: LNetConfig, sizes: Sizes, *, filter: None = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        scales = len(config.short) + len(config.long)
        self.layers = nn.ModuleList(
            Linear(read, made, parts=scales, dropout=config.dropout, replicas=replicas)
            for read, made in pairwise(self.widths())
        )
        self.kernels = self.make_kernels()

    def make_kernels(self) -> nn.ModuleList:
        """A spectral kernel f a layer."""
        width, units = len(self.config.long), self.config.kernel_units
        return nn.ModuleList(Perceptron(width, units, replicas=self.replicas) for _ in self.layers)

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Any:
        both = super().prepare(graph, device, shift=shift)
        start = spectrum.random_start(graph.num_nodes, seed=0)
        # The shift is -S.
        diagonal, off, basis = spectrum.lanczos(lambda x: -(both.shift @ x), start, self.config.steps)
        values, vectors = scipy.linalg.eigh_tridiagonal(diagonal, off)
        pairs = (
            torch.as_tensor(part, device=device, dtype=both.features.dtype) for part in (values, basis.T @ vectors)
        )
        return LanczosInputs(both.features, both.shift, *pairs)

    def forward(self, inputs: Any) -> Tensor:
        basis, mixers = self.low_rank(inputs)
        scales = len(self.config.short), len(self.config.long)
        h = None
        for layer, mix in zip(self.layers, mixers, strict=True):

            def filter(z: Tensor, mix: Mix = mix) -> Tensor:
                short, long = z.split(scales, dim=2)
                kept = mix(project(basis, long.flatten(2)).unflatten(2, long.shape[2:]))
                return diffuse(inputs.shift, short, self.config.short) + batched.matmul(basis, kept.transpose(0, 1))

            h = layer([inputs.features if h is None else torch.relu(h)], filter)
        assert h is not None
        return h

    def penalties(self) -> list[tuple[list[nn.Parameter], float]]:
        kernels = [module.weight for module in self.kernels.modules() if isinstance(module, _Zero)]
        return [*super().penalties(), (kernels, self.config.kernel_l2)]

    def low_rank(self, inputs: Any) -> tuple[Tensor, list[Mix]]:
        """The basis (n, R, K) of the long scales, and for each layer what is done to the coefficients in it.

        A mix takes coefficients (K, R, number of long scales, h) to (K, R, h).
        """
        powers = torch.stack([inputs.values**power for power in self.config.long], dim=1)
        spread = powers[:, None].expand(-1, self.replicas, -1)
        mixers: list[Mix] = [partial(_weighed, kernel(spread)[..., None]) for kernel in self.kernels]
        return inputs.vectors[:, None].expand(-1, self.replicas, -1), mixers


def _weighed(gains: Tensor, low: Tensor) -> Tensor:
    """Each long scale by its gains (K, R, scales, 1), and their sum: (K, R, scales, h) gives (K, R, h)."""
    return reduce(torch.add, (gains * low).unbind(2))


class Perceptron(nn.Module):
    """x + ReLU(x W_1 + b_1) W_2 / (units sqrt(c)): (m, R, c) to the same. W_2 is zero at first: it starts as x.

    A kernel that starts at random, or that one step of Adam changes much, is noise that a few labelled nodes do not
    train away; by the division the change of a step grows neither with the units nor with c.
    """

    def __init__(self, channels: int, units: int, *, replicas: int = 1) -> None:
        super().__init__()
        self.scale = 1 / (units * channels**0.5)
        self.first = Linear(channels, units, replicas=replicas)
        self.second = _Zero(units, channels, bias=False, replicas=replicas)

    def forward(self, x: Tensor) -> Tensor:
        """(m, R, c) to the same."""
        return x + self.second([torch.relu(self.first([x])) * self.scale])


class _Zero(Linear):
    """A linear layer that starts at zero."""

    def reset_parameters(self, streams: Generators | None = None) -> None:  # noqa: ARG002 - none is drawn
        for parameter in self.parameters():
            nn.init.zeros_(parameter)


def project(basis: Tensor, x: Tensor) -> Tensor:
    """V_r^T x_r for each replica: (n, R, K) and (n, R, h) give (K, R, h)."""
    return batched.matmul(basis.permute(2, 1, 0), x.transpose(0, 1))


def diffuse(shift: Shift, z: Tensor, powers: Sequence[int]) -> Tensor:
    """sum_s S^s z_s over rising powers s, as one chain: (n, R, number of powers, h) gives (n, R, h)."""
    gaps = [power - before for before, power in pairwise([0, *powers])]
    total = None
    for signal, gap in zip(reversed(z.unbind(2)), reversed(gaps), strict=True):
        total = polynomial(shift, signal if total is None else total + signal, [0.0] * gap + [1.0])
    assert total is not None
    return total

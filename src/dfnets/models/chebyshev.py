"""ChebNet (Defferrard et al., 2016), in the form that Kipf and Welling (2017) compare GCN with."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from dfnets import engine
from dfnets.models.base import Sizes
from dfnets.models.spectral import Inputs, Spectral, SpectralConfig
from dfnets.nn import Linear
from dfnets.shift import Shift


class ChebyshevConfig(SpectralConfig):
    """Settings of ChebNet.

    Attributes:
        order: K, the degree of the polynomial.
    """

    order: int = Field(2, ge=1)


class Chebyshev(Spectral):
    """H_t = ReLU(sum_{k=0..K} T_k(L^ - I) dropout(H_{t-1}) W_tk + b_t), with T_k the Chebyshev polynomials.

    The frequencies of L^ lie in [0, 2], so L^ - I is the Laplacian scaled to [-1, 1]. The sum is taken by Clenshaw's
    recurrence on the narrow H W_tk: K products of the shift with the width of one of them.
    """

    Config = ChebyshevConfig
    # The settings of GCN, as Kipf and Welling ran it beside theirs.
    presets: ClassVar = {"default": {}}
    space: ClassVar = {
        "learning_rate": (3e-3, 3e-2, "log"),
        "l2": (1e-5, 1e-2, "log"),
        "dropout": (0.2, 0.9),
        "units": [(16,), (32,)],
        "order": [1, 2, 3],
    }
    config: ChebyshevConfig

    def __init__(self, config: ChebyshevConfig, sizes: Sizes, *, filter: None = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        widths = self.widths()
        self.layers = nn.ModuleList(
            Linear(read, made, parts=config.order + 1, dropout=config.dropout, replicas=replicas)
            for read, made in pairwise(widths)
        )

    def forward(self, inputs: Inputs) -> Tensor:
        first, *others = self.layers
        h = first([inputs.features], lambda z: clenshaw(inputs.shift, z))
        for layer in others:
            h = layer([torch.relu(h)], lambda z: clenshaw(inputs.shift, z))
        return h


def clenshaw(shift: Shift, z: Tensor) -> Tensor:
    """sum_k T_k(L^ - I) z_k for (n, R, K + 1, h), K >= 1: (n, R, h)."""
    n, count, terms, width = z.shape
    signals = z.permute(2, 0, 1, 3).reshape(terms, n, count * width)
    # Each signal has one polynomial: the table of coefficients is the identity.
    own = torch.eye(terms, dtype=torch.promote_types(z.dtype, torch.float32), device=z.device)
    return engine.clenshaw(shift, signals, own, interval=(0.0, 2.0)).view(n, count, width)

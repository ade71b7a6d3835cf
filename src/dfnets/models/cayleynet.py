"""CayleyNet (Levie et al., "CayleyNets: graph convolutional neural networks with complex rational filters", 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from dfnets.graph import Graph
from dfnets.models.base import Sizes
from dfnets.models.spectral import Inputs, Spectral, SpectralConfig, adjacency
from dfnets.nn import Linear, batched
from dfnets.nn.batched import Generators
from dfnets.nn.product import Map
from dfnets.shift import Shift


class CayleyConfig(SpectralConfig):
    """Settings of CayleyNet.

    Attributes:
        order: r, the degree of the Cayley polynomial.
        jacobi: iterations for each power of the Cayley transform.
        zoom: where the spectral zoom z starts.
    """

    order: int = Field(1, ge=1)
    jacobi: int = Field(3, ge=0)
    zoom: float = Field(1.0, gt=0)


@dataclass(frozen=True)
class CayleyInputs(Inputs):
    """A graph as CayleyNet reads it; Jacobi divides by the diagonal (n, 1, 1, 1) of L^, 1 less the self-loop."""

    diagonal: Tensor


class CayleyNet(Spectral):
    """H_t = ReLU(H W_0 + 2 Re sum_{j=1..r} C^j H W_j + b), C = (z L^ - i I) (z L^ + i I)^-1, H = dropout(H_{t-1}).

    W_1, W_2, ... are complex, and every layer learns its spectral zoom z > 0. C is applied by Jacobi iterations; they
    are linear, so the powers of C are taken by Horner's rule on the narrow products H W_j.
    """

    Config = CayleyConfig
    presets: ClassVar = {"default": {}}
    space: ClassVar = {
        "learning_rate": (3e-3, 3e-2, "log"),
        "l2": (1e-5, 1e-2, "log"),
        "dropout": (0.2, 0.9),
        "order": [1, 2],
        "zoom": (0.5, 3.0),
    }
    config: CayleyConfig

    def __init__(self, config: CayleyConfig, sizes: Sizes, *, filter: None = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        self.layers = nn.ModuleList(
            CayleyLayer(read, made, config, replicas=replicas) for read, made in pairwise(self.widths())
        )

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> CayleyInputs:
        both = super().prepare(graph, device, shift=shift)
        diagonal = torch.as_tensor(both.shift.diagonal, device=device, dtype=both.features.dtype)
        return CayleyInputs(both.features, both.shift, diagonal.view(-1, 1, 1, 1))

    def forward(self, inputs: CayleyInputs) -> Tensor:
        first, *others = self.layers
        h = first(inputs.features, inputs)
        for layer in others:
            h = layer(torch.relu(h), inputs)
        return h

    def project_(self) -> None:
        with torch.no_grad():
            for layer in self.layers:
                layer.zoom.clamp_(min=SMALLEST_ZOOM)  # type: ignore[operator]


SMALLEST_ZOOM = 1e-2


class CayleyLayer(nn.Module):
    """One layer of :class:`CayleyNet`.

    Shapes: x is :class:`Features` or (n, R, in_channels); the output is (n, R, out_channels).
    """

    def __init__(self, in_channels: int, out_channels: int, config: CayleyConfig, *, replicas: int = 1) -> None:
        super().__init__()
        self.config = config
        self.linear = Linear(
            in_channels, out_channels, parts=2 * config.order + 1, dropout=config.dropout, replicas=replicas
        )
        self.zoom = nn.Parameter(torch.full((replicas, 1), config.zoom))

    def reset_parameters(self, streams: Generators | None = None) -> None:  # noqa: ARG002 - none is drawn
        """Sets the zoom back to its first value; the other parts reset themselves."""
        nn.init.constant_(self.zoom, self.config.zoom)

    def forward(self, x: Map, inputs: CayleyInputs) -> Tensor:
        """The filtered map with the bias: (n, R, in_channels) to (n, R, out_channels)."""
        # A node has its replica's zoom; the sum over nodes in the backward pass is then one of batched.py.
        zeros = torch.zeros(inputs.shift.num_nodes, *self.zoom.shape, device=self.zoom.device, dtype=self.zoom.dtype)
        zoom = batched.add_row_(zeros, self.zoom)[..., None]
        return self.linear([x], lambda z: cayley(inputs, z, zoom, self.config.jacobi))


def cayley(inputs: CayleyInputs, z: Tensor, zoom: Tensor, iterations: int) -> Tensor:
    """z_0 + 2 Re sum_j C^j (z_{2j-1} + i z_{2j}) for (n, R, 2 r + 1, h): (n, R, h).

    A complex signal is (n, R, 2, h), real part first.

    Args:
        zoom: (n, R, 1, 1).
    """
    shift, diagonal = inputs.shift, inputs.diagonal
    loops = 1 - diagonal
    scaled = zoom * diagonal
    # 1 / (z d + i), the inverse of the diagonal, as a real and an imaginary part.
    size = 1 / (scaled * scaled + 1)
    real, imaginary = scaled * size, -size

    def times(y: Tensor) -> Tensor:
        """z L^ y without its diagonal."""
        return zoom * (loops * y - adjacency(shift, y.flatten(2)).view_as(y))

    def divided(y: Tensor) -> Tensor:
        return real * y + imaginary * _turned(y)

    def transform(y: Tensor) -> Tensor:
        """C y: (z L^ + i) x = (z L^ - i) y solved for x."""
        right = divided(times(y) + scaled * y - _turned(y))
        x = right
        for _ in range(iterations):
            x = right - divided(times(x))
        return x

    total = transform(z[:, :, -2:])
    for j in range(z.shape[2] - 4, 0, -2):
        total = transform(total + z[:, :, j : j + 2])
    return z[:, :, 0] + 2 * total[:, :, 0]


def _turned(y: Tensor) -> Tensor:
    """i y."""
    return torch.stack((-y[:, :, 1], y[:, :, 0]), dim=2)

"""What the spectral baselines have in common: X, the normalised adjacency S = I - L^, and layers of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from pydantic import Field
from torch import Tensor, nn

from dfnets import engine
from dfnets.graph import Graph
from dfnets.models.base import Config, Model, scaled_features
from dfnets.nn import Features, Linear
from dfnets.nn.batched import Generators
from dfnets.shift import Shift


class SpectralConfig(Config):
    """The settings of a baseline of a few layers.

    Attributes:
        units: the width of each hidden layer.
        dropout: of what each layer reads, X included.
        l2: of the weights of the first layer; the weight decay of other libraries is twice that.
    """

    learning_rate: float = Field(0.01, gt=0)
    units: tuple[int, ...] = (16,)
    dropout: float = Field(0.5, ge=0, lt=1)
    l2: float = Field(2.5e-4, ge=0)


@dataclass(frozen=True)
class Inputs:
    """A graph as a spectral baseline reads it: X, and L^ - I, which is -S."""

    features: Features
    shift: Shift


class Spectral(Model):
    """A model on X and S = D^-1/2 (A + I) D^-1/2, the same operator for every baseline, so that filters compare."""

    config: Any

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Inputs:
        whole = Shift(graph) if shift is None else shift
        return Inputs(scaled_features(graph, self.config.features, self.sizes, device), whole.recentred(1.0))

    def reset_parameters(self, streams: Generators) -> None:
        for module in self.modules():
            reset = getattr(module, "reset_parameters", None)
            if module is not self and reset is not None:
                reset(streams)

    def widths(self) -> list[int]:
        """Columns of X, of each hidden map, and of the logits."""
        return [self.sizes.features, *self.config.units, self.sizes.classes]

    def penalties(self) -> list[tuple[list[nn.Parameter], float]]:
        first = next(module for module in self.modules() if isinstance(module, Linear))
        return [([first.weight], self.config.l2)]


def polynomial(shift: Shift, x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """sum_j c_j S^j x for (n, R, h), as one chain; the shift is L^ - I = -S."""
    signed = [c if j % 2 == 0 else -c for j, c in enumerate(coefficients)]
    return engine.horner(shift, x.flatten(1), None, signed, None).view_as(x)


def adjacency(shift: Shift, x: Tensor) -> Tensor:
    """S x for (n, R, h)."""
    return polynomial(shift, x, (0.0, 1.0))

"""SemiEmb (Weston et al., 2012): a network whose map of neighbours is close, and of other pairs at a distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from dfnets.graph import Graph
from dfnets.models.base import Config, Model, Sizes, scaled_features
from dfnets.models.walks import Walks, rows
from dfnets.nn import Dropout, Features, Readout
from dfnets.nn.batched import Generators
from dfnets.shift import Shift


class SemiEmbConfig(Config):
    """The network and its embedding loss.

    Attributes:
        units: the width of each hidden layer.
        dropout: after each hidden layer.
        at: what is embedded: the last ``"hidden"`` layer, or the ``"output"``.
        weight: of the embedding loss.
        margin: the distance that pairs which are no neighbours should keep.
        pairs: neighbours, and as many other pairs, that are drawn for a step.
        l2: of the kernels.
    """

    features: Literal["row", "unit", "none"] = "unit"
    learning_rate: float = Field(0.01, gt=0)
    units: tuple[int, ...] = Field((64,), min_length=1)
    dropout: float = Field(0.5, ge=0, lt=1)
    at: Literal["hidden", "output"] = "output"
    weight: float = Field(1.0, ge=0)
    margin: float = Field(1.0, gt=0)
    pairs: int = Field(2000, ge=1)
    l2: float = Field(1e-4, ge=0)


@dataclass(frozen=True)
class Inputs:
    """A graph as SemiEmb reads it."""

    features: Features
    walks: Walks


class SemiEmb(Model):
    r"""A multilayer perceptron, trained with a term on pairs of nodes that pulls neighbours together.

    .. math::
        \mathrm{loss} = \mathrm{cross\ entropy} + \mathrm{weight} \left(
            \mathrm{mean}_{i \sim j} \|f_i - f_j\|^2 +
            \mathrm{mean}_{i \not\sim j} \max(0, \mathrm{margin} - \|f_i - f_j\|)^2 \right)

    with f the output or the last hidden layer. Pairs are drawn anew in each step: a node evenly, with a neighbour by
    the weight of the edge, and two nodes evenly that no edge joins. The edges are not read to predict.

    Weston, Ratle, Mobahi and Collobert: Deep learning via semi-supervised embedding. Neural Networks: Tricks of the
    Trade, 2012.

    Shapes: the logits are (n, R, classes).
    """

    Config = SemiEmbConfig
    presets: ClassVar = {"default": {}}
    space: ClassVar = {
        "features": ["row", "unit"],
        "learning_rate": (3e-3, 3e-2, "log"),
        "at": ["hidden", "output"],
        "weight": (0.1, 10.0, "log"),
        "margin": (0.3, 10.0, "log"),
        "dropout": (0.0, 0.8),
        "l2": (1e-6, 1e-3, "log"),
    }
    config: SemiEmbConfig

    def __init__(self, config: SemiEmbConfig, sizes: Sizes, **options: Any) -> None:
        super().__init__(config, sizes, **options)
        count = self.replicas
        widths = [sizes.features, *config.units]
        self.layers = nn.ModuleList(
            Readout([width], units, replicas=count) for width, units in zip(widths, config.units, strict=False)
        )
        self.head = Readout(widths[-1:], sizes.classes, replicas=count)
        self.dropout = Dropout(config.dropout, relu=True, replicas=count)

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Inputs:  # noqa: ARG002
        return Inputs(scaled_features(graph, self.config.features, self.sizes, device), Walks(graph, device))

    def forward(self, inputs: Inputs) -> Tensor:
        return self.head([self._hidden(inputs)])

    def losses(self, inputs: Inputs, objective: Callable[[Tensor], Tensor]) -> Tensor:
        hidden = self._hidden(inputs)
        logits = self.head([hidden])
        embedded = hidden if self.config.at == "hidden" else logits
        return objective(logits) + self.config.weight * self.embedding_losses(inputs, embedded)

    def embedding_losses(self, inputs: Inputs, embedded: Tensor) -> Tensor:
        """(R,) the embedding loss of (n, R, k) maps on pairs that are drawn now."""
        count = self.config.pairs
        ends = [_pairs(inputs.walks, count, stream) for stream in self.streams]
        one, two = rows(embedded, [i for i, _, _ in ends]), rows(embedded, [j for _, j, _ in ends])
        squares = (one - two).square().sum(dim=-1)
        apart = torch.cat([flag for _, _, flag in ends])
        # The distance has no derivative at 0; a square this small has no influence on either term.
        short = (self.config.margin - squares.clamp_min(1e-12).sqrt()).clamp_min(0).square()
        terms = torch.where(apart, short, squares)
        # A loop, because a replica's sum must not depend on the others.
        return torch.stack([part.sum() / count for part in terms.split([len(i) for i, _, _ in ends])])

    def reset_parameters(self, streams: Generators) -> None:
        for layer in (*self.layers, self.head):
            layer.reset_parameters(streams)

    def penalties(self) -> list[tuple[list[nn.Parameter], float]]:
        return [([layer.kernel for layer in (*self.layers, self.head)], self.config.l2)]

    def _hidden(self, inputs: Inputs) -> Tensor:
        hidden: Features | Tensor = inputs.features
        for layer in self.layers:
            hidden = self.dropout(layer([hidden]))
        assert isinstance(hidden, Tensor)
        return hidden


def _pairs(walks: Walks, count: int, stream: torch.Generator | None) -> tuple[Tensor, Tensor, Tensor]:
    """Neighbours, then pairs that are not, and (m,) which are which."""
    near = walks.pairs(count, 1, stream)
    far = walks.nodes(count, stream), walks.nodes(count, stream)
    keep = ~walks.joined(*far)
    one, two = (torch.cat([a, b[keep]]) for a, b in zip(near, far, strict=True))
    apart = torch.arange(len(one), device=one.device) >= len(near[0])
    return one, two, apart

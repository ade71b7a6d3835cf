"""GRAND (Feng et al., "Graph random neural networks for semi-supervised learning on graphs", 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from dfnets.graph import Graph
from dfnets.models.base import Config, Model, Sizes, scaled_features
from dfnets.models.consistency import consistency
from dfnets.models.spectral import polynomial
from dfnets.nn import Dropout, Linear, batched
from dfnets.nn.batched import Generators
from dfnets.nn.norm import column_moments
from dfnets.shift import Shift

if TYPE_CHECKING:
    from dfnets.training.objective import Objective

# The weight of the past in running statistics, and what is added to a variance, as in torch's batch normalisation.
MOMENTUM, EPS = 0.9, 1e-5


class GRANDConfig(Config):
    """Settings of GRAND; the defaults are the authors' for Cora, but for ``divide_kept``.

    Attributes:
        order: K, the number of hops that are averaged.
        augmentations: S, how often nodes are dropped anew in a step.
        node_dropout: the rate at which whole rows of X are dropped.
        divide_kept: whether the rows that are kept are divided by 1 - rate; otherwise X is multiplied by 1 - rate to
            predict, as the authors do. The network then sees smaller features, and learns more slowly.
        hidden: width of the hidden layer.
        input_dropout: of the propagated features.
        dropout: of the hidden layer.
        consistency_weight: lambda.
        temperature: what sharpens the mean prediction.
        batch_norm: normalise the columns of the propagated features and of the hidden layer.
        l2: of every weight and bias; the weight decay of other libraries is twice that.
    """

    epochs: int = Field(5000, ge=0)
    learning_rate: float = Field(0.01, gt=0)
    patience: int | None = Field(200, ge=1)
    order: int = Field(8, ge=0)
    augmentations: int = Field(4, ge=1)
    node_dropout: float = Field(0.5, ge=0, lt=1)
    divide_kept: bool = True
    hidden: int = Field(32, ge=1)
    input_dropout: float = Field(0.5, ge=0, lt=1)
    dropout: float = Field(0.5, ge=0, lt=1)
    consistency_weight: float = Field(1.0, ge=0)
    temperature: float = Field(0.5, gt=0, le=1)
    batch_norm: bool = False
    l2: float = Field(2.5e-4, ge=0)


@dataclass(frozen=True)
class Inputs:
    """X, dense, X_bar to predict from, and L^ - I, which is -S."""

    features: Tensor
    propagated: Tensor
    shift: Shift


# The authors keep the weights with the lowest validation loss, and stop where neither it nor the accuracy improves.
PAPER = {"select_by": "loss", "patience_from": "either", "divide_kept": False}


class GRAND(Model):
    """Logits MLP(X_bar), where X_bar = 1 / (K + 1) sum_{k=0..K} S^k X averages the first K hops.

    A step makes S augmentations: X_bar of an X whose rows are dropped at random. To predict, all rows are there,
    multiplied by 1 - rate unless it is the rows kept in training that are divided by it. The loss is the mean
    cross-entropy of the augmentations on the labelled nodes, and lambda times the mean squared distance of their
    predictions from the sharpened mean prediction, over all nodes.

    Dropout and batch normalisation act on the propagated features, so these are made dense and anew in every step:
    (n, features) for each augmentation and replica. That is what GRAND costs, and what DFNetPlus was built to avoid.

    Shapes: the logits are (n, R, classes).
    """

    version = 2
    Config = GRANDConfig
    presets: ClassVar = {
        "default": PAPER,
        "paper": PAPER,
        "paper-citeseer": {
            **PAPER,
            "consistency_weight": 0.7,
            "temperature": 0.3,
            "order": 2,
            "augmentations": 2,
            "input_dropout": 0.0,
            "dropout": 0.2,
        },
        "paper-pubmed": {
            **PAPER,
            "temperature": 0.2,
            "order": 5,
            "input_dropout": 0.6,
            "dropout": 0.8,
            "learning_rate": 0.2,
            "batch_norm": True,
            "patience": 100,
        },
    }
    space: ClassVar = {
        "features": ["row", "unit", "none"],
        "learning_rate": (3e-3, 3e-2, "log"),
        "l2": (5e-5, 5e-3, "log"),
        "order": [2, 4, 8],
        "augmentations": [2, 4],
        "node_dropout": [0.2, 0.5],
        "input_dropout": [0.0, 0.3, 0.6],
        "dropout": [0.2, 0.5, 0.8],
        "consistency_weight": [0.5, 0.7, 1.0, 1.5],
        "temperature": [0.1, 0.2, 0.3, 0.5],
        "batch_norm": [False, True],
    }
    config: GRANDConfig

    def __init__(self, config: GRANDConfig, sizes: Sizes, *, filter: None = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        self.first = Linear(sizes.features, config.hidden, replicas=replicas)
        self.last = Linear(config.hidden, sizes.classes, replicas=replicas)
        self.input_dropout = Dropout(config.input_dropout, replicas=replicas)
        self.hidden_dropout = Dropout(config.dropout, replicas=replicas)
        widths = [sizes.features, config.hidden] if config.batch_norm else []
        self.norms = nn.ModuleList(_BatchNorm(width, replicas) for width in widths)

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Inputs:
        scaled = scaled_features(graph, self.config.features, self.sizes, device).source
        dense = scaled if isinstance(scaled, np.ndarray) else scaled.toarray()
        features = torch.as_tensor(dense, dtype=torch.float32, device=device)
        whole = (Shift(graph) if shift is None else shift).recentred(1.0)
        seen = features if self.config.divide_kept else features * (1 - self.config.node_dropout)
        return Inputs(features, self._propagated(whole, seen), whole)

    def reset_parameters(self, streams: Generators) -> None:
        """Weights and biases as the authors draw them: normal, of mean -s and deviation s, s = 1 / sqrt(width)."""
        with torch.no_grad():
            for layer in (self.first, self.last):
                scale = layer.out_channels**-0.5
                assert layer.bias is not None
                for r, stream in enumerate(streams):
                    for own in (layer.weight[r], layer.bias[r]):
                        own.copy_(torch.randn(own.shape, generator=stream, dtype=own.dtype) * scale - scale)
        for norm in self.norms:
            assert isinstance(norm, _BatchNorm)
            norm.reset_parameters()

    def forward(self, inputs: Inputs) -> Tensor:
        if self.training:
            return self._augmented(inputs, 1)[:, :, 0]
        return self._classified(inputs.propagated[:, None, None].expand(-1, self.replicas, 1, -1))[:, :, 0]

    def losses(self, inputs: Inputs, objective: Objective) -> Tensor:
        count = self.config.augmentations
        logits = self._augmented(inputs, count)
        supervised = torch.stack([objective(logits[:, :, s]) for s in range(count)]).mean(dim=0)
        log_p = torch.log_softmax(logits, dim=-1)
        agreement = consistency(log_p, self.config.temperature, 0.0, "squared")
        return supervised + self.config.consistency_weight * agreement

    def penalties(self) -> list[tuple[list[nn.Parameter], float]]:
        return [(list(self.parameters()), self.config.l2)]

    def _augmented(self, inputs: Inputs, count: int) -> Tensor:
        """(n, R, count, classes) logits, each of features with other rows dropped."""
        n, f = inputs.features.shape
        rate = self.config.node_dropout
        share = 1 - rate if self.config.divide_kept else 1.0
        dropped = batched.draw((n, self.replicas, count), rate, self.streams, inputs.features.device)
        propagated = inputs.features.new_empty(n, self.replicas, count, f)
        for r in range(self.replicas):
            for s in range(count):
                kept = inputs.features.masked_fill(dropped[:, r, s, None], 0)
                propagated[:, r, s] = self._propagated(inputs.shift, kept) / share
        return self._classified(propagated)

    def _propagated(self, shift: Shift, x: Tensor) -> Tensor:
        order = self.config.order
        return polynomial(shift, x[:, None], [1 / (order + 1)] * (order + 1))[:, 0]

    def _classified(self, x: Tensor) -> Tensor:
        """The MLP on (n, R, S, f): (n, R, S, classes)."""
        norms = list(self.norms)
        x = _dropped(self.input_dropout, norms[0](x) if norms else x)
        hidden = torch.relu(_linear(self.first, x))
        return _linear(self.last, _dropped(self.hidden_dropout, norms[1](hidden) if norms else hidden))


class _BatchNorm(nn.Module):
    """gamma (x - mean) / sqrt(variance + eps) + beta; every augmentation is a batch of its own."""

    running_mean: Tensor
    running_variance: Tensor

    def __init__(self, channels: int, replicas: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(replicas, channels))
        self.beta = nn.Parameter(torch.zeros(replicas, channels))
        self.register_buffer("running_mean", torch.zeros(replicas, channels))
        self.register_buffer("running_variance", torch.ones(replicas, channels))

    def reset_parameters(self) -> None:
        nn.init.ones_(self.gamma)
        nn.init.zeros_(self.beta)
        self.running_mean.zero_()
        self.running_variance.fill_(1.0)

    def forward(self, x: Tensor) -> Tensor:
        """(n, R, S, c) to the same."""
        if not self.training:
            mean, variance = self.running_mean[:, None], self.running_variance[:, None]
        else:
            mean, variance = (moment.unflatten(0, x.shape[1:3]) for moment in column_moments(x.flatten(1, 2)))
            for s in range(x.shape[2]):
                self.running_mean.lerp_(mean[:, s].detach(), 1 - MOMENTUM)
                self.running_variance.lerp_(variance[:, s].detach(), 1 - MOMENTUM)
        return (x - mean) * torch.rsqrt(variance + EPS) * self.gamma[:, None] + self.beta[:, None]


def _linear(layer: Linear, x: Tensor) -> Tensor:
    """A layer on (n, R, S, c): to the product every augmentation is one more replica, with the same weight."""
    assert layer.bias is not None
    count = x.shape[2]
    product = batched.matmul(x.flatten(1, 2), layer.weight.repeat_interleave(count, dim=0))
    return batched.add_row_(product, layer.bias.repeat_interleave(count, dim=0)).unflatten(1, x.shape[1:3])


def _dropped(dropout: Dropout, x: Tensor) -> Tensor:
    """Dropout of (n, R, S, c), each replica's from its own stream."""
    return dropout(x.flatten(2)).unflatten(2, x.shape[2:])

"""DFNet: densely connected feedback-looped layers (Wijesinghe and Wang, 2019); with attention, DFNet-ATT and DF-ATT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from dfnets import responses
from dfnets.filters import FeedbackLoopedFilter, design
from dfnets.graph import Graph
from dfnets.models.base import Config, Model, Sizes, scaled_features
from dfnets.models.dfnet_presets import SPACES, presets
from dfnets.nn import DenseBlock, Features, Neighbours, Readout
from dfnets.nn.batched import Generators
from dfnets.nn.shifts import shift_for
from dfnets.responses import Response
from dfnets.shift import Shift


class DFNetConfig(Config):
    """What DFNet, DFNet-ATT and DF-ATT have in common, every technique of the paper a switch.

    Attributes:
        response: what the filter shall do above or below ``cut``.
        cut: the cut-off frequency; None leaves the technique out: the response is the frequency, scaled to [0, 1].
        cut_from: what ``cut`` is measured from: the ``"centre"`` (the paper's lambda_cut on L~) or ``"zero"`` of L^.
        p, q, gamma, samples: of the design.
        convention: see :func:`dfnets.design`.
        scaled: scaled-normalization, the centre at lmax / 2; if False, L^ itself is the shift.
        own_interval: design for the graph's own spectrum; if False for [0, 2], which serves every graph.
        learnable: train psi and phi too.
        units: the width of each layer, of one head where there is attention.
        dense: dense connections.
        heads: of the attention after each layer; None leaves attention out.
        score, attention_dropout: of the attention.
        dropout: after each layer; one rate, or one a layer.
        momentum, eps: of the batch normalisation before each layer; momentum None leaves it out.
        unit_norm: the unit-norm constraint.
        l2, head_l2: kernel regularisation of the layers, and of the softmax head.
    """

    response: Literal["high-pass", "low-pass"] = "high-pass"
    cut: float | None = 0.5
    cut_from: Literal["centre", "zero"] = "zero"
    p: int = Field(5, ge=1)
    q: int = Field(3, ge=0)
    gamma: float = Field(0.9, gt=0, lt=1)
    samples: int = Field(200, ge=2)
    convention: Literal["consistent", "published"] = "consistent"
    scaled: bool = True
    own_interval: bool = False
    learnable: bool = False

    units: tuple[int, ...] = Field((8, 16, 32, 64, 128), min_length=1)
    dense: bool = True
    heads: int | None = Field(None, ge=1)
    score: Literal["leaky-relu", "elu"] = "leaky-relu"
    attention_dropout: float = Field(0.0, ge=0, lt=1)
    dropout: float | tuple[float, ...] = 0.9
    momentum: float | None = Field(0.9, ge=0, lt=1)
    eps: float = Field(1e-3, gt=0)
    unit_norm: bool = True
    l2: float = Field(9e-2, ge=0)
    head_l2: float = Field(1e-10, ge=0)


@dataclass(frozen=True)
class Inputs:
    """A graph as DFNet reads it."""

    features: Features
    shift: Shift
    neighbours: Neighbours | None


class DFNet(Model):
    """A dense block of feedback-looped layers and a softmax head that reads every map of it, X too.

    Shapes: the logits are (n, R, classes).
    """

    Config = DFNetConfig
    presets = presets("dfnet")
    space = SPACES["dfnet"]
    config: DFNetConfig
    filter: FeedbackLoopedFilter

    def __init__(
        self, config: DFNetConfig, sizes: Sizes, *, filter: FeedbackLoopedFilter | None = None, replicas: int = 1
    ) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        if filter is None:
            raise ValueError(
                f"filter=None: {type(self).__name__} needs a filter; take {type(self).__name__}.design(...)"
            )
        self.block = DenseBlock(
            sizes.features,
            config.units,
            filter,
            dropout=config.dropout,
            dense=config.dense,
            momentum=config.momentum,
            eps=config.eps,
            heads=config.heads,
            score=config.score,
            attention_dropout=config.attention_dropout,
            learnable=config.learnable,
            gamma=config.gamma,
            unit_norm=config.unit_norm,
            replicas=replicas,
        )
        self.head = Readout(self.block.out_widths, sizes.classes, unit_norm=config.unit_norm, replicas=replicas)

    @classmethod
    def design(cls, config: DFNetConfig, graph: Graph) -> FeedbackLoopedFilter:
        interval = Shift(graph, lmax="lanczos").interval if config.own_interval else (0.0, 2.0)
        centre = interval[1] / 2 if config.scaled else 0.0
        published = config.convention == "published"
        made = design(
            _response(config, centre, interval[1]),
            config.p,
            config.q,
            config.gamma,
            method="least-squares",  # the paper's
            convention=config.convention,
            # The authors' coefficients do not depend on the operator that they are then applied to.
            centre="middle" if published else centre,
            interval=interval,
            samples=config.samples,
        )
        # The target is left out: not every one can be written to a file, and a layer needs psi and phi only.
        return FeedbackLoopedFilter(made.psi, made.phi, centre, interval, provenance=made.provenance)

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Inputs:
        shift = shift_for(self.filter, graph if shift is None else shift)
        neighbours = None if self.config.heads is None else Neighbours(shift, device=device)
        return Inputs(scaled_features(graph, self.config.features, self.sizes, device), shift, neighbours)

    def forward(self, inputs: Inputs) -> Tensor:
        return self.head(self.block(inputs.features, inputs.shift, neighbours=inputs.neighbours))

    def reset_parameters(self, streams: Generators) -> None:
        self.block.reset_parameters(streams)
        self.head.reset_parameters(streams)

    def penalties(self) -> list[tuple[list[nn.Parameter], float]]:
        return [(self.block.kernels(), self.config.l2), (self.head.kernels(), self.config.head_l2)]

    def project_(self) -> None:
        self.block.project_()
        self.head.project_()


class DFNetATT(DFNet):
    """DFNet with multi-head attention after every layer."""

    presets = presets("dfnet-att")
    space = SPACES["dfnet-att"]


class DFATT(DFNet):
    """The layers of DFNet-ATT without dense connections: each reads the one before it, and X through Q."""

    presets = presets("df-att")
    space = SPACES["df-att"]


def _response(config: DFNetConfig, centre: float, top: float) -> Response:
    high = config.response == "high-pass"
    if config.cut is None:
        return responses.custom(lambda f: f / top) if high else responses.custom(lambda f: 1 - f / top)
    cut = config.cut + (centre if config.cut_from == "centre" else 0.0)
    return responses.high_pass(cut) if high else responses.low_pass(cut)

"""Planetoid (Yang, Cohen and Salakhutdinov, 2016): embeddings that predict both the class and the graph's contexts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from dfnets.graph import Graph
from dfnets.models.base import Config, Sizes, scaled_features
from dfnets.models.deepwalk import seeds, skip_gram
from dfnets.models.transductive import Transductive
from dfnets.models.walks import Walks, rows
from dfnets.nn import Dropout, Features, Readout, batched
from dfnets.nn.batched import Generators
from dfnets.nn.product import multiply
from dfnets.shift import Shift


class PlanetoidConfig(Config):
    """The form of the network and the loss on contexts.

    Attributes:
        form: embeddings are free (``"transductive"``) or a linear map of the features (``"inductive"``).
        dimensions: of an embedding.
        units: of the hidden layer on the features, and of the one on the embeddings.
        dropout: after both.
        window: contexts are at most so many steps away.
        pairs: contexts that are drawn for a step, from walks, and as many from labels.
        negatives: nodes drawn at random for each context of a walk.
        context_weight, label_weight: of the loss on contexts from walks, and from labels.
        walks: that start at each node to embed it before training; the transductive form only.
        l2: of the kernels.
    """

    features: Literal["row", "unit", "none"] = "unit"
    learning_rate: float = Field(0.01, gt=0)
    form: Literal["transductive", "inductive"] = "transductive"
    dimensions: int = Field(32, ge=1)
    units: tuple[int, int] = (32, 32)
    dropout: float = Field(0.5, ge=0, lt=1)
    window: int = Field(3, ge=1)
    pairs: int = Field(1000, ge=1)
    negatives: int = Field(5, ge=1)
    context_weight: float = Field(1.0, ge=0)
    label_weight: float = Field(1.0, ge=0)
    walks: int = Field(10, ge=0)
    l2: float = Field(1e-4, ge=0)


@dataclass(frozen=True)
class Inputs:
    """A graph as Planetoid reads it."""

    features: Features
    walks: Walks


class Planetoid(Transductive):
    r"""A classifier on hidden layers of the features and of the embeddings e, which must also predict contexts.

    .. math::
        z_i = [\mathrm{ReLU}(x_i U), \mathrm{ReLU}(e_i V)] W, \qquad
        \mathrm{loss} = \mathrm{cross\ entropy}(z) - \mathrm{mean}_{(i, c, \gamma)} \log \sigma(\gamma\, w_c \cdot e_i)

    Pairs (i, c) with gamma = 1 lie on a random walk, or have one label; with gamma = -1, c is any node, or has another
    label; they are drawn anew in each step. The transductive form (Planetoid-T) has an embedding for each node, which
    starts where skip-gram on random walks leaves it, as the authors train contexts first; in the inductive form
    (Planetoid-I) e_i = x_i E, and any graph can be predicted for. Planetoid* is the better of the two: which one that
    is was found on validation nodes, for each dataset.

    Yang, Cohen and Salakhutdinov: Revisiting semi-supervised learning with graph embeddings. ICML 2016.

    Shapes: embeddings are (n, R, dimensions), the logits are (n, R, classes).
    """

    Config = PlanetoidConfig
    presets: ClassVar = {"default": {}}
    # What is tuned came of 2 trials on Cora, 5 on Citeseer and 4 on Pubmed, where both forms were equally good.
    space: ClassVar = {
        "form": ["transductive", "inductive"],
        "features": ["row", "unit"],
        "learning_rate": (3e-3, 3e-2, "log"),
        "context_weight": (0.1, 10.0, "log"),
        "label_weight": (0.03, 3.0, "log"),
        "window": [2, 3, 5],
        "pairs": [1000, 5000],
        "dropout": (0.0, 0.8),
        "l2": (1e-6, 1e-3, "log"),
    }
    config: PlanetoidConfig
    embedding: nn.Parameter

    def __init__(self, config: PlanetoidConfig, sizes: Sizes, **options: Any) -> None:
        super().__init__(config, sizes, **options)
        count, width = self.replicas, config.dimensions
        self.transductive = config.form == "transductive"
        self.on_features = Readout([sizes.features], config.units[0], replicas=count)
        self.on_embedding = Readout([width], config.units[1], replicas=count)
        self.head = Readout(config.units, sizes.classes, replicas=count)
        self.dropout = Dropout(config.dropout, relu=True, replicas=count)
        # (R, n, dimensions): e_i of each node; or (R, f, dimensions): the map of the features.
        self.embedding = nn.Parameter(
            batched.empty_weight(count, sizes.nodes if self.transductive else sizes.features, width)
        )
        self.contexts = nn.Parameter(batched.empty_weight(count, sizes.nodes, width))

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Inputs:  # noqa: ARG002
        if self.transductive:
            self.own_(graph)
        return Inputs(scaled_features(graph, self.config.features, self.sizes, device), Walks(graph, device))

    def reset_parameters(self, streams: Generators) -> None:
        for layer in (self.on_features, self.on_embedding, self.head):
            layer.reset_parameters(streams)
        batched.xavier_normal_(self.embedding, self.embedding.shape[1], self.embedding.shape[2], streams)
        nn.init.zeros_(self.contexts)

    @torch.no_grad()
    def begin(self, inputs: Inputs, training_labels: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        device = self.contexts.device
        self._labelled = [_Labelled(nodes, labels, device) for nodes, labels in training_labels]
        config = self.config
        if self.transductive and config.walks:
            found = skip_gram(
                inputs.walks,
                seeds(self.streams),
                dimensions=config.dimensions,
                walks=config.walks,
                length=40,
                window=config.window,
                negatives=config.negatives,
                rate=0.025,
            )
            self.embedding.copy_(torch.as_tensor(found[0]))
            self.contexts.copy_(torch.as_tensor(found[1]))

    def forward(self, inputs: Inputs) -> Tensor:
        return self._logits(inputs, self._embedded(inputs))

    def losses(self, inputs: Inputs, objective: Callable[[Tensor], Tensor]) -> Tensor:
        embedded = self._embedded(inputs)
        return objective(self._logits(inputs, embedded)) + self.context_losses(inputs, embedded)

    def context_losses(self, inputs: Inputs, embedded: Tensor) -> Tensor:
        """(R,) the losses of (n, R, dimensions) embeddings on contexts that are drawn now."""
        config = self.config
        drawn = []
        for stream, labelled in zip(self.streams, self._labelled, strict=True):
            drawn.append(_from_walks(inputs.walks, config, stream))
            drawn.append(labelled.pairs(config.pairs, stream))
        parts = drawn[::2], drawn[1::2]
        weights = config.context_weight, config.label_weight
        return sum(weight * self._losses(embedded, part) for weight, part in zip(weights, parts, strict=True))  # type: ignore[return-value]

    def penalties(self) -> list[tuple[list[nn.Parameter], float]]:
        kernels = [self.on_features.kernel, self.on_embedding.kernel, self.head.kernel]
        return [(kernels if self.transductive else [*kernels, self.embedding], self.config.l2)]

    def _embedded(self, inputs: Inputs) -> Tensor:
        return self.embedding.transpose(0, 1) if self.transductive else multiply([inputs.features], self.embedding)

    def _logits(self, inputs: Inputs, embedded: Tensor) -> Tensor:
        hidden = self.on_features([inputs.features]), self.on_embedding([embedded])
        return self.head([self.dropout(part) for part in hidden])

    def _losses(self, embedded: Tensor, drawn: Sequence[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
        """(R,) the mean of -log sigma(gamma w_c . e_i) over the (i, c, gamma) of each replica."""
        one = rows(embedded, [i for i, _, _ in drawn])
        two = rows(self.contexts.transpose(0, 1), [c for _, c, _ in drawn])
        signs = torch.cat([gamma for _, _, gamma in drawn])
        scores = (-signs * (one * two).sum(dim=-1)).split([len(i) for i, _, _ in drawn])
        # A loop, because neither a replica's sum nor the rounding of its last exponentials may depend on the others.
        return torch.stack([functional.softplus(part).sum() / max(len(part), 1) for part in scores])


class _Labelled:
    """Pairs of training nodes with one label, or with two. Nodes are sorted by class, so that a class is a block."""

    def __init__(self, nodes: np.ndarray, labels: np.ndarray, device: torch.device) -> None:
        order = np.argsort(labels, kind="stable")
        ordered = labels[order]
        first, stop = np.searchsorted(ordered, ordered, "left"), np.searchsorted(ordered, ordered, "right")
        self.nodes, self.first, self.size = (
            torch.tensor(part, device=device) for part in (nodes[order], first, stop - first)
        )

    def pairs(self, count: int, stream: torch.Generator | None) -> tuple[Tensor, Tensor, Tensor]:
        """(count,) nodes, contexts, and gamma: 1 for half of them, -1 for the others, if there are two labels."""
        total = len(self.nodes)
        device = self.nodes.device
        at = torch.randint(total, (count,), generator=stream, device=device)
        first, size = self.first[at], self.size[at]
        same = (torch.arange(count, device=device) % 2 == 0) | (size == total)
        uniform = torch.rand(count, generator=stream, device=device, dtype=torch.float64)
        # Around the circle from the end of one's own block, the others come first.
        context = torch.where(same, first + uniform * size, (first + size + uniform * (total - size)) % total).long()
        return self.nodes[at], self.nodes[context], torch.where(same, 1.0, -1.0)


def _from_walks(walks: Walks, config: PlanetoidConfig, stream: torch.Generator | None) -> tuple[Tensor, Tensor, Tensor]:
    """Nodes with contexts of walks (gamma = 1), then with random ones (-1)."""
    centres, contexts = walks.pairs(config.pairs, config.window, stream)
    others = walks.nodes(len(centres) * config.negatives, stream)
    signs = torch.where(torch.arange(len(centres) + len(others), device=centres.device) < len(centres), 1.0, -1.0)
    return torch.cat([centres, centres.repeat(config.negatives)]), torch.cat([contexts, others]), signs

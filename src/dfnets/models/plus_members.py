"""The small networks that DFNetPlus trains beside its own, where validation nodes can say what each is worth."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional

from dfnets.graph import Graph
from dfnets.models.base import Config, Model, Sizes
from dfnets.models.filtered_rows import filtered_rows
from dfnets.models.label_evidence import penalty_share
from dfnets.models.moments import filtered_moments
from dfnets.models.scaled_layer import scaled_layer
from dfnets.nn import Dropout, Features, Linear, batched
from dfnets.nn.batched import Generators
from dfnets.nn.filter_bank import FilterBank
from dfnets.nn.product import multiply
from dfnets.nn.sparse_dropout import dropout_matmul
from dfnets.shift import Shift

if TYPE_CHECKING:
    from dfnets.training.objective import Objective

# Added to variances, as in batch normalisation: a column that hardly varies is not blown up.
EPS = 1e-5
# Width of the hidden layers, and the rates at which entries of X and of the hidden layer are dropped.
HIDDEN, INPUT_DROPOUT, DROPOUT = 64, 0.5, 0.5
# What the penalty of a member is multiplied by where columns are standardised, and so are larger.
STANDARDISED = 10.0
# Labelled nodes that a step looks at, at most.
MOST_LABELLED = 256
# Entries of the filtered rows that are kept in memory, at most; of more labelled nodes some are taken, evenly.
MOST_ENTRIES = 200_000_000


class MemberConfig(Config):
    """How a member is trained: by itself, to the epoch at which its own validation loss is the least.

    Attributes:
        l2: of its weights, with few labels; with many, in proportion to 1 / labels.
    """

    epochs: int = Field(1000, ge=0)
    learning_rate: float = Field(0.01, gt=0)
    every: int = Field(10, ge=1)
    select_by: Literal["accuracy", "loss", "both"] = "loss"
    patience: int | None = Field(100, ge=1)
    l2: float = Field(5e-4, ge=0)


@dataclass(frozen=True)
class MemberInputs:
    """A graph as a member reads it.

    Attributes:
        features: X.
        bank: the filters that it reads the graph through.
        standardise: whether every column that the hidden layer reads is given mean 0 and variance 1.
        degrees: (n, 3) the degree features, for the member that reads them.
    """

    features: Features
    bank: FilterBank
    standardise: bool
    degrees: Tensor | None = None


class Member(Model):
    """A network with one hidden layer, taught by the labels alone; R replicas of it, as in every model here.

    Its logits are divided by a temperature whenever it is scored, the one that is best on validation nodes: a network
    goes on learning which class is the right one long after it has become too sure, and the loss would not show it.

    Args:
        parts: signals that the hidden layer is a sum of.
    """

    Config = MemberConfig
    presets: ClassVar = {"default": {}}
    config: MemberConfig
    mean: Tensor
    scale: Tensor

    def __init__(
        self, config: MemberConfig, sizes: Sizes, *, parts: int = 1, filter: Any = None, replicas: int = 1
    ) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        self.parts = parts
        self.register_buffer("mean", torch.zeros(replicas, parts, sizes.features))
        self.register_buffer("scale", torch.ones(replicas, parts, sizes.features))
        self.first = Linear(sizes.features, HIDDEN, parts=parts, replicas=replicas)
        self.between = Dropout(DROPOUT, relu=True, replicas=replicas)
        self.head = Linear(HIDDEN, sizes.classes, replicas=replicas)
        self._penalty: Tensor = torch.zeros(replicas)
        self._temperature: Tensor = torch.ones(replicas, 1)

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Any:
        raise NotImplementedError("a member is given MemberInputs by the ensemble that it belongs to")

    def reset_parameters(self, streams: Generators) -> None:
        for layer in (self.first, self.head):
            layer.reset_parameters(streams)

    def begin(self, inputs: MemberInputs, training_labels: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        l2 = self.config.l2 * (STANDARDISED if inputs.standardise else 1.0)
        shares = [penalty_share(len(nodes), self.sizes.classes) for nodes, _ in training_labels]
        self._penalty = torch.tensor([l2 * share for share in shares], device=self.mean.device)
        if inputs.standardise:
            self.mean[:], variance = self._moments(inputs)
            self.scale[:] = (variance + EPS).rsqrt()

    def losses(self, inputs: MemberInputs, objective: Objective) -> Tensor:
        # Not by the optimiser: replicas with more labels have smaller penalties.
        weights = self.first.weight, self.head.weight
        norms = sum(torch.stack([part[r].square().sum() for r in range(self.replicas)]) for part in weights)
        return self._supervised(inputs, objective) + self._penalty * norms

    def member_logits(self, inputs: MemberInputs) -> list[Tensor]:
        return [self(inputs)]

    def weigh_(self, weights: np.ndarray, temperatures: np.ndarray) -> None:  # noqa: ARG002
        self._temperature = torch.as_tensor(temperatures, dtype=torch.float32, device=self.mean.device)

    def mixed(self, logits: Sequence[Tensor]) -> Tensor:
        return logits[0] / self._temperature

    def _supervised(self, inputs: MemberInputs, objective: Objective) -> Tensor:
        """(R,) what the labels ask for."""
        return objective(self(inputs))

    @abstractmethod
    def _moments(self, inputs: MemberInputs) -> tuple[Tensor, Tensor]:
        """(K, f) means and variances of the columns that the hidden layer reads."""

    @abstractmethod
    def forward(self, inputs: MemberInputs) -> Tensor:
        """(n, R, classes) logits."""


class MemberOnColumns(Member):
    """A member that multiplies X by its weights first: what it filters is as narrow as its hidden layer."""

    def _moments(self, inputs: MemberInputs) -> tuple[Tensor, Tensor]:
        mean, variance = inputs.features.moments
        return mean[None], variance[None]

    def _products(self, features: Features) -> Tensor:
        """(n, R, parts h) X W of the standardised X, in training without some entries of it."""
        weight = self.first.weight * self.scale[:, 0, :, None]
        if self.training:
            products = dropout_matmul(features, weight, INPUT_DROPOUT, self.between.streams)
        else:
            products = multiply([features], weight)
        return batched.add_row_(products, -batched.matmul(self.mean[None, :, 0], weight)[0])

    @staticmethod
    def _filtered(bank: FilterBank, signals: Tensor) -> Tensor:
        """h(L^) of (n, R, columns) signals, for a bank that has h alone."""
        return bank(signals.flatten(1)[None]).view_as(signals)


class PropagatedMember(MemberOnColumns):
    """h(L^) (ReLU(X W_1 + b_1) W_2 + b_2), h a feedback loop: first predict, then propagate (Klicpera et al., 2019).

    The hidden layer comes before the filter, so that what is averaged over neighbours are opinions, not words. The loop
    is run to convergence, on as many columns as there are classes. Its bank has h alone.
    """

    def forward(self, inputs: MemberInputs) -> Tensor:
        assert self.first.bias is not None
        hidden = batched.add_row_(self._products(inputs.features), self.first.bias)
        return self._filtered(inputs.bank, self.head([self.between(hidden)]))


class ConvolvedMember(MemberOnColumns):
    """S (ReLU(S (X W_1 + b_1)) W_2 + b_2) with S = I - L^: a graph convolutional network (Kipf and Welling, 2017).

    Its filter reaches one hop and comes before the hidden layer and after it, so that a hub's words are averaged once
    before they are read. Its bank has 1 - frequency alone.
    """

    def forward(self, inputs: MemberInputs) -> Tensor:
        assert self.first.bias is not None
        read = batched.add_row_(self._products(inputs.features), self.first.bias)
        return self._filtered(inputs.bank, self.head([self.between(self._filtered(inputs.bank, read))]))


class LoopedMember(MemberOnColumns):
    """H = ReLU(S X W_1 + X V_1 + b_1), then S H W_2 + H V_2 + b_2: two steps of a feedback loop, each with its input.

    This is the layer of the paper with P = S and Q = 1 and that of ARMA graph networks (Bianchi et al., 2019). A node
    is told apart from its neighbours, so edges may join unlike nodes, and dense graphs do not blur them. Its bank has
    1 - frequency alone.
    """

    def __init__(self, config: MemberConfig, sizes: Sizes, *, filter: Any = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, parts=2, filter=filter, replicas=replicas)
        self.head = Linear(HIDDEN, sizes.classes, parts=2, replicas=replicas)

    def forward(self, inputs: MemberInputs) -> Tensor:
        def step(signals: Tensor) -> Tensor:
            neighbours, own = signals.unbind(dim=2)
            return self._filtered(inputs.bank, neighbours.contiguous()) + own

        assert self.first.bias is not None
        hidden = step(self._products(inputs.features).unflatten(2, (2, HIDDEN)))
        return self.head([self.between(batched.add_row_(hidden, self.first.bias))], step)


class FilteredMember(Member):
    """ReLU(sum_k h_k(L^) X W_k + b_1) W_2 + b_2: first filter, then predict.

    A step needs the filtered rows of labelled nodes only. They are made once, (K, t, f), so that a step multiplies
    nothing with the graph; entries of them are dropped at random.
    """

    def _moments(self, inputs: MemberInputs) -> tuple[Tensor, Tensor]:
        return filtered_moments(inputs.features, inputs.bank)

    def begin(self, inputs: MemberInputs, training_labels: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        super().begin(inputs, training_labels)
        features, training_nodes = inputs.features, [nodes for nodes, _ in training_labels]
        most = max(1, MOST_ENTRIES // (self.parts * features.shape[1] * len({n.tobytes() for n in training_nodes})))
        places = [_evenly(len(nodes), most) for nodes in training_nodes]
        every = np.unique(np.concatenate([nodes[some] for nodes, some in zip(training_nodes, places, strict=True)]))
        rows = (filtered_rows(features, inputs.bank, every) - self.mean[0, :, None]) * self.scale[0, :, None]
        self._rows = rows.transpose(0, 1).contiguous()
        # Of each replica: which of its examples have a row here, and which row that is.
        self._examples = [
            (
                torch.as_tensor(some, device=features.device),
                torch.as_tensor(np.searchsorted(every, nodes[some]), device=features.device),
            )
            for nodes, some in zip(training_nodes, places, strict=True)
        ]

    def _supervised(self, inputs: MemberInputs, objective: Objective) -> Tensor:
        # A loop, because a replica's sums must not depend on the others.
        return torch.stack([self._loss(r, inputs, objective) for r in range(self.replicas)])

    def _loss(self, r: int, inputs: MemberInputs, objective: Objective) -> Tensor:
        examples, places = self._examples[r]
        stream = self.between.streams[r]
        if len(examples) > MOST_LABELLED:
            order = torch.randperm(len(examples), generator=stream, device=places.device)[:MOST_LABELLED]
            examples, places = examples[order], places[order]
        own = objective.examples[r]
        rows = self._dropped(self._rows[places], INPUT_DROPOUT, stream)
        assert self.first.bias is not None
        assert self.head.bias is not None
        kernels = self.first.weight[r].unflatten(1, (self.parts, -1))
        hidden = sum((rows[:, k] @ kernels[:, k] for k in range(self.parts)), start=self.first.bias[r])
        hidden = torch.relu(self._beside(hidden, r, inputs, own.nodes[examples]))
        hidden = self._dropped(hidden, DROPOUT, stream)
        logits = hidden @ self.head.weight[r] + self.head.bias[r]
        entropy = functional.cross_entropy(logits, own.targets[examples], reduction="none")
        return (entropy * own.weights[examples]).mean()

    @staticmethod
    def _dropped(x: Tensor, rate: float, stream: torch.Generator | None) -> Tensor:
        """(t, K, f) or (t, h) without some entries; of filtered rows the same for all K, as if X had lost them."""
        dropped = batched.draw((len(x), 1, x.shape[-1]), rate, [stream], x.device)
        return (x / (1 - rate)).masked_fill(dropped if x.ndim == 3 else dropped[:, 0], 0)

    def forward(self, inputs: MemberInputs) -> Tensor:
        # One replica after the other: K times the hidden layer of all would be the largest tensor of the network.
        return torch.cat([self._logits(r, inputs) for r in range(self.replicas)], dim=1)

    def _logits(self, r: int, inputs: MemberInputs) -> Tensor:
        features = inputs.features
        assert self.head.bias is not None
        mask = self.mean.new_ones(self.replicas, self.parts)
        kernels, bias = scaled_layer(self.first, list(range(self.parts)), mask, None, (self.mean, self.scale))
        signals = multiply([features], kernels[r : r + 1].flatten(2)).view(features.shape[0], self.parts, -1)
        hidden = inputs.bank(signals.transpose(0, 1).contiguous()) + bias[r]
        hidden = torch.relu(self._beside(hidden, r, inputs))
        return batched.matmul(hidden[:, None], self.head.weight[r : r + 1]) + self.head.bias[r]

    def _beside(self, hidden: Tensor, r: int, inputs: MemberInputs, nodes: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """The hidden layer of a replica before its ReLU, with what else is read of some nodes, or of all."""
        return hidden


def _evenly(count: int, most: int) -> np.ndarray:
    """Numbers from 0 to ``count``, or so many of them where there are more."""
    return np.linspace(0, count - 1, min(count, most)).astype(np.int64)

"""The small networks that DFNetPlus trains beside its own, where validation nodes can say what each is worth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from dfnets.models.filtered_rows import filtered_rows
from dfnets.models.moments import filtered_moments
from dfnets.models.scaled_layer import scaled_layer
from dfnets.nn import Dropout, Features, Linear, batched
from dfnets.nn.batched import Generators
from dfnets.nn.filter_bank import FilterBank
from dfnets.nn.product import multiply
from dfnets.nn.sparse_dropout import dropout_matmul

if TYPE_CHECKING:
    from dfnets.training.objective import Objective

# Added to variances, as in batch normalisation: a column that hardly varies is not blown up.
EPS = 1e-5
# Width of the hidden layers, and the rates at which entries of X and of the hidden layer are dropped.
HIDDEN, INPUT_DROPOUT, DROPOUT = 64, 0.5, 0.5
# Labelled nodes that a step looks at, at most.
MOST_LABELLED = 256
# Entries of the filtered rows that are kept in memory, at most; of more labelled nodes some are taken, evenly.
MOST_ENTRIES = 200_000_000


class Member(nn.Module, ABC):
    """A network with one hidden layer, taught by the labels alone; R replicas of it, as in every model here.

    Args:
        features, classes: columns of X, and of the logits.
        parts: signals that the hidden layer is a sum of.
        l2: of its weights.
        replicas: R.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, features: int, classes: int, *, parts: int = 1, l2: float, replicas: int) -> None:
        super().__init__()
        self.l2, self.replicas, self.parts = l2, replicas, parts
        self.register_buffer("mean", torch.zeros(replicas, parts, features))
        self.register_buffer("scale", torch.ones(replicas, parts, features))
        self.first = Linear(features, HIDDEN, parts=parts, replicas=replicas)
        self.between = Dropout(DROPOUT, relu=True, replicas=replicas)
        self.head = Linear(HIDDEN, classes, replicas=replicas)

    def reset_parameters(self, streams: Generators) -> None:
        """The initial weights, each replica from its own stream."""
        for layer in (self.first, self.head):
            layer.reset_parameters(streams)

    @property
    def penalised(self) -> list[nn.Parameter]:
        """The weights that ``l2`` is the penalty of."""
        return [self.first.weight, self.head.weight]

    def begin(
        self,
        features: Features,
        bank: FilterBank,
        training_nodes: Sequence[np.ndarray],  # noqa: ARG002
        *,
        standardise: bool,
    ) -> None:
        """Called once before training, with the training nodes of each replica.

        Args:
            standardise: give every column that the hidden layer reads mean 0 and variance 1.
        """
        if standardise:
            self.mean[:], variance = self._moments(features, bank)
            self.scale[:] = (variance + EPS).rsqrt()

    def _first_layer(self) -> tuple[Tensor, Tensor]:
        """(R, f, K, h) weights for columns as they are, and the (R, h) bias."""
        mask = self.mean.new_ones(self.replicas, self.parts)
        return scaled_layer(self.first, list(range(self.parts)), mask, None, (self.mean, self.scale))

    @abstractmethod
    def _moments(self, features: Features, bank: FilterBank) -> tuple[Tensor, Tensor]:
        """(K, f) means and variances of the columns that the hidden layer reads."""

    @abstractmethod
    def losses(self, features: Features, bank: FilterBank, objective: Objective) -> Tensor:
        """(R,) cross-entropies on labelled nodes, with dropout."""

    @abstractmethod
    def forward(self, features: Features, bank: FilterBank) -> Tensor:
        """(n, R, classes) logits."""


class PropagatedMember(Member):
    """h(L^) (ReLU(X W_1 + b_1) W_2 + b_2), h a feedback loop: first predict, then propagate (Klicpera et al., 2019).

    The hidden layer comes before the filter, so that what is averaged over neighbours are opinions, not words. The loop
    is run to convergence, on as many columns as there are classes. Its bank has h alone.
    """

    def _moments(self, features: Features, bank: FilterBank) -> tuple[Tensor, Tensor]:  # noqa: ARG002
        mean, variance = features.moments
        return mean[None], variance[None]

    def losses(self, features: Features, bank: FilterBank, objective: Objective) -> Tensor:
        return objective(self(features, bank))

    def forward(self, features: Features, bank: FilterBank) -> Tensor:
        opinions = self.head([self.between(self._products(features))])
        return bank(opinions.flatten(1)[None]).view_as(opinions)

    def _products(self, features: Features) -> Tensor:
        """(n, R, h) X W_1 + b_1, in training without some entries of X."""
        kernels, bias = self._first_layer()
        weight = kernels.flatten(2)
        if self.training:
            products = dropout_matmul(features, weight, INPUT_DROPOUT, self.between.streams)
        else:
            products = multiply([features], weight)
        return batched.add_row_(products, bias)


class ConvolvedMember(PropagatedMember):
    """S (ReLU(S (X W_1 + b_1)) W_2 + b_2) with S = I - L^: a graph convolutional network (Kipf and Welling, 2017).

    Its filter reaches one hop and comes before the hidden layer and after it, so that a hub's words are averaged once
    before they are read. Its bank has 1 - frequency alone.
    """

    def forward(self, features: Features, bank: FilterBank) -> Tensor:
        averaged = bank(self._products(features).flatten(1)[None]).view(features.shape[0], self.replicas, -1)
        opinions = self.head([self.between(averaged)])
        return bank(opinions.flatten(1)[None]).view_as(opinions)


class FilteredMember(Member):
    """ReLU(sum_k h_k(L^) X W_k + b_1) W_2 + b_2: first filter, then predict.

    A step needs the filtered rows of labelled nodes only. They are made once, (K, t, f), so that a step multiplies
    nothing with the graph; entries of them are dropped at random.
    """

    def _moments(self, features: Features, bank: FilterBank) -> tuple[Tensor, Tensor]:
        return filtered_moments(features, bank)

    def begin(
        self, features: Features, bank: FilterBank, training_nodes: Sequence[np.ndarray], *, standardise: bool
    ) -> None:
        super().begin(features, bank, training_nodes, standardise=standardise)
        most = max(1, MOST_ENTRIES // (self.parts * features.shape[1] * len({n.tobytes() for n in training_nodes})))
        places = [_evenly(len(nodes), most) for nodes in training_nodes]
        every = np.unique(np.concatenate([nodes[some] for nodes, some in zip(training_nodes, places, strict=True)]))
        rows = (filtered_rows(features, bank, every) - self.mean[0, :, None]) * self.scale[0, :, None]
        self._rows = rows.transpose(0, 1).contiguous()
        # Of each replica: which of its examples have a row here, and which row that is.
        self._examples = [
            (
                torch.as_tensor(some, device=features.device),
                torch.as_tensor(np.searchsorted(every, nodes[some]), device=features.device),
            )
            for nodes, some in zip(training_nodes, places, strict=True)
        ]

    def losses(self, features: Features, bank: FilterBank, objective: Objective) -> Tensor:  # noqa: ARG002
        # A loop, because a replica's sums must not depend on the others.
        return torch.stack([self._loss(r, objective) for r in range(self.replicas)])

    def _loss(self, r: int, objective: Objective) -> Tensor:
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
        hidden = self._dropped(torch.relu(hidden), DROPOUT, stream)
        logits = hidden @ self.head.weight[r] + self.head.bias[r]
        entropy = functional.cross_entropy(logits, own.targets[examples], reduction="none")
        return (entropy * own.weights[examples]).mean()

    @staticmethod
    def _dropped(x: Tensor, rate: float, stream: torch.Generator | None) -> Tensor:
        """(t, K, f) or (t, h) without some entries; of filtered rows the same for all K, as if X had lost them."""
        dropped = batched.draw((len(x), 1, x.shape[-1]), rate, [stream], x.device)
        return (x / (1 - rate)).masked_fill(dropped if x.ndim == 3 else dropped[:, 0], 0)

    def forward(self, features: Features, bank: FilterBank) -> Tensor:
        # One replica after the other: K times the hidden layer of all would be the largest tensor of the network.
        return torch.cat([self._logits(r, features, bank) for r in range(self.replicas)], dim=1)

    def _logits(self, r: int, features: Features, bank: FilterBank) -> Tensor:
        assert self.head.bias is not None
        kernels, bias = self._first_layer()
        signals = multiply([features], kernels[r : r + 1].flatten(2)).view(features.shape[0], self.parts, -1)
        hidden = torch.relu(bank(signals.transpose(0, 1).contiguous()) + bias[r])
        return batched.matmul(hidden[:, None], self.head.weight[r : r + 1]) + self.head.bias[r]


def _evenly(count: int, most: int) -> np.ndarray:
    """Numbers from 0 to ``count``, or so many of them where there are more."""
    return np.linspace(0, count - 1, min(count, most)).astype(np.int64)

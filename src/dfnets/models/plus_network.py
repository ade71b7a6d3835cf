"""The network of DFNetPlus: feedback loops run to convergence, and a small classifier that must agree with itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from dfnets.graph import Graph
from dfnets.models.band_choice import FULL_CLASSES, BandChoice, choose_bands, gram_matrices, trust_with_classes
from dfnets.models.base import Model, Sizes, scaled_features
from dfnets.models.batches import sample_batch
from dfnets.models.class_balance import alignment, update_shares_
from dfnets.models.compatibility import add_hidden_choice
from dfnets.models.consistency import consistency, ramp_up
from dfnets.models.dropped_signals import dropped_signals
from dfnets.models.feature_kind import FeatureKind, feature_kind
from dfnets.models.filtered_rows import filtered_rows
from dfnets.models.moments import filtered_moments
from dfnets.models.plus_config import DFNetPlusConfig
from dfnets.models.plus_defaults import PlusDefaults
from dfnets.models.plus_responses import responses
from dfnets.models.read_once import ReadOnce
from dfnets.models.scaled_layer import scaled_layer
from dfnets.nn import Dropout, Features, Linear, batched
from dfnets.nn.batched import Generators
from dfnets.nn.filter_bank import FilterBank
from dfnets.nn.product import multiply
from dfnets.nn.rows import pick
from dfnets.shift import Shift

if TYPE_CHECKING:
    from dfnets.training.objective import Objective

# Added to variances, as in batch normalisation: a column that hardly varies is not blown up.
EPS = 1e-5
# Width of the hidden layer where the settings do not say.
HIDDEN = 64


@dataclass(frozen=True)
class Inputs:
    """A graph as DFNetPlus reads it."""

    features: Features
    bank: FilterBank

    @property
    def num_nodes(self) -> int:
        """n."""
        return self.features.shape[0]


class PlusNetwork(Model):
    """Logits f(sum_k h_k(L^) X Theta_k + b), h_k feedback loops of order one: alpha / (alpha + (1 - alpha) frequency).

    f is the identity, or a ReLU and one more linear layer. The default has weights for both, and a replica uses one of
    them: the identity where augmentations must agree, the hidden layer where labels alone teach. X Theta_k is narrow,
    so that is what is filtered, and the whole bank is one chain of products, its gradient another
    (:class:`dfnets.nn.filter_bank.FilterBank`).

    A step drops some of the nodes, S times: X_s = M_s X / (1 - rate). The loss is the mean cross-entropy of the S
    predictions p_s on some labelled nodes, and weight times their distance from the sharpened mean
    normalise(mean_s(p_s)^(1 / temperature)) on these and some unlabelled ones, where the mean is confident.

    What it takes from others: the response is personalised PageRank, as in APPNP (Klicpera et al., 2019); dropping
    nodes before propagation and the consistency of several augmentations are GRAND (Feng et al., 2020); small random
    batches of nodes are GRAND+ (Feng et al., 2022); the balance of classes is the distribution alignment of ReMixMatch
    (Berthelot et al., 2020). Its own are the rational filters run to convergence as one bank whose cost does not grow
    with the number of responses; the band of frequencies, the use of consistency and the hidden layer, which are
    chosen by the leave-one-out error of the training labels (:mod:`dfnets.models.band_choice`); gains of standardised
    columns; and the kinds of features that decide about these (:mod:`dfnets.models.feature_kind`).

    Shapes: the logits are (n, R, classes).
    """

    Config = DFNetPlusConfig
    presets: ClassVar = {"default": {"ensemble": False}}
    # Unlabelled nodes that a step looks at where the settings do not say.
    usual_unlabelled: ClassVar[int] = 600
    config: DFNetPlusConfig
    kind: Tensor
    band_mask: Tensor
    use_consistency: Tensor
    use_hidden: Tensor
    trust: Tensor
    balance_classes: Tensor
    shares: Tensor
    steps: Tensor
    mean: Tensor
    scale: Tensor

    def __init__(self, config: DFNetPlusConfig, sizes: Sizes, *, filter: Any = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        self.filters, self.bands = responses(config)
        count = len(self.filters)
        # With many classes a layer that they share learns sooner than weights of each class's own. With fewer, the
        # labels decide when they are known, for each replica, so there are weights for either.
        both = config.hidden == "auto" and sizes.classes <= FULL_CLASSES
        width = HIDDEN if config.hidden == "auto" else config.hidden
        outputs = sizes.classes if both or width is None else width
        self.first = Linear(sizes.features, outputs, parts=count, replicas=replicas)
        self.beside = Linear(sizes.features, HIDDEN, parts=count, replicas=replicas) if both else None
        self.between = Dropout(config.dropout, relu=True, replicas=replicas)
        self.head = None if width is None else Linear(width, sizes.classes, replicas=replicas)
        self.gain = None if config.gain is False else nn.Parameter(torch.ones(replicas, sizes.features))
        # What is not trained: the kind of the features; per replica the responses in use, whether augmentations must
        # agree and how much that counts, whether there is a hidden layer, whether classes are balanced, their shares in
        # the predictions, and the steps.
        self.register_buffer("kind", torch.zeros(replicas, dtype=torch.uint8))
        self.register_buffer("band_mask", torch.ones(replicas, count))
        self.register_buffer("use_consistency", torch.full((replicas,), config.band in ("low", None)))
        self.register_buffer("trust", torch.ones(replicas))
        self.register_buffer("use_hidden", torch.full((replicas,), width is not None and not both))
        self.register_buffer("balance_classes", torch.zeros(replicas, dtype=torch.bool))
        self.register_buffer("shares", torch.full((replicas, sizes.classes), 1 / sizes.classes))
        self.register_buffer("steps", torch.zeros(replicas))
        self.streams: Generators = [None] * replicas
        self._read_bands, self._read_hidden = ReadOnce(), ReadOnce()
        self._seen_kind: tuple[tuple[int, int] | None, FeatureKind | None] = (None, None)
        self.register_load_state_dict_pre_hook(add_hidden_choice)
        if config.standardise is not False:
            self.register_buffer("mean", torch.zeros(replicas, count, sizes.features))
            self.register_buffer("scale", torch.ones(replicas, count, sizes.features))

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Inputs:
        if graph.features is not None and not self.kind.any():
            # That of the graph that it is trained on, kept with the weights, so that others are scaled alike.
            self.kind.fill_(int(feature_kind(graph.features)))
        bank = FilterBank(self.filters, Shift(graph) if shift is None else shift)
        return Inputs(scaled_features(graph, self.settings.scaling, self.sizes, device), bank)

    @property
    def settings(self) -> PlusDefaults:
        """The settings as they are used, now that the kind of features is known."""
        return PlusDefaults(self.config, self._feature_kind(), self.sizes.classes)

    def reset_parameters(self, streams: Generators) -> None:
        for layer in (self.first, self.beside, self.head):
            if layer is not None:
                layer.reset_parameters(streams)
        if self.gain is not None:
            nn.init.ones_(self.gain)

    def penalties(self) -> list[tuple[list[nn.Parameter], float]]:
        weights = [layer.weight for layer in (self.first, self.beside, self.head) if layer is not None]
        return [(weights + [gain for gain in (self.gain,) if gain is not None], self.settings.l2)]

    def begin(self, inputs: Inputs, training_labels: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        if self.settings.standardise:
            self.mean[:], variance = filtered_moments(inputs.features, inputs.bank)
            self.scale[:] = (variance + EPS).rsqrt()
        self.settle(training_labels, lambda nodes: gram_matrices(inputs.features, inputs.bank, nodes))

    def settle(
        self, training_labels: Sequence[tuple[np.ndarray, np.ndarray]], grams_at: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        """What the training labels decide: the balance of classes, the band, and how far consistency is trusted."""
        self.steps.zero_()
        self.shares.fill_(1 / self.sizes.classes)
        few = [len(nodes) < self.settings.few for nodes, _ in training_labels]
        self.balance_classes.copy_(torch.tensor(few) | self.settings.always_balance)
        if len(self.bands) > 1:
            self._settle_bands(choose_bands(grams_at, self.bands, training_labels), few)
        if self.beside is not None:
            self._settle_hidden()

    def _settle_bands(self, choices: Sequence[BandChoice], few: Sequence[bool]) -> None:
        for r, choice in enumerate(choices):
            self.band_mask[r] = 0
            self.band_mask[r, list(self.bands[choice.band])] = 1
            # Too few labels to tell are no reason against consistency, which is needed most there.
            unknown = few[r] and choice.band == "low"
            self.use_consistency[r] = unknown or choice.informative
            self.trust[r] = trust_with_classes(self.sizes.classes) * (1.0 if unknown else choice.trust)

    @torch.no_grad()
    def _settle_hidden(self) -> None:
        """A hidden layer where labels alone teach: no agreement is asked for, or it counts for nothing.

        The weights that a replica does not use are zero and stay zero, so that it is the same whatever others use.
        """
        self.use_hidden.copy_(~self.use_consistency | (self.trust == 0))
        self.first.weight[self.use_hidden] = 0
        for layer in (self.beside, self.head):
            if layer is not None:
                layer.weight[~self.use_hidden] = 0
        self.use_streams(self.streams)

    def use_streams(self, streams: Generators) -> None:
        super().use_streams(streams)
        # A replica without a hidden layer draws nothing for it, also where another has one.
        self.between.streams = [
            stream if used or stream is None else torch.Generator(stream.device)
            for stream, used in zip(streams, self.use_hidden.tolist(), strict=True)
        ]

    def _feature_kind(self) -> FeatureKind | None:
        """None before the first graph; read from the device again only when it has changed."""
        seen = (self.kind.data_ptr(), self.kind._version)
        if self._seen_kind[0] != seen:
            number = int(self.kind[0])
            self._seen_kind = seen, FeatureKind(number) if number else None
        return self._seen_kind[1]

    def gradient_limits(self) -> list[tuple[list[nn.Parameter], float]]:
        longest = self.settings.clip
        layers = [layer for layer in (self.first, self.beside, self.head) if layer is not None]
        own = [parameter for layer in layers for parameter in layer.parameters()]
        return [] if longest is None else [(own + [gain for gain in (self.gain,) if gain is not None], longest)]

    def forward(self, inputs: Inputs) -> Tensor:
        if self.training:
            every = torch.arange(inputs.num_nodes, device=inputs.features.device)
            return self._augmented(inputs, every[:, None].expand(-1, self.replicas), 1)[:, :, 0]
        weight, bias, active = self._first_layer()
        product = multiply([inputs.features], weight).unflatten(2, (active, -1))
        signals = product.permute(2, 0, 1, 3).reshape(active, inputs.num_nodes, -1)
        return self._outputs(inputs.bank.subset(self._active())(signals).view(*product.shape[:2], -1) + bias)

    def logits_at(self, inputs: Inputs, nodes: np.ndarray) -> Tensor:
        weight, bias, active = self._first_layer()
        rows = filtered_rows(inputs.features, inputs.bank.subset(self._active()), nodes)
        kernels = weight.unflatten(2, (active, -1))
        return self._outputs(torch.einsum("ktf,rfkh->trh", rows, kernels) + bias)

    def losses(self, inputs: Inputs, objective: Objective) -> Tensor:
        config, settings = self.config, self.settings
        unlabelled = config.unlabelled or self.usual_unlabelled
        batch = sample_batch(objective, objective.num_nodes, settings.labelled, unlabelled, self.streams)
        # With too many classes to ask for agreement, one is all that the labels need.
        count = config.augmentations if len(self.bands) == 1 or trust_with_classes(self.sizes.classes) else 1
        log_p = torch.log_softmax(self._augmented(inputs, batch.nodes, count), dim=-1)
        labelled = len(batch.targets)
        picked = log_p[:labelled].gather(-1, batch.targets[..., None, None].expand(-1, -1, count, 1)).squeeze(-1)
        supervised = -batched.sums(picked.mean(dim=2) * batch.weights) / labelled
        self.steps += 1
        update_shares_(self.shares, log_p[labelled:].detach().exp().mean(dim=2))
        agreement = consistency(
            log_p,
            config.temperature,
            config.confidence / self.sizes.classes,
            settings.divergence,
            alignment(self.shares, self.balance_classes),
        )
        weight = config.consistency_weight * ramp_up(self.steps, config.ramp) * self.use_consistency
        return supervised + weight * self.trust * agreement

    def _augmented(self, inputs: Inputs, nodes: Tensor, count: int) -> Tensor:
        """(B, R, count, classes) logits of each replica's (B, R) nodes, once for each time that nodes are dropped."""
        weight, bias, active = self._first_layer()
        drops, streams = self.use_consistency, self.streams
        rates = self.settings.input_dropout, self.settings.node_dropout
        signals = dropped_signals(inputs.features, weight, active, rates, drops, streams, count)
        filtered = inputs.bank.subset(self._active())(signals).view(-1, self.replicas, count, weight.shape[2] // active)
        picked = pick(inputs.bank.shift, filtered, nodes)
        # Augmentations side by side, so that the gradient of the bias is a sum in a fixed order.
        return self._classified(batched.add_row_(picked.flatten(2), bias.repeat(1, count)).unflatten(2, (count, -1)))

    def _classified(self, hidden: Tensor) -> Tensor:
        """f: (B, R, S, h) to (B, R, S, classes)."""
        if self.head is None:
            return hidden
        rows = hidden.transpose(1, 2).reshape(-1, self.replicas, hidden.shape[-1])
        # Every process has the rows of the whole batch, and drops the same of them.
        with batched.drawing_for(None):
            # In the order of memory that it has without a hidden layer, which sums over it depend on.
            return self._outputs(rows).unflatten(0, (len(hidden), -1)).transpose(1, 2).contiguous()

    def _outputs(self, hidden: Tensor) -> Tensor:
        """f: (B, R, h) to (B, R, classes); in front are the columns of replicas without a hidden layer, if any."""
        if self.head is None or not self._read_hidden(self.use_hidden):
            return hidden
        direct, hidden = hidden.split((hidden.shape[2] - self.head.in_channels, self.head.in_channels), dim=2)
        logits = self.head([self.between(hidden)])
        return torch.where(self.use_hidden[:, None], logits, direct) if direct.shape[2] else logits

    def _active(self) -> list[int]:
        """The responses that at least one replica uses."""
        return self._read_bands(self.band_mask)

    def _layers(self) -> list[Linear]:
        """The first layers that at least one replica uses: the one without a hidden layer comes first."""
        if self.beside is None:
            return [self.first]
        count = len(self._read_hidden(self.use_hidden))
        return [self.first] * (count < self.replicas) + [self.beside] * (count > 0)

    def _first_layer(self) -> tuple[Tensor, Tensor, int]:
        """Theta with gains, mask and scales in it, (R, f, K h); the (R, h) bias; and K, the responses in use."""
        active = self._active()
        gain = self.gain if self.config.gain or self.settings.standardise else None
        moments = (self.mean, self.scale) if self.settings.standardise else None
        parts = [scaled_layer(layer, active, self.band_mask, gain, moments) for layer in self._layers()]
        weight, bias = parts[0] if len(parts) == 1 else (torch.cat(own, dim=-1) for own in zip(*parts, strict=True))
        return weight.flatten(2), bias, len(active)

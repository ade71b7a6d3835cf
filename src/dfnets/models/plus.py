"""DFNetPlus: a bank of feedback loops run to convergence, and a small classifier that must agree with itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from dfnets.graph import Graph
from dfnets.models.base import Config, Model, Sizes, scaled_features
from dfnets.models.consistency import consistency
from dfnets.models.leave_one_out import leave_one_out_errors
from dfnets.nn import Dropout, Features, Linear, batched
from dfnets.nn.batched import Generators
from dfnets.nn.filter_bank import FilterBank, restart_filter
from dfnets.nn.product import multiply
from dfnets.nn.sparse_dropout import dropout_matmul
from dfnets.shift import Shift

if TYPE_CHECKING:
    from dfnets.training.objective import Objective

# More labelled nodes than that say nothing new about which band to take, and their Gram matrix is dense.
MOST_NODES = 500
# Of the error of guessing: where the low-pass does not predict the labelled nodes better, neighbours say too little.
MAX_ERROR_OF_GUESSING = 0.85
# How fast the shares of the classes follow the predictions, and the least that is divided by.
SHARE_MOMENTUM, MIN_SHARE = 0.02, 1e-3
# Columns of X that are filtered at a time to measure their spread.
BLOCK = 256
# Added to variances, as in batch normalisation: a column that hardly varies is not blown up.
EPS = 1e-5

Restart = Annotated[float, Field(gt=0, le=1)]


class DFNetPlusConfig(Config):
    """Settings of DFNetPlus.

    Attributes:
        low: restart probabilities of the low-pass feedback loops, a response each.
        high: those of the high-pass ones.
        band: which responses are used: the ``"low"`` ones; ``"all"``, X as it is; or ``"high"``, X as it is and the
            high ones. None: the low ones, unless another band predicts the labelled nodes better, each from the others.
        balance_below: mean number of labelled nodes per class; with fewer, the predictions are made to spread evenly
            over the classes.
        hidden: width of the hidden layer; None leaves it out.
        standardise: give every filtered column of X mean 0 and variance 1.
        gain: a factor for every column of X, decayed like the weights; the two together drop columns that do not help.
        input_dropout: of the entries of X.
        dropout: of the hidden layer.
        node_dropout: of the nodes, before the filter.
        augmentations: how often they are dropped anew in a step.
        labelled, unlabelled: nodes that a step looks at.
        consistency_weight: of the consistency loss, reached after ``ramp`` steps; at half of them it is 0.29 of that.
        temperature: what sharpens the mean prediction.
        confidence: times 1 / classes, the least top probability of a mean prediction that counts.
        divergence: of a copy from the sharpened mean.
        l2: of the weights and gains.
    """

    features: Literal["row", "unit", "none"] = "unit"
    epochs: int = Field(1000, ge=0)
    learning_rate: float = Field(0.01, gt=0)
    clip: float | None = Field(None, gt=0)
    every: int = Field(10, ge=1)
    low: tuple[Restart, ...] = Field((0.1, 0.4), min_length=1)
    high: tuple[Restart, ...] = Field((0.4,), min_length=1)
    band: Literal["low", "all", "high"] | None = None
    balance_below: int = Field(10, ge=0)
    hidden: int | None = Field(64, ge=1)
    standardise: bool = False
    gain: bool = False
    input_dropout: float = Field(0.5, ge=0, lt=1)
    dropout: float = Field(0.7, ge=0, lt=1)
    node_dropout: float = Field(0.5, ge=0, lt=1)
    augmentations: int = Field(2, ge=1)
    labelled: int = Field(50, ge=1)
    unlabelled: int = Field(100, ge=1)
    consistency_weight: float = Field(2.0, ge=0)
    temperature: float = Field(0.2, gt=0, le=1)
    confidence: float = Field(2.0, ge=0)
    ramp: int = Field(600, ge=1)
    divergence: Literal["squared", "kl"] = "squared"
    l2: float = Field(5e-4, ge=0)


@dataclass(frozen=True)
class Inputs:
    """A graph as DFNetPlus reads it."""

    features: Features
    bank: FilterBank


class DFNetPlus(Model):
    """Logits f(sum_k h_k(L^) X Theta_k + b), h_k feedback loops of order one: alpha / (alpha + (1 - alpha) frequency).

    f is the identity, or a ReLU and one more linear layer. X Theta_k is narrow, so that is what is filtered, and the
    whole bank is one chain of products, its gradient another (:class:`dfnets.nn.filter_bank.FilterBank`).

    A step drops half of the nodes, S times: X_s = M_s X / (1 - rate). The loss is the mean cross-entropy of the S
    predictions p_s on some labelled nodes, and weight times their distance from the sharpened mean
    normalise(mean_s(p_s)^(1 / temperature)) on these and some unlabelled ones, where the mean is confident.

    Agreement alone is cheapest when one class takes all. With few labels it ends there, so then the mean is first
    divided by the shares that the classes have in the predictions so far.

    Which band of frequencies the classes live in is read off the training labels, before training: the low one, unless
    another has a leave-one-out error that is smaller by more than a standard error. So one configuration serves graphs
    whose edges join like with like, and others. Where the neighbours do not tell a node's class (the band is not the
    low one, or hardly better than guessing), no node is dropped, and no agreement is asked for.

    Shapes: the logits are (n, R, classes).
    """

    Config = DFNetPlusConfig
    presets: ClassVar = {"default": {}}
    space: ClassVar = {
        "low": [(0.1,), (0.15,), (0.2,), (0.1, 0.4), (0.05, 0.3)],
        "hidden": [None, 64, 128],
        "standardise": [False, True],
        "gain": [False, True],
        "input_dropout": [0.0, 0.2, 0.5],
        "dropout": [0.5, 0.7],
        "node_dropout": [0.2, 0.4, 0.5, 0.6],
        "augmentations": [2, 4],
        "labelled": [5, 20, 50],
        "unlabelled": [100, 300],
        "consistency_weight": [0.5, 1.0, 1.5, 2.0],
        "temperature": [0.1, 0.2, 0.35],
        "confidence": [0.0, 2.0],
        "ramp": [150, 300, 600],
        "divergence": ["squared", "kl"],
        "clip": [0.1, 0.3, None],
        "l2": (2.5e-4, 1e-2, "log"),
        "learning_rate": (5e-3, 2e-2, "log"),
    }
    config: DFNetPlusConfig
    band_mask: Tensor
    use_consistency: Tensor
    balance_classes: Tensor
    shares: Tensor
    steps: Tensor
    mean: Tensor
    scale: Tensor

    def __init__(self, config: DFNetPlusConfig, sizes: Sizes, *, filter: Any = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        low, high = [restart_filter(a) for a in config.low], [restart_filter(a, high=True) for a in config.high]
        k = len(low)
        places = {"low": range(k), "all": [k], "high": range(k, k + 1 + len(high))}
        if config.band is None:
            self.filters, self.bands = [*low, restart_filter(1.0), *high], places
        else:
            self.filters = {"low": low, "all": [restart_filter(1.0)], "high": [restart_filter(1.0), *high]}[config.band]
            self.bands = {config.band: range(len(self.filters))}
        count = len(self.filters)
        self.first = Linear(sizes.features, config.hidden or sizes.classes, parts=count, replicas=replicas)
        self.between = Dropout(config.dropout, relu=True, replicas=replicas)
        self.head = None if config.hidden is None else Linear(config.hidden, sizes.classes, replicas=replicas)
        self.gain = nn.Parameter(torch.ones(replicas, sizes.features)) if config.gain else None
        # State that is not trained: which responses a replica uses, whether its copies must agree, whether its classes
        # are to be even, their shares in its predictions, and how many steps it has made.
        self.register_buffer("band_mask", torch.ones(replicas, count))
        self.register_buffer("use_consistency", torch.full((replicas,), config.band in ("low", None)))
        self.register_buffer("balance_classes", torch.zeros(replicas, dtype=torch.bool))
        self.register_buffer("shares", torch.full((replicas, sizes.classes), 1 / sizes.classes))
        self.register_buffer("steps", torch.zeros(replicas))
        if config.standardise:
            self.register_buffer("mean", torch.zeros(replicas, count, sizes.features))
            self.register_buffer("scale", torch.ones(replicas, count, sizes.features))

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Inputs:
        bank = FilterBank(self.filters, Shift(graph) if shift is None else shift)
        return Inputs(scaled_features(graph, self.config, self.sizes, device), bank)

    def reset_parameters(self, streams: Generators) -> None:
        self.first.reset_parameters(streams)
        if self.head is not None:
            self.head.reset_parameters(streams)
        if self.gain is not None:
            nn.init.ones_(self.gain)

    def penalties(self) -> list[tuple[list[nn.Parameter], float]]:
        weights = [self.first.weight] + [layer.weight for layer in (self.head,) if layer is not None]
        return [(weights + [gain for gain in (self.gain,) if gain is not None], self.config.l2)]

    def begin(self, inputs: Inputs, training_labels: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        self.steps.zero_()
        self.shares.fill_(1 / self.sizes.classes)
        enough = self.config.balance_below * self.sizes.classes
        self.balance_classes.copy_(torch.tensor([len(nodes) < enough for nodes, _ in training_labels]))
        if self.config.standardise:
            self.mean[:], variance = _moments(inputs)
            self.scale[:] = (variance + EPS).rsqrt()
        if len(self.bands) > 1:
            chosen: dict[bytes, tuple[Tensor, bool]] = {}
            for r, (nodes, labels) in enumerate(training_labels):
                key = nodes.tobytes()
                if key not in chosen:
                    chosen[key] = self._choose_band(inputs, nodes, labels)
                self.band_mask[r], self.use_consistency[r] = chosen[key]

    def forward(self, inputs: Inputs) -> Tensor:
        weight, bias, active = self._first_layer()
        product = multiply([inputs.features], weight)
        hidden = self._filtered(inputs, product.unflatten(2, (active, -1)).unsqueeze(2), active).squeeze(2) + bias
        return hidden if self.head is None else self.head([self.between(hidden)])

    def losses(self, inputs: Inputs, objective: Objective) -> Tensor:
        nodes, targets, weights = self._sample_batch(objective, inputs.features.shape[0])
        logits = self._augmented(inputs, nodes)
        log_p = torch.log_softmax(logits, dim=-1)
        labelled = len(targets)
        picked = (
            log_p[:labelled]
            .gather(-1, targets[..., None, None].expand(-1, -1, self.config.augmentations, 1))
            .squeeze(-1)
        )
        supervised = -batched.sums(picked.mean(dim=2) * weights) / labelled
        self.steps += 1
        # Slow at first: what the network makes of the labels alone is there for the validation nodes to choose.
        ramp = torch.exp(-5 * (1 - (self.steps / self.config.ramp).clamp_max(1)) ** 2) * self.use_consistency
        least = self.config.confidence / self.sizes.classes
        shares = self._shares(log_p[labelled:].detach())
        return supervised + self.config.consistency_weight * ramp * consistency(
            log_p, self.config.temperature, least, self.config.divergence, shares
        )

    def _shares(self, log_p: Tensor) -> Tensor:
        """(R, classes) shares of the classes in the predictions for unlabelled nodes so far; 1 where all is well."""
        if len(log_p):
            self.shares.lerp_(batched.column_sums(log_p.exp().mean(dim=2)) / len(log_p), SHARE_MOMENTUM)
        return torch.where(self.balance_classes[:, None], self.shares.clamp_min(MIN_SHARE) * self.sizes.classes, 1.0)

    def _augmented(self, inputs: Inputs, nodes: Tensor) -> Tensor:
        """(B, R, S, classes) logits of each replica's B nodes, once for each time that nodes are dropped."""
        config, count = self.config, self.config.augmentations
        weight, bias, active = self._first_layer()
        n = inputs.features.shape[0]
        if config.input_dropout:
            # Every copy has its own: to the product it is one more replica, with the same weight and stream.
            streams = [stream for stream in self.streams for _ in range(count)]
            repeated = weight.repeat_interleave(count, dim=0)
            product = dropout_matmul(inputs.features, repeated, config.input_dropout, streams)
        else:
            product = multiply([inputs.features], weight)
        product = product.view(n, self.replicas, -1, active, weight.shape[2] // active)
        if config.node_dropout:
            dropped = batched.draw((n, self.replicas, count), config.node_dropout, self.streams, product.device)
            # A node that its neighbours say nothing about has its own features only, so just their entries are dropped.
            consistent = self.use_consistency[:, None]
            keep = torch.where(consistent, 1 - config.node_dropout, 1.0)[..., None, None]
            product = (product / keep).masked_fill((dropped & consistent)[..., None, None], 0)
        else:
            product = product.expand(-1, -1, count, -1, -1)
        filtered = self._filtered(inputs, product, active)
        hidden = filtered[nodes, torch.arange(self.replicas, device=nodes.device)] + bias[:, None]
        if self.head is None:
            return hidden
        rows = hidden.transpose(1, 2).reshape(-1, self.replicas, hidden.shape[-1])
        return self.head([self.between(rows)]).unflatten(0, (len(nodes), count)).transpose(1, 2)

    def _filtered(self, inputs: Inputs, product: Tensor, active: int) -> Tensor:
        """sum_k h_k(L^) of (n, R, S, K, h), for the K responses that some replica uses: (n, R, S, h)."""
        n, count, times, _, width = product.shape
        signals = product.permute(3, 0, 1, 2, 4).reshape(active, n, count * times * width)
        return inputs.bank.subset(self._active())(signals).view(n, count, times, width)

    def _active(self) -> list[int]:
        """The responses that at least one replica uses."""
        return self.band_mask.any(dim=0).nonzero().flatten().tolist()

    def _first_layer(self) -> tuple[Tensor, Tensor, int]:
        """Theta with gains, mask and scales in it, (R, f, K h); the (R, h) bias; and K, the responses in use."""
        assert self.first.bias is not None
        bias: Tensor = self.first.bias
        active = self._active()
        weight = self.first.weight.unflatten(2, (len(self.filters), -1))[:, :, active]
        weight = weight * self.band_mask[:, None, active, None]
        if self.gain is not None:
            weight = weight * self.gain[:, :, None, None]
        if self.config.standardise:
            # (Z - mean) / deviation times Theta is Z (Theta / deviation), and one row for all nodes.
            weight = weight * self.scale[:, active].transpose(1, 2)[..., None]
            mean = self.mean[:, active].transpose(1, 2).flatten(1)[None]
            bias = bias - batched.matmul(mean, weight.flatten(1, 2))[0]
        return weight.flatten(2), bias, len(active)

    def _sample_batch(self, objective: Objective, n: int) -> tuple[Tensor, Tensor, Tensor]:
        """(B, R) nodes of a step, the labelled ones first, their (L, R) classes and (L, R) weights."""
        device = objective.rows.device
        nodes, targets, weights = [], [], []
        parts = zip(
            self.streams,
            *(part.split(objective.sizes) for part in (objective.rows, objective.targets, objective.weights)),
            strict=True,
        )
        for stream, rows, classes, factors in parts:
            order = torch.randperm(len(rows), generator=stream, device=device)
            # Fewer labelled nodes than asked for come around again.
            chosen = order[torch.arange(self.config.labelled, device=device) % len(order)]
            others = torch.ones(n, dtype=torch.bool, device=device)
            others[rows // self.replicas] = False
            pool = others.nonzero().flatten()
            place = torch.randint(max(len(pool), 1), (self.config.unlabelled,), generator=stream, device=device)
            unlabelled = pool[place] if len(pool) else place[:0]
            nodes.append(torch.cat([rows[chosen] // self.replicas, unlabelled]))
            targets.append(classes[chosen])
            weights.append(factors[chosen])
        return torch.stack(nodes, dim=1), torch.stack(targets, dim=1), torch.stack(weights, dim=1)

    def _choose_band(self, inputs: Inputs, nodes: np.ndarray, labels: np.ndarray) -> tuple[Tensor, bool]:
        """What the labelled nodes say: (K,) ones at the responses of their band, and whether copies must agree."""
        picked = np.linspace(0, len(nodes) - 1, min(len(nodes), MOST_NODES)).astype(np.int64)
        grams = _gram_matrices(inputs, nodes[picked])
        errors = {
            band: leave_one_out_errors(grams[list(places)].sum(axis=0), labels[picked])
            for band, places in self.bands.items()
        }
        # By more than a standard error of the difference: of a handful of nodes any band may be the best by chance.
        gaps = {band: errors["low"] - errors[band] for band in errors}
        better = [band for band, gap in gaps.items() if gap.mean() > gap.std() / np.sqrt(len(picked))]
        band = min(better, key=lambda name: errors[name].mean(), default="low")
        guess = leave_one_out_errors(np.zeros_like(grams[0]), labels[picked]).mean()
        informative = (
            errors["low"].mean() < MAX_ERROR_OF_GUESSING * guess
            or len(nodes) < self.config.balance_below * self.sizes.classes
        )
        mask = torch.zeros(len(self.filters))
        mask[list(self.bands[band])] = 1
        return mask, bool(band == "low" and informative)


def _gram_matrices(inputs: Inputs, nodes: np.ndarray) -> np.ndarray:
    """(K, t, t) inner products of the rows of h_k(L^) X at t nodes, each matrix of trace 1."""
    device, (n, f) = inputs.features.device, inputs.features.shape
    picked = torch.zeros(n, len(nodes), device=device)
    picked[torch.tensor(nodes, device=device), torch.arange(len(nodes), device=device)] = 1
    # Rows of a symmetric filter are its columns; X comes last, so that only t of its filtered rows are ever made.
    columns = inputs.bank.apply_each(picked).transpose(0, 1).contiguous()
    rows = columns.new_empty(f, *columns.shape[1:])
    inputs.features.transposed_times(columns, out=rows)
    values = rows.permute(1, 2, 0).double()
    grams = (values @ values.transpose(1, 2)).cpu().numpy()
    traces = np.trace(grams, axis1=1, axis2=2)
    return grams / np.maximum(traces, np.finfo(np.float64).tiny)[:, None, None]


def _moments(inputs: Inputs) -> tuple[Tensor, Tensor]:
    """(K, f) means and (K, f) variances of the columns of h_k(L^) X, a block of columns at a time."""
    features = inputs.features
    means, variances = [], []
    for start in range(0, features.shape[1], BLOCK):
        part = features.source[:, start : start + BLOCK]
        dense = part if isinstance(part, np.ndarray) else part.toarray()
        filtered = inputs.bank.apply_each(torch.as_tensor(dense, device=features.device, dtype=features.dtype))
        means.append(filtered.mean(dim=1))
        variances.append(filtered.var(dim=1, unbiased=False))
    return torch.cat(means, dim=1), torch.cat(variances, dim=1)

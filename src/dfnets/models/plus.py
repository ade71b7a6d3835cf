"""DFNetPlus: a network of feedback loops and a few small ones beside it, which validation nodes weigh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor, nn

from dfnets.filters import FeedbackLoopedFilter
from dfnets.graph import Graph
from dfnets.models.base import Model, Sizes
from dfnets.models.feature_kind import FeatureKind
from dfnets.models.plus_config import SPACE, DFNetPlusConfig
from dfnets.models.plus_ensemble import KINDS, MemberFilters, make_member
from dfnets.models.plus_members import Member, MemberConfig, MemberInputs
from dfnets.models.plus_network import Inputs, PlusNetwork
from dfnets.models.plus_presets import LONGER
from dfnets.models.plus_responses import responses
from dfnets.nn.batched import Generators
from dfnets.shift import Shift

# A probability below this one counts as this one: no logit is infinite.
FLOOR = 1e-12


@dataclass(frozen=True)
class EnsembleInputs(Inputs):
    """A graph as DFNetPlus and its members read it."""

    members: MemberFilters


class DFNetPlus(PlusNetwork):
    """p ~ exp(b) sum_m w_m softmax(logits_m / T_m): the network of :class:`PlusNetwork` and small ones beside it.

    No single network is the best on every graph. Where words of neighbours add up, the network filters first and is
    linear; with hubs or many classes it is better to predict first and to propagate what was predicted; where edges
    join unlike nodes, X as it is and its high frequencies count, or a node that is told apart from its neighbours; and
    where edges say nothing, the node alone. So these are trained one after the other, each to the epoch that is the
    best for itself by validation nodes, and the network last. Whenever it is scored, the validation nodes choose every
    T_m by its cross-entropy and the weights w by the likelihood of their mixture (:mod:`dfnets.training.weighing`), as
    they choose the epoch. This is stacking (Wolpert, 1992) of networks that share a bank of filters. Last, an offset
    b_c for each class makes classes as frequent in the predictions as they are where these are used
    (:mod:`dfnets.training.class_offsets`): where as many nodes of each class were labelled, the large classes would be
    predicted too seldom.

    Without validation nodes, and with ``ensemble=False``, there is the network alone.

    Shapes: the logits, log p + b, are (n, R, classes).
    """

    presets: ClassVar = {"default": {}, **LONGER}
    space = SPACE
    version = 10
    member_weights: Tensor
    member_temperatures: Tensor
    class_offsets: Tensor

    def __init__(self, config: DFNetPlusConfig, sizes: Sizes, *, filter: Any = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        self.members = nn.ModuleList(self._make_members() if config.ensemble else [])
        if config.ensemble:
            alone = torch.zeros(replicas, 1 + len(self.members))
            alone[:, 0] = 1
            self.register_buffer("member_weights", alone)
            self.register_buffer("member_temperatures", torch.ones_like(alone))
            self.register_buffer("class_offsets", torch.zeros(replicas, sizes.classes))
        self._uses_members = False
        # What the members said last, of which inputs and with which weights: once trained, they say it again.
        self._said: tuple[Inputs, list[int], list[Tensor]] | None = None

    def _make_members(self) -> list[Member]:
        limits = self.config.model_dump(include={"loss_factor", "class_weights"})
        # A training that is cut short is so in all of its networks.
        limits["epochs"] = min(self.config.epochs, MemberConfig.model_fields["epochs"].default)
        shape = {"low": len(self.config.low), "responses": len(self._every_response()), "replicas": self.replicas}
        return [make_member(kind, self.sizes, limits, **shape) for kind in KINDS.values()]

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Inputs:
        inputs = super().prepare(graph, device, shift=shift)
        if not self.members:
            return inputs
        every, low = self._every_response(), len(self.config.low)
        return EnsembleInputs(inputs.features, inputs.bank, MemberFilters(graph, inputs.bank.shift, every, low, device))

    def reset_parameters(self, streams: Generators) -> None:
        super().reset_parameters(streams)
        # Drawn again when they are trained; without validation nodes they stay as they are, the same for the same seed.
        for member in self.members:
            cast(Member, member).reset_parameters(streams)

    def use_validation(self, inputs: Inputs) -> list[tuple[Model, Any]]:
        self._uses_members = bool(self.members)
        return list(self._with_inputs(inputs))

    def forward(self, inputs: Inputs) -> Tensor:
        if self.training or not self._mixes():
            return super().forward(inputs)
        return self.mixed(self.member_logits(inputs)) + self.class_offsets

    def logits_at(self, inputs: Inputs, nodes: np.ndarray) -> Tensor:
        if not self._mixes():
            return super().logits_at(inputs, nodes)
        logits = self(inputs)
        return logits[torch.as_tensor(nodes, device=logits.device)]

    def member_logits(self, inputs: Inputs) -> list[Tensor]:
        if not self._uses_members and not self._mixes():
            return []
        weights = [parameter._version for parameter in self.members.parameters()]
        if self._said is None or self._said[0] is not inputs or self._said[1] != weights:
            said = [member(own) for member, own in self._with_inputs(inputs)]
            self._said = inputs, weights, said
        return [super().forward(inputs), *self._said[2]]

    def weigh_(self, weights: np.ndarray, temperatures: np.ndarray) -> None:
        self.member_weights.copy_(torch.as_tensor(weights))
        self.member_temperatures.copy_(torch.as_tensor(temperatures))

    @property
    def shifts_classes(self) -> bool:
        return self.config.class_offsets

    def shift_classes_(self, offsets: np.ndarray) -> None:
        self.class_offsets.copy_(torch.as_tensor(offsets))

    def mixed(self, logits: Sequence[Tensor]) -> Tensor:
        """(n, R, classes) log p of all members' logits, before classes are shifted."""
        total = torch.zeros(())
        for m, own in enumerate(logits):
            tempered = torch.softmax(own / self.member_temperatures[:, m, None], dim=-1)
            total = total + self.member_weights[:, m, None] * tempered
        return torch.log(total.clamp_min(FLOOR))

    def _every_response(self) -> list[FeedbackLoopedFilter]:
        """The low-pass responses, X as it is, and the high-pass ones."""
        return responses(self.config.model_copy(update={"band": None}))[0]

    def _mixes(self) -> bool:
        """Whether another than the network itself has a say."""
        return bool(self.members) and bool((self.member_weights[:, 0] < 1).any())

    def _with_inputs(self, inputs: Inputs) -> list[tuple[Member, MemberInputs]]:
        """Every member with the graph as it reads it."""
        if not self.members:
            return []
        assert isinstance(inputs, EnsembleInputs)
        # Measured columns have scales of their own.
        measured = self._feature_kind() is FeatureKind.MEASURED
        return [
            (cast(Member, member), inputs.members.inputs(kind, inputs.features, measured=measured))
            for member, kind in zip(self.members, KINDS.values(), strict=True)
        ]

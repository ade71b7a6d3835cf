"""DFNetPlus: a network of feedback loops and a few small ones beside it, which validation nodes weigh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor, nn

from dfnets.filters import FeedbackLoopedFilter
from dfnets.graph import Graph
from dfnets.models.base import Sizes
from dfnets.models.feature_kind import FeatureKind
from dfnets.models.plus_config import SPACE, DFNetPlusConfig
from dfnets.models.plus_defaults import L2, STANDARDISED_L2
from dfnets.models.plus_members import ConvolvedMember, FilteredMember, Member, PropagatedMember
from dfnets.models.plus_network import Inputs, PlusNetwork
from dfnets.models.plus_presets import LONGER
from dfnets.models.plus_responses import responses
from dfnets.nn.batched import Generators
from dfnets.nn.filter_bank import FilterBank, neighbour_average, restart_filter
from dfnets.shift import Shift

if TYPE_CHECKING:
    from dfnets.training.objective import Objective

# The restart of the loop that members propagate their opinions by.
RESTART = 0.1
# Penalties of the members: of those that predict first, a usual one and one that leaves more freedom; of the one that
# averages over neighbours twice; of those that filter first, by low-pass responses and by all.
PROPAGATED_L2, CONVOLVED_L2, LOW_L2, ALL_L2 = (5e-4, 5e-5), 2.5e-4, 2e-3, 5e-4
# More classes than this have smaller penalties, by this power of their number.
L2_CLASSES, L2_POWER = 10, 1.5
# Steps after which the members rest: labels alone have taught them by then, and agreement goes on.
MEMBER_STEPS = 300
# A probability below this one counts as this one: no logit is infinite.
FLOOR = 1e-12


@dataclass(frozen=True)
class EnsembleInputs(Inputs):
    """A graph as DFNetPlus and its members read it."""

    pagerank: FilterBank
    average: FilterBank
    responses: FilterBank


class DFNetPlus(PlusNetwork):
    """p = sum_m w_m softmax(logits_m / T_m): the network of :class:`PlusNetwork` and a few small ones beside it.

    No single network is the best on every graph. Where words of neighbours add up, the network filters first and is
    linear; with hubs or many classes it is better to predict first and to propagate what was predicted; where edges
    join unlike nodes, X as it is and its high frequencies count. So these are trained side by side, each by its own
    loss, and whenever the networks are scored, the validation nodes choose every T_m by its cross-entropy and the
    weights w by the likelihood of their mixture (:mod:`dfnets.training.weighing`), as they choose the epoch. This is
    stacking (Wolpert, 1992) of networks that share a bank of filters.

    Without validation nodes, and with ``ensemble=False``, there is the network alone.

    Shapes: the logits, log p, are (n, R, classes).
    """

    presets: ClassVar = {"default": {}, **{name: {"ensemble": False, **own} for name, own in LONGER.items()}}
    space = SPACE
    version = 6
    member_weights: Tensor
    member_temperatures: Tensor

    def __init__(self, config: DFNetPlusConfig, sizes: Sizes, *, filter: Any = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        self.members = nn.ModuleList(self._make_members() if config.ensemble else [])
        if config.ensemble:
            alone = torch.zeros(replicas, 1 + len(self.members))
            alone[:, 0] = 1
            self.register_buffer("member_weights", alone)
            self.register_buffer("member_temperatures", torch.ones_like(alone))
        self._trains_members = False
        self._steps: int | None = None
        # What the members said last, of which inputs and with which weights: once they rest, it is said again.
        self._said: tuple[Inputs, list[int], list[Tensor]] | None = None

    def _make_members(self) -> list[Member]:
        sizes, low = self.sizes, len(self.config.low)
        scale = min(1.0, L2_CLASSES / sizes.classes) ** L2_POWER
        common = (sizes.features, sizes.classes)
        return [
            *(PropagatedMember(*common, l2=l2 * scale, replicas=self.replicas) for l2 in PROPAGATED_L2),
            ConvolvedMember(*common, l2=CONVOLVED_L2 * scale, replicas=self.replicas),
            FilteredMember(*common, parts=low, l2=LOW_L2 * scale, replicas=self.replicas),
            FilteredMember(*common, parts=len(self._every_response()), l2=ALL_L2 * scale, replicas=self.replicas),
        ]

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Inputs:
        inputs = super().prepare(graph, device, shift=shift)
        if not self.members:
            return inputs
        own = inputs.bank.shift
        banks = ([restart_filter(RESTART)], [neighbour_average()], self._every_response())
        return EnsembleInputs(inputs.features, inputs.bank, *(FilterBank(filters, own) for filters in banks))

    def reset_parameters(self, streams: Generators) -> None:
        super().reset_parameters(streams)
        for member in self._each():
            member.reset_parameters(streams)

    def penalties(self) -> list[tuple[list[nn.Parameter], float]]:
        factor = STANDARDISED_L2 / L2 if self._measured else 1.0
        return [*super().penalties(), *((member.penalised, factor * member.l2) for member in self._each())]

    @property
    def _measured(self) -> bool:
        """Whether columns of X have scales of their own, so that members standardise what they read."""
        return self._feature_kind() is FeatureKind.MEASURED

    def begin(self, inputs: Inputs, training_labels: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        super().begin(inputs, training_labels)
        self._training_nodes = [nodes for nodes, _ in training_labels]

    def use_validation(self, inputs: Inputs) -> None:
        self._trains_members = bool(self.members)
        for member, bank in self._with_banks(inputs):
            member.begin(inputs.features, bank, self._training_nodes, standardise=self._measured)

    def losses(self, inputs: Inputs, objective: Objective) -> Tensor:
        losses = super().losses(inputs, objective)
        if not self._trains_members:
            return losses
        if self._steps is None:
            self._steps = int(self.steps[0]) - 1  # not zero where training goes on from a checkpoint
        self._steps += 1
        if self._steps <= MEMBER_STEPS:
            for member, bank in self._with_banks(inputs):
                losses = losses + member.losses(inputs.features, bank, objective)
        return losses

    def forward(self, inputs: Inputs) -> Tensor:
        if self.training or not self._mixes():
            return super().forward(inputs)
        return self.mixed(self.member_logits(inputs))

    def logits_at(self, inputs: Inputs, nodes: np.ndarray) -> Tensor:
        if not self._mixes():
            return super().logits_at(inputs, nodes)
        logits = self(inputs)
        return logits[torch.as_tensor(nodes, device=logits.device)]

    def member_logits(self, inputs: Inputs) -> list[Tensor]:
        if not self._trains_members and not self._mixes():
            return []
        weights = [parameter._version for parameter in self.members.parameters()]
        if self._said is None or self._said[0] is not inputs or self._said[1] != weights:
            said = [member(inputs.features, bank) for member, bank in self._with_banks(inputs)]
            self._said = inputs, weights, said
        return [super().forward(inputs), *self._said[2]]

    def weigh_(self, weights: np.ndarray, temperatures: np.ndarray) -> None:
        self.member_weights.copy_(torch.as_tensor(weights))
        self.member_temperatures.copy_(torch.as_tensor(temperatures))

    def mixed(self, logits: Sequence[Tensor]) -> Tensor:
        """(n, R, classes) log p of all members' logits."""
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

    def _each(self) -> list[Member]:
        return [cast(Member, member) for member in self.members]

    def _with_banks(self, inputs: Inputs) -> list[tuple[Member, FilterBank]]:
        """Every member with the filters that it reads the graph through."""
        if not self.members:
            return []
        assert isinstance(inputs, EnsembleInputs)
        low = inputs.responses.subset(range(len(self.config.low)))
        banks = [*[inputs.pagerank] * len(PROPAGATED_L2), inputs.average, low, inputs.responses]
        return list(zip(self._each(), banks, strict=True))

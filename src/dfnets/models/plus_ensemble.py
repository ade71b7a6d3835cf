"""The small networks that DFNetPlus has beside its own: what each is, its penalty, and how it reads the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from dfnets.filters import FeedbackLoopedFilter
from dfnets.graph import Graph
from dfnets.models.base import ClassWeights, Sizes
from dfnets.models.degree_features import degree_features
from dfnets.models.plus_degrees import FilteredDegreeMember
from dfnets.models.plus_members import (
    ConvolvedMember,
    FilteredMember,
    LoopedMember,
    Member,
    MemberConfig,
    MemberInputs,
    PropagatedMember,
)
from dfnets.nn import Features
from dfnets.nn.filter_bank import FilterBank, neighbour_average, restart_filter
from dfnets.shift import Shift

# The restart of the loop that members propagate their opinions by.
RESTART = 0.1
# What that loop's expansion may be off: opinions need no more digits, and it takes half of the products.
TOLERANCE = 1e-2
# More classes than this have smaller penalties, by this power of their number.
L2_CLASSES, L2_POWER = 10, 1.5

Reads = Literal["pagerank", "average", "low", "all", "alone"]


@dataclass(frozen=True)
class MemberKind:
    """One of the small networks.

    Attributes:
        network: its class.
        l2: its penalty with up to 10 classes.
        reads: the filters that it reads the graph through: one slow loop, the average of neighbours, the low-pass
            responses, all responses, or none.
        class_weights: in place of ``"balanced-if-few"``. Where labels are many, two kinds count classes alike and the
            others count nodes alike, so that there are two opinions to weigh.
    """

    network: type[Member]
    l2: float
    reads: Reads
    class_weights: ClassWeights = "balanced-if-few"


# By name, in the order in which they are trained.
KINDS = {
    "propagated": MemberKind(PropagatedMember, 5e-4, "pagerank"),
    "propagated-free": MemberKind(PropagatedMember, 5e-5, "pagerank"),
    "averaged": MemberKind(ConvolvedMember, 2.5e-4, "average"),
    "looped": MemberKind(LoopedMember, 2.5e-4, "average"),
    "filtered-low": MemberKind(FilteredDegreeMember, 2e-3, "low"),
    "filtered-all": MemberKind(FilteredMember, 5e-4, "all", class_weights="balanced"),
    "alone": MemberKind(FilteredMember, 5e-4, "alone", class_weights="balanced"),
}
KindName = Literal["propagated", "propagated-free", "averaged", "looped", "filtered-low", "filtered-all", "alone"]


class MemberFilters:
    """A graph as small networks read it: their filters on it, each expanded once, and its degrees.

    Args:
        responses: the low-pass ones first, then X as it is, then the high-pass ones.
        low: how many of them are low-pass.
    """

    def __init__(
        self, graph: Graph, shift: Shift, responses: list[FeedbackLoopedFilter], low: int, device: torch.device
    ) -> None:
        bank = FilterBank(responses, shift)
        self.banks: dict[Reads, FilterBank] = {
            "pagerank": FilterBank([restart_filter(RESTART)], shift, tol=TOLERANCE),
            "average": FilterBank([neighbour_average()], shift),
            "low": bank.subset(range(low)),
            "all": bank,
            "alone": bank.subset([low]),
        }
        self.degrees: Tensor = torch.tensor(degree_features(graph), dtype=torch.float32, device=device)

    def inputs(self, kind: MemberKind, features: Features, *, measured: bool) -> MemberInputs:
        """What a kind of network is given.

        Args:
            measured: whether columns of X have scales of their own, so that they are standardised.
        """
        return MemberInputs(features, self.banks[kind.reads], measured, self.degrees)


def make_member(
    kind: MemberKind, sizes: Sizes, limits: dict[str, Any], *, low: int, responses: int, replicas: int
) -> Member:
    """A small network with the penalty of its kind.

    Args:
        limits: how it is trained, settings of :class:`MemberConfig`.
        low, responses: how many low-pass responses there are, and how many in all.
    """
    scale = min(1.0, L2_CLASSES / sizes.classes) ** L2_POWER
    settings = {"l2": scale * kind.l2, **limits}
    if settings.get("class_weights") == "balanced-if-few":
        settings["class_weights"] = kind.class_weights
    parts = {"low": low, "all": responses}.get(kind.reads)
    given = {} if parts is None else {"parts": parts}
    return kind.network(MemberConfig.model_validate(settings), sizes, replicas=replicas, **given)

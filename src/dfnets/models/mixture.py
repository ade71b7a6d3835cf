"""Several trained models that predict together, as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, cast

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from dfnets.graph import Graph
from dfnets.models import registry
from dfnets.models.base import Config, Model, Sizes
from dfnets.models.compatibility import current_settings
from dfnets.models.transductive import Transductive
from dfnets.nn.batched import Generators
from dfnets.shift import Shift

# A probability below this one counts as this one: no logit is infinite.
FLOOR = 1e-12


class Member(BaseModel):
    """One of the models.

    Attributes:
        model: its name, see :func:`dfnets.models.names`.
        settings: its hyper-parameters.
        replicas: how many networks of it there are; their probabilities are averaged first.
        temperature: what flattens that average, so that no member is heard more because it is too sure of itself.
        share: of its probabilities in the mixture.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    model: str
    settings: dict[str, Any]
    replicas: int = Field(ge=1)
    temperature: float = Field(1.0, gt=0)
    share: float = Field(gt=0, le=1)


class MixtureConfig(Config):
    """Which models, and how much each counts; the shares are scaled to sum to 1."""

    epochs: Literal[0] = 0
    members: tuple[Member, ...] = Field(min_length=1)


class Mixture(Model):
    r"""The weighted mean of what its members say.

    .. math:: p_i = \sum_m w_m \, \mathrm{tempered}\Bigl(\frac{1}{R_m} \sum_r p^{(m, r)}_i, T_m\Bigr)

    It is made of models that are trained already (:func:`dfnets.train` does so), so it has nothing to train itself. It
    is one network: the replicas of its members are within it, and their tensors are named ``members.0.`` and so on.

    A member that knows the nodes of its own graph only (label propagation) is left out on another graph, and the others
    share its part.

    Shapes: the logits, log p, are (n, 1, classes).
    """

    Config = MixtureConfig
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"default": {}}
    config: MixtureConfig

    def __init__(self, config: MixtureConfig, sizes: Sizes, *, filter: None = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        self.members = nn.ModuleList()
        for member in config.members:
            kind = registry.get(member.model)
            settings = kind.Config(**current_settings(member.model, member.settings))
            self.members.append(kind(settings, sizes, replicas=member.replicas))
        self.transductive = all(member.transductive for member in self._each())

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> list[Any]:
        """What each member needs of the graph; None for one that cannot predict for it."""
        prepared = []
        for member in self._each():
            elsewhere = isinstance(member, Transductive) and not self.transductive and not member.is_own(graph)
            prepared.append(None if elsewhere else member.prepare(graph, device, shift=shift))
        return prepared

    def reset_parameters(self, streams: Generators) -> None:
        """There are none of its own."""

    def forward(self, inputs: list[Any]) -> Tensor:
        pairs = zip(self._each(), inputs, strict=True)
        return self._mixed([None if own is None else member(own) for member, own in pairs])

    def logits_at(self, inputs: list[Any], nodes: np.ndarray) -> Tensor:
        pairs = zip(self._each(), inputs, strict=True)
        return self._mixed([None if own is None else member.logits_at(own, nodes) for member, own in pairs])

    def _each(self) -> list[Model]:
        return list(cast(Iterable[Model], self.members))

    def _mixed(self, logits: list[Tensor | None]) -> Tensor:
        """(t, 1, classes) from each member's (t, R, classes)."""
        total, shares = torch.zeros(()), 0.0
        for member, own in zip(self.config.members, logits, strict=True):
            if own is not None:
                mean = torch.softmax(own.double(), dim=-1).mean(dim=1)
                flat = torch.softmax(torch.log(mean.clamp_min(FLOOR)) / member.temperature, dim=-1)
                total = total + member.share * flat
                shares += member.share
        return torch.log((total / shares).clamp_min(FLOOR))[:, None]


def replica_counts(config: Config, replicas: int) -> list[int]:
    """How many networks each member of a mixture has; of any other model, its ``replicas``."""
    return [member.replicas for member in config.members] if isinstance(config, MixtureConfig) else [replicas]


def model_names(name: str, config: Config) -> list[str]:
    """The models that a mixture is made of; of any other model, its own name."""
    return [member.model for member in config.members] if isinstance(config, MixtureConfig) else [name]

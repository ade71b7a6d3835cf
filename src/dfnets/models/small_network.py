"""One of the small networks of DFNetPlus by itself, to be trained and weighed beside other models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from dfnets.graph import Graph
from dfnets.models.base import ClassWeights, Model, Sizes, scaled_features
from dfnets.models.feature_kind import FeatureKind, feature_kind
from dfnets.models.plus_config import DFNetPlusConfig, Restart
from dfnets.models.plus_ensemble import KINDS, KindName, MemberFilters, make_member
from dfnets.models.plus_members import MemberConfig, MemberInputs
from dfnets.models.plus_responses import responses
from dfnets.nn.batched import Generators
from dfnets.shift import Shift

if TYPE_CHECKING:
    from dfnets.training.objective import Objective


class SmallNetworkConfig(MemberConfig):
    """Which of the networks, and how it is trained.

    Attributes:
        kind: the network, by its name in :data:`dfnets.models.plus_ensemble.KINDS`.
        features: as in :class:`DFNetPlusConfig`; ``"auto"``: as the kind of the features asks for.
        low, high: the restarts of the low-pass and of the high-pass loops, where it reads these.
        class_weights: as in every model.
        l2: None is the penalty of its kind.
    """

    kind: KindName = "looped"
    features: Literal["auto", "row", "unit", "none"] = "auto"  # type: ignore[assignment]
    low: tuple[Restart, ...] = Field((0.1, 0.4), min_length=1)
    high: tuple[Restart, ...] = Field((0.4,), min_length=1)
    class_weights: ClassWeights | None = "balanced-if-few"
    l2: float | None = Field(None, ge=0)  # type: ignore[assignment]


class SmallNetwork(Model):
    """A network with one hidden layer of 64 units, taught by the labels alone: one of those beside DFNetPlus's own.

    What it computes depends on its ``kind``; S = I - L^, and h is a feedback loop run to convergence:

    - ``propagated``, ``propagated-free``: h(L^) (ReLU(X W_1 + b_1) W_2 + b_2), with a usual or a weak penalty.
    - ``averaged``: S (ReLU(S (X W_1 + b_1)) W_2 + b_2).
    - ``looped``: S H W_2 + H V_2 + b_2 with H = ReLU(S X W_1 + X V_1 + b_1).
    - ``filtered-low``, ``filtered-all``: ReLU(sum_k h_k(L^) X W_k + b_1) W_2 + b_2, the low-pass responses or all.
    - ``alone``: ReLU(X W_1 + b_1) W_2 + b_2.

    :func:`dfnets.train` trains all of them on folds of the labelled nodes and gives each the share that held-out nodes
    ask for. The sources of each are named in :mod:`dfnets.models.plus_members`.

    Shapes: the logits are (n, R, classes).
    """

    Config = SmallNetworkConfig
    # One for each kind, with the way in which it counts classes.
    presets: ClassVar = {
        "default": {},
        **{name: {"kind": name, "class_weights": kind.class_weights} for name, kind in KINDS.items()},
    }
    config: SmallNetworkConfig
    kind_of_features: Tensor

    def __init__(self, config: SmallNetworkConfig, sizes: Sizes, *, filter: Any = None, replicas: int = 1) -> None:
        super().__init__(config, sizes, filter=filter, replicas=replicas)
        self._kind = KINDS[config.kind]
        self._responses, bands = responses(DFNetPlusConfig.model_validate({"low": config.low, "high": config.high}))
        self._low = len(bands["low"])
        limits = config.model_dump(
            include={"epochs", "loss_factor", "class_weights", *({"l2"} if config.l2 is not None else ())}
        )
        self.network = make_member(
            self._kind, sizes, limits, low=self._low, responses=len(self._responses), replicas=replicas
        )
        # That of the graph that it is trained on, kept with the weights, so that others are scaled alike.
        self.register_buffer("kind_of_features", torch.zeros(replicas, dtype=torch.uint8))
        self._is_judged = False

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> MemberInputs:
        if graph.features is not None and not self.kind_of_features.any():
            self.kind_of_features.fill_(int(feature_kind(graph.features)))
        kind = FeatureKind(int(self.kind_of_features[0])) if self.kind_of_features.any() else FeatureKind.WORDS
        scaling = kind.scaling if self.config.features == "auto" else self.config.features
        features = scaled_features(graph, scaling, self.sizes, device)
        own = Shift(graph) if shift is None else shift
        filters = MemberFilters(graph, own, self._responses, self._low, device)
        return filters.inputs(self._kind, features, measured=kind is FeatureKind.MEASURED)

    def reset_parameters(self, streams: Generators) -> None:
        self.network.reset_parameters(streams)

    def begin(self, inputs: MemberInputs, training_labels: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        self.network.begin(inputs, training_labels)

    def forward(self, inputs: MemberInputs) -> Tensor:
        return self.network(inputs)

    def losses(self, inputs: MemberInputs, objective: Objective) -> Tensor:
        return self.network.losses(inputs, objective)

    def use_validation(self, inputs: MemberInputs) -> list[tuple[Model, Any]]:  # noqa: ARG002
        self._is_judged = True
        return []

    def member_logits(self, inputs: MemberInputs) -> list[Tensor]:
        # Validation nodes fit a temperature before they judge an epoch.
        return self.network.member_logits(inputs) if self._is_judged else []

    def weigh_(self, weights: np.ndarray, temperatures: np.ndarray) -> None:
        self.network.weigh_(weights, temperatures)

    def mixed(self, logits: Sequence[Tensor]) -> Tensor:
        return self.network.mixed(logits)

"""The member of DFNetPlus that also reads the degrees of nodes, where labels show that these tell a class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dfnets.models.base import Sizes
from dfnets.models.degree_features import COLUMNS, tell_classes
from dfnets.models.plus_members import EPS, HIDDEN, FilteredMember, MemberConfig, MemberInputs
from dfnets.nn import Linear
from dfnets.nn.batched import Generators


class FilteredDegreeMember(FilteredMember):
    """ReLU(sum_k h_k(L^) X W_k + D V + b_1) W_2 + b_2, D the standardised degree features; elsewhere without D V.

    Each replica reads D if it predicts its own labelled nodes better than a guess does
    (:func:`dfnets.models.degree_features.tell_classes`).
    """

    degree_mean: Tensor
    degree_scale: Tensor
    reads_degrees: Tensor

    def __init__(
        self, config: MemberConfig, sizes: Sizes, *, parts: int = 1, filter: Any = None, replicas: int = 1
    ) -> None:
        super().__init__(config, sizes, parts=parts, filter=filter, replicas=replicas)
        self.of_degrees = Linear(COLUMNS, HIDDEN, bias=False, replicas=replicas)
        # Those of the graph that it is trained on.
        self.register_buffer("degree_mean", torch.zeros(replicas, COLUMNS))
        self.register_buffer("degree_scale", torch.ones(replicas, COLUMNS))
        self.register_buffer("reads_degrees", torch.zeros(replicas, dtype=torch.bool))

    def reset_parameters(self, streams: Generators) -> None:
        super().reset_parameters(streams)
        self.of_degrees.reset_parameters(streams)

    def begin(self, inputs: MemberInputs, training_labels: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        super().begin(inputs, training_labels)
        assert inputs.degrees is not None
        self.degree_mean[:] = inputs.degrees.mean(dim=0)
        self.degree_scale[:] = (inputs.degrees.var(dim=0, unbiased=False) + EPS).rsqrt()
        columns = ((inputs.degrees - self.degree_mean[0]) * self.degree_scale[0]).double().cpu().numpy()
        told = [tell_classes(columns[nodes], classes) for nodes, classes in training_labels]
        self.reads_degrees.copy_(torch.tensor(told))

    def _beside(self, hidden: Tensor, r: int, inputs: MemberInputs, nodes: Tensor | None = None) -> Tensor:
        if not self.reads_degrees[r]:
            return hidden
        assert inputs.degrees is not None
        own = inputs.degrees if nodes is None else inputs.degrees[nodes]
        return hidden + ((own - self.degree_mean[r]) * self.degree_scale[r]) @ self.of_degrees.weight[r]

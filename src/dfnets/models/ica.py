"""Iterative classification (Lu and Getoor, 2003; Sen et al., 2008): a node is judged by itself and its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
import torch
from pydantic import Field
from torch import Tensor

from dfnets.graph import Graph
from dfnets.models.base import Config, Model, Sizes, scaled_features
from dfnets.models.logistic import logistic
from dfnets.nn import Features
from dfnets.nn.batched import Generators, matmul
from dfnets.nn.sparse import SparseMatrix
from dfnets.shift import Shift


class ICAConfig(Config):
    """How nodes are classified again and again.

    Attributes:
        aggregate: what of the neighbours' classes a node reads: their (weighted) ``"count"`` or ``"proportion"``.
        labels: a neighbour counts for its most probable class (``"hard"``), or for each by probability (``"soft"``).
        iterations: how often all nodes are classified anew.
        l2: of both logistic regressions, see :func:`dfnets.models.logistic.logistic`.
    """

    epochs: Literal[0] = 0
    features: Literal["row", "unit", "none"] = "unit"
    aggregate: Literal["count", "proportion"] = "proportion"
    labels: Literal["hard", "soft"] = "soft"
    iterations: int = Field(10, ge=0)
    l2: float = Field(0.1, gt=0)


@dataclass(frozen=True)
class Inputs:
    """A graph as ICA reads it."""

    features: Features
    mixing: SparseMatrix


class ICA(Model):
    r"""Two logistic regressions: one on a node's features starts, one on features and neighbours' classes goes on.

    .. math::
        Y^{(0)} = \mathrm{label}(X V + a), \qquad Y^{(t+1)} = \mathrm{label}(X W_1 + M Y^{(t)} W_2 + b)

    with M = A (counts) or D^-1 A (proportions), and label the one-hot class or the probabilities. V is fitted to the
    training nodes, W to them too, their neighbours' classes being the known ones and, elsewhere, those of Y^(0). All
    nodes are classified at once, so that nothing is random: replicas differ by their split only.

    Sen et al.: Collective classification in network data. AI Magazine 29(3), 2008. Lu and Getoor: Link-based
    classification. ICML 2003.

    Shapes: the logits are (n, R, classes).
    """

    Config = ICAConfig
    presets: ClassVar = {"default": {}}
    # What is tuned came of 60 settings for each citation network; the defaults are the best on Cora and Citeseer.
    space: ClassVar = {
        "features": ["row", "unit", "none"],
        "aggregate": ["count", "proportion"],
        "labels": ["hard", "soft"],
        "l2": (1e-4, 10.0, "log"),
    }
    config: ICAConfig
    first_kernel: Tensor
    first_bias: Tensor
    kernel: Tensor
    bias: Tensor

    def __init__(self, config: ICAConfig, sizes: Sizes, **options: Any) -> None:
        super().__init__(config, sizes, **options)
        width, classes = sizes.features, sizes.classes
        self.register_buffer("first_kernel", torch.zeros(self.replicas, width, classes))
        self.register_buffer("first_bias", torch.zeros(self.replicas, classes))
        self.register_buffer("kernel", torch.zeros(self.replicas, width + classes, classes))
        self.register_buffer("bias", torch.zeros(self.replicas, classes))

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Inputs:  # noqa: ARG002
        adjacency = graph.adjacency
        if self.config.aggregate == "proportion":
            degrees = graph.degrees
            adjacency = sp.csr_array(sp.diags_array(1 / np.where(degrees > 0, degrees, 1)) @ adjacency)
        features = scaled_features(graph, self.config.features, self.sizes, device)
        return Inputs(features, SparseMatrix(adjacency, device, torch.float32))

    def reset_parameters(self, streams: Generators) -> None:
        """There are none."""

    def begin(self, inputs: Inputs, training_labels: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        source = inputs.features.source
        self._fit(training_labels, self.first_kernel, self.first_bias, lambda nodes, _: source[nodes])
        guess = self._labels(inputs.features.times(self.first_kernel) + self.first_bias)
        for r, (nodes, labels) in enumerate(training_labels):
            guess[torch.tensor(nodes), r] = torch.eye(self.sizes.classes, device=guess.device)[torch.tensor(labels)]
        mixed = self._mix(inputs, guess).cpu().numpy()
        self._fit(training_labels, self.kernel, self.bias, lambda nodes, r: _beside(source[nodes], mixed[nodes, r]))

    def forward(self, inputs: Inputs) -> Tensor:
        width = self.sizes.features
        logits = inputs.features.times(self.first_kernel) + self.first_bias
        own = inputs.features.times(self.kernel[:, :width]) + self.bias
        for _ in range(self.config.iterations):
            logits = own + matmul(self._mix(inputs, self._labels(logits)), self.kernel[:, width:])
        return logits

    def _labels(self, logits: Tensor) -> Tensor:
        """Y: (n, R, classes)."""
        if self.config.labels == "soft":
            return torch.softmax(logits, dim=-1)
        return torch.zeros_like(logits).scatter_(-1, logits.argmax(dim=-1, keepdim=True), 1.0)

    def _mix(self, inputs: Inputs, labels: Tensor) -> Tensor:
        """M Y: (n, R, classes)."""
        return (inputs.mixing @ labels.flatten(1)).view_as(labels)

    def _fit(
        self,
        training_labels: Sequence[tuple[np.ndarray, np.ndarray]],
        kernel: Tensor,
        bias: Tensor,
        rows: Callable[[np.ndarray, int], Any],
    ) -> None:
        """Logistic regression of each replica; those of one split have one solution."""
        fitted: dict[bytes, tuple[Tensor, Tensor]] = {}
        for r, (nodes, labels) in enumerate(training_labels):
            key = nodes.tobytes()
            if key not in fitted:
                found = logistic(rows(nodes, r), labels, self.sizes.classes, self.config.l2)
                fitted[key] = torch.as_tensor(found[0]), torch.as_tensor(found[1])
            kernel[r], bias[r] = fitted[key]


def _beside(x: Any, y: np.ndarray) -> Any:
    return sp.hstack([x, sp.csr_array(y)], format="csr") if sp.issparse(x) else np.hstack([x, y])

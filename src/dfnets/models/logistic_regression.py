"""Logistic regression on features that a bank of feedback loops has filtered, or on the features alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
import torch
from pydantic import Field
from torch import Tensor

from dfnets.graph import Graph
from dfnets.models.base import Config, Model, Sizes, scaled_features
from dfnets.models.filtered_rows import filtered_rows
from dfnets.models.logistic import logistic
from dfnets.nn import Features
from dfnets.nn.batched import Generators
from dfnets.nn.filter_bank import FilterBank, restart_filter
from dfnets.shift import Shift

# Eigenvalues of the Gram matrix below this share of the largest are rounding.
ROUNDING = 1e-10

Restart = Annotated[float, Field(gt=0, le=1)]


class LogisticRegressionConfig(Config):
    """Settings of logistic regression.

    Attributes:
        low: restart probabilities of low-pass feedback loops, see :func:`dfnets.nn.filter_bank.restart_filter`; 1 is X
            as it is.
        high: those of high-pass ones.
        l2: of the weights: the sum of the cross-entropies, plus l2 / 2 times their squared norm, is minimised.
    """

    features: Literal["row", "unit", "none"] = "unit"
    epochs: Literal[0] = 0
    low: tuple[Restart, ...] = (1.0,)
    high: tuple[Restart, ...] = ()
    l2: float = Field(0.1, gt=0)


@dataclass(frozen=True)
class Inputs:
    """A graph as logistic regression reads it; no bank where X is not filtered."""

    features: Features
    bank: FilterBank | None


class LogisticRegression(Model):
    """Logits sum_k h_k(L^) X W_k + b, a convex problem solved to its minimum: no epochs, nothing drawn.

    With ``low=(1.0,)``, the default, the graph is not looked at. The penalty does not change when the rows are turned,
    so the problem is solved in the space that the labelled rows span, which has one dimension for each of them.

    Shapes: the logits are (n, R, classes).
    """

    Config = LogisticRegressionConfig
    presets: ClassVar = {"default": {}}
    space: ClassVar = {"l2": (1e-3, 10.0, "log"), "low": [(1.0,), (0.1,), (1.0, 0.2)]}
    config: LogisticRegressionConfig
    kernel: Tensor
    bias: Tensor

    def __init__(self, config: LogisticRegressionConfig, sizes: Sizes, **options: Any) -> None:
        super().__init__(config, sizes, **options)
        self.filters = [restart_filter(a) for a in config.low] + [restart_filter(a, high=True) for a in config.high]
        self.register_buffer("kernel", torch.zeros(self.replicas, sizes.features, len(self.filters) * sizes.classes))
        self.register_buffer("bias", torch.zeros(self.replicas, sizes.classes))

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Inputs:
        features = scaled_features(graph, self.config.features, self.sizes, device)
        plain = self.config.low == (1.0,) and not self.config.high
        return Inputs(features, None if plain else FilterBank(self.filters, Shift(graph) if shift is None else shift))

    def reset_parameters(self, streams: Generators) -> None:
        """There are none."""

    def begin(self, inputs: Inputs, training_labels: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        classes, count = self.sizes.classes, len(self.filters)
        every = np.unique(np.concatenate([nodes for nodes, _ in training_labels]))
        rows = _rows(inputs, every)
        basis, back = _basis(rows)
        for r, (nodes, labels) in enumerate(training_labels):
            kernel, bias = logistic(basis[np.searchsorted(every, nodes)], labels, classes, self.config.l2)
            kernel = kernel if back is None else np.asarray(rows.T @ (back @ kernel))
            # (K f, classes) to (f, K classes): what X is multiplied by, before the filters.
            parts = kernel.reshape(count, -1, classes).transpose(1, 0, 2).reshape(-1, count * classes)
            self.kernel[r] = torch.as_tensor(parts)
            self.bias[r] = torch.as_tensor(bias)

    def forward(self, inputs: Inputs) -> Tensor:
        product = inputs.features.times(self.kernel)
        if inputs.bank is not None:
            n, count, _ = product.shape
            parts = product.unflatten(2, (len(self.filters), -1)).permute(2, 0, 1, 3)
            product = inputs.bank(parts.reshape(len(self.filters), n, -1)).view(n, count, -1)
        return product + self.bias

    def logits_at(self, inputs: Inputs, nodes: np.ndarray) -> Tensor:
        if inputs.bank is None:
            return super().logits_at(inputs, nodes)
        kernels = self.kernel.unflatten(2, (len(self.filters), -1))
        rows = filtered_rows(inputs.features, inputs.bank, nodes)
        return torch.einsum("ktf,rfkc->trc", rows, kernels) + self.bias


def _rows(inputs: Inputs, nodes: np.ndarray) -> Any:
    """The rows of [h_1(L^) X, ..., h_K(L^) X] at some nodes, (t, K f); sparse where X is and nothing is filtered."""
    if inputs.bank is None:
        return inputs.features.source[nodes].astype(np.float64)
    rows = filtered_rows(inputs.features, inputs.bank, nodes)
    return rows.transpose(0, 1).flatten(1).double().cpu().numpy()


def _basis(rows: Any) -> tuple[Any, np.ndarray | None]:
    """Coordinates of the rows in the space that they span, and B with rows' B the axes of it.

    Where there are fewer columns than rows, the rows themselves, and None.
    """
    if rows.shape[1] <= rows.shape[0]:
        return rows, None
    gram = rows @ rows.T
    values, vectors = np.linalg.eigh(gram.toarray() if sp.issparse(gram) else gram)
    kept = values > ROUNDING * max(float(values[-1]), np.finfo(np.float64).tiny)
    if not kept.any():
        return np.zeros((len(values), 1)), np.zeros((len(values), 1))
    lengths = np.sqrt(values[kept])
    return vectors[:, kept] * lengths, vectors[:, kept] / lengths

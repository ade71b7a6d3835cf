"""Label propagation (Zhu, Ghahramani and Lafferty, 2003): classes flow along edges from the nodes that have one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
import torch
from pydantic import Field
from torch import Tensor

from dfnets.graph import Graph
from dfnets.models.base import Config, Sizes
from dfnets.models.transductive import Transductive
from dfnets.nn.batched import Generators
from dfnets.shift import Shift

# A probability below this one counts as this one: no logit is infinite.
FLOOR = 1e-12
# Classes that are solved for at once: what they need of a graph of 65,000 nodes stays near the processor.
COLUMNS = 16


class LabelPropagationConfig(Config):
    """How labels are propagated.

    Attributes:
        class_mass: whether each class is scaled so that its share of all nodes is its share of the training nodes.
        tolerance: of the linear system, relative to its right-hand side.
    """

    epochs: Literal[0] = 0
    class_mass: bool = True
    tolerance: float = Field(1e-6, gt=0)


class LabelPropagation(Transductive):
    r"""The harmonic function that is right on the training nodes, with class mass normalisation.

    .. math::
        F_L = Y_L, \qquad F_U = D_{UU}^{-1} (A_{UU} F_U + A_{UL} Y_L), \qquad
        p_{ic} \propto \frac{q_c}{\sum_{j \in U} F_{jc}} F_{ic}

    with L the training nodes, U the others and q the shares of the classes among L: F_ic is the probability that a
    random walk from i meets class c first. It is what propagating F <- D^-1 A F with the rows of L clamped converges
    to. A node from which no training node can be reached gets q. Nothing is random: replicas differ by split only.

    Zhu, Ghahramani and Lafferty: Semi-supervised learning using Gaussian fields and harmonic functions. ICML 2003.

    Shapes: the logits, log p, are (n, R, classes).
    """

    Config = LabelPropagationConfig
    presets: ClassVar = {"default": {}}
    space: ClassVar = {"class_mass": [True, False]}
    reads_features = False
    config: LabelPropagationConfig
    seeds: Tensor

    def __init__(self, config: LabelPropagationConfig, sizes: Sizes, **options: Any) -> None:
        super().__init__(config, sizes, **options)
        # (R, n): the class of a training node, -1 for every other.
        self.register_buffer("seeds", torch.full((self.replicas, sizes.nodes), -1, dtype=torch.int64))

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> sp.csr_array:  # noqa: ARG002
        self.own_(graph)
        return graph.adjacency

    def reset_parameters(self, streams: Generators) -> None:
        """There are none."""

    def begin(self, inputs: sp.csr_array, training_labels: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:  # noqa: ARG002
        self.seeds.fill_(-1)
        for seeds, (nodes, labels) in zip(self.seeds, training_labels, strict=True):
            seeds[torch.tensor(nodes)] = torch.tensor(labels, device=seeds.device)

    def forward(self, inputs: sp.csr_array) -> Tensor:
        # Replicas of one split have one solution.
        distinct, which = torch.unique(self.seeds, dim=0, return_inverse=True)
        solved = [self._solve(inputs, seeds.cpu().numpy()) for seeds in distinct]
        return torch.stack([torch.as_tensor(solved[i], device=which.device) for i in which.tolist()], dim=1)

    def _solve(self, adjacency: sp.csr_array, seeds: np.ndarray) -> np.ndarray:
        known = seeds >= 0
        one_hot = np.eye(self.sizes.classes)[seeds[known]]
        prior = one_hot.mean(axis=0)
        free = np.flatnonzero(_reached(adjacency, known) & ~known)
        inner = np.zeros((len(free), self.sizes.classes))
        present = np.flatnonzero(prior)
        for start in range(0, len(present), COLUMNS):
            some = present[start : start + COLUMNS]
            inner[:, some] = harmonic(adjacency, free, np.flatnonzero(known), one_hot[:, some], self.config.tolerance)
        if self.config.class_mass:
            mass = inner.sum(axis=0)
            inner = inner * np.divide(prior, mass, out=np.zeros_like(mass), where=mass > 0) + FLOOR * prior
            inner /= inner.sum(axis=1, keepdims=True)
        result = np.tile(prior, (len(seeds), 1))
        result[known] = one_hot
        result[free] = inner
        return np.log(np.maximum(result, FLOOR)).astype(np.float32)


def harmonic(
    adjacency: sp.csr_array, free: np.ndarray, known: np.ndarray, values: np.ndarray, tolerance: float
) -> np.ndarray:
    """The (free, k) solution F of (D - A)_UU F = A_UL values, by conjugate gradients on all columns at once.

    D^-1/2 scales the system to I - S, which is positive definite if every free node reaches a known one.
    """
    scale = 1 / np.sqrt(np.asarray(adjacency.sum(axis=1)).ravel()[free])[:, None]
    rows = adjacency[free]
    between = rows[:, free]
    right = scale * (rows[:, known] @ values)
    x = np.zeros_like(right)
    residual, direction = right.copy(), right.copy()
    square = (residual**2).sum(axis=0)
    goal = tolerance**2 * square
    # In exact arithmetic one step per node is enough.
    for _ in range(len(free)):
        if (square <= goal).all():
            break
        image = direction - scale * (between @ (scale * direction))
        curve = (direction * image).sum(axis=0)
        step = np.divide(square, curve, out=np.zeros_like(square), where=square > goal)
        x += step * direction
        residual -= step * image
        before, square = square, (residual**2).sum(axis=0)
        direction = residual + np.divide(square, before, out=np.zeros_like(square), where=before > 0) * direction
    # Rounding leaves probabilities of -1e-17; they are none.
    return np.maximum(scale * x, 0)


def _reached(adjacency: sp.csr_array, known: np.ndarray) -> np.ndarray:
    """(n,) whether a path leads to a known node."""
    _, component = sp.csgraph.connected_components(adjacency, directed=False)
    return np.isin(component, component[known])

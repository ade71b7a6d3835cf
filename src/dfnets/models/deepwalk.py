"""DeepWalk (Perozzi, Al-Rfou and Skiena, 2014): embeddings of the nodes from random walks, then a linear classifier."""

# Numba infers the types of the kernels when they are called.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from dfnets.compiled import njit
from dfnets.engine import threads
from dfnets.graph import Graph
from dfnets.models.base import Config, Sizes
from dfnets.models.logistic import logistic
from dfnets.models.transductive import Transductive
from dfnets.models.walks import Walks
from dfnets.nn import batched
from dfnets.nn.batched import Generators
from dfnets.shift import Shift

# Negative samples are looked up in a table of so many entries.
TABLE = 1 << 20
# Beyond, a sigmoid is 0 or 1 in single precision, and e^x would overflow.
STEEP = 15.0


class DeepWalkConfig(Config):
    """How nodes are embedded and classified.

    Attributes:
        dimensions: columns of the embedding.
        walks: that start at each node.
        length: nodes of a walk.
        window: contexts of a node are at most so many steps away; how many is drawn each time, as in word2vec.
        negatives: negative samples for each pair.
        learning_rate: of stochastic gradient descent, which falls linearly to zero.
        l2: of the logistic regression, see :func:`dfnets.models.logistic.logistic`.
    """

    epochs: Literal[0] = 0
    dimensions: int = Field(64, ge=1)
    walks: int = Field(10, ge=1)
    length: int = Field(40, ge=2)
    window: int = Field(10, ge=1)
    negatives: int = Field(5, ge=1)
    learning_rate: float = Field(0.05, gt=0)
    l2: float = Field(10.0, gt=0)


class DeepWalk(Transductive):
    r"""Skip-gram with negative sampling on random walks, then logistic regression on the embeddings E.

    .. math::
        \max_{E, C} \sum_{(i, j)} \log \sigma(e_i \cdot c_j) + \sum_{k=1}^{K} \log \sigma(-e_i \cdot c_{n_k}),
        \qquad z = E W + b

    over pairs (i, j) that lie within a window of a walk; a step goes to a neighbour with probability proportional to
    the weight of the edge, and negatives n_k are drawn with probability proportional to degree^(3/4). Features are not
    read. All of it is done before training begins, which is why there are no epochs.

    Perozzi, Al-Rfou and Skiena: DeepWalk: online learning of social representations. KDD 2014; with the negative
    sampling of Mikolov et al. (2013) instead of the hierarchical softmax.

    Shapes: the embedding is (R, n, dimensions), the logits are (n, R, classes).
    """

    Config = DeepWalkConfig
    # Perozzi, Al-Rfou and Skiena train by hierarchical softmax, which is negative sampling here.
    presets: ClassVar = {
        "default": {},
        "paper": {"dimensions": 128, "walks": 80, "length": 40, "window": 10, "learning_rate": 0.025},
    }
    # What is tuned came of 10 trials on Cora and on Citeseer, then 5 values of l2 with each of two windows.
    space: ClassVar = {
        "walks": [5, 10, 20],
        "window": [3, 5, 10],
        "dimensions": [32, 64],
        "learning_rate": (0.01, 0.1, "log"),
        "l2": (1e-2, 100.0, "log"),
    }
    reads_features = False
    config: DeepWalkConfig
    embedding: Tensor
    kernel: Tensor
    bias: Tensor

    def __init__(self, config: DeepWalkConfig, sizes: Sizes, **options: Any) -> None:
        super().__init__(config, sizes, **options)
        self.register_buffer("embedding", torch.zeros(self.replicas, sizes.nodes, config.dimensions))
        self.register_buffer("kernel", torch.zeros(self.replicas, config.dimensions, sizes.classes))
        self.register_buffer("bias", torch.zeros(self.replicas, sizes.classes))

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Walks:  # noqa: ARG002
        self.own_(graph)
        return Walks(graph, device)

    def reset_parameters(self, streams: Generators) -> None:
        """There are none: embeddings start with the walks."""

    def begin(self, inputs: Walks, training_labels: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        config = self.config
        vectors = skip_gram(
            inputs,
            seeds(self.streams),
            dimensions=config.dimensions,
            walks=config.walks,
            length=config.length,
            window=config.window,
            negatives=config.negatives,
            rate=config.learning_rate,
        )[0]
        self.embedding.copy_(torch.as_tensor(vectors))
        for r, (nodes, labels) in enumerate(training_labels):
            kernel, bias = logistic(vectors[r, nodes], labels, self.sizes.classes, config.l2)
            self.kernel[r], self.bias[r] = torch.as_tensor(kernel), torch.as_tensor(bias)

    def forward(self, inputs: Walks) -> Tensor:  # noqa: ARG002
        return batched.matmul(self.embedding.transpose(0, 1), self.kernel) + self.bias


def seeds(streams: Generators) -> np.ndarray:
    """(R,) a whole number from each stream."""
    drawn = [torch.randint(1 << 62, (1,), generator=s, device="cpu" if s is None else s.device) for s in streams]
    return np.array([int(number) for number in drawn], dtype=np.uint64)


def skip_gram(
    graph: Walks,
    seeds: np.ndarray,
    *,
    dimensions: int,
    walks: int,
    length: int,
    window: int,
    negatives: int,
    rate: float,
) -> tuple[np.ndarray, np.ndarray]:
    """(R, n, dimensions) embeddings, and context vectors; a replica is the work of one thread, from its own seed."""
    n = len(graph.degrees)
    vectors = np.zeros((len(seeds), n, dimensions), dtype=np.float32)
    contexts = np.zeros_like(vectors)
    share = np.cumsum(graph.degrees**0.75)
    if share[-1] > 0:
        table = np.searchsorted(share, (np.arange(TABLE) + 0.5) * (share[-1] / TABLE)).astype(np.int32)

        def one_replica(r: int) -> None:
            own = (np.array([seeds[r]], dtype=np.uint64), vectors[r], contexts[r])
            _train(
                graph.indptr, graph.indices, graph.upto, table, *own, walks, length, window, negatives, np.float32(rate)
            )

        threads.share(one_replica, range(len(seeds)))
    return vectors, contexts


@njit(fastmath=True, cache=True, nogil=True)
def _train(indptr, indices, upto, table, state, vectors, contexts, walks, length, window, negatives, rate):
    n, units = vectors.shape
    for i in range(n):
        for c in range(units):
            vectors[i, c] = (_uniform(state) - 0.5) / units
    walk = np.empty(length, dtype=np.int64)
    change = np.empty(units, dtype=np.float32)
    order = np.arange(n)
    for turn in range(walks):
        for i in range(n - 1, 0, -1):
            j = int(_uniform(state) * (i + 1))
            order[i], order[j] = order[j], order[i]
        for at in range(n):
            now = rate * np.float32(1 - (turn * n + at) / (walks * n))
            steps = _walk(indptr, indices, upto, state, order[at], walk)
            for i in range(steps):
                reach = 1 + int(_uniform(state) * window)
                for j in range(max(0, i - reach), min(steps, i + reach + 1)):
                    if i != j:
                        _pair(state, table, vectors[walk[i]], contexts, walk[j], negatives, now, change)


@njit(fastmath=True, error_model="numpy")
def _pair(state, table, vector, contexts, positive, negatives, rate, change):
    """One step on log sigma(e . c_positive) + sum of log sigma(-e . c_negative)."""
    change[:] = 0
    for k in range(negatives + 1):
        target = positive if k == 0 else np.int64(table[int(_uniform(state) * len(table))])
        if k > 0 and target == positive:
            continue
        wanted = np.float32(1) if k == 0 else np.float32(0)
        _towards(vector, contexts[target], wanted, rate, change)
    for c in range(len(vector)):
        vector[c] += change[c]


@njit(fastmath=True, error_model="numpy")
def _towards(vector, context, wanted, rate, change):
    """A step of sigma(e . c) towards ``wanted``: c takes it now, what e is to take is added to ``change``."""
    score = np.float32(0)
    for c in range(len(vector)):
        score += vector[c] * context[c]
    score = min(max(score, np.float32(-STEEP)), np.float32(STEEP))
    step = rate * (wanted - np.float32(1) / (np.float32(1) + np.exp(-score)))
    for c in range(len(vector)):
        old = context[c]
        context[c] = old + step * vector[c]
        change[c] += step * old


@njit
def _walk(indptr, indices, upto, state, start, walk):
    """Fills ``walk`` from ``start``; how many nodes it has: one where no edge leads away."""
    walk[0] = start
    for step in range(1, len(walk)):
        node = walk[step - 1]
        low, high = indptr[node], indptr[node + 1]
        if low == high:
            return step
        goal = upto[low] + _uniform(state) * (upto[high] - upto[low])
        # The last entry whose weights before it do not exceed the goal, by bisection.
        high -= 1
        while low < high:
            middle = (low + high + 1) // 2
            if upto[middle] <= goal:
                low = middle
            else:
                high = middle - 1
        walk[step] = indices[low]
    return len(walk)


@njit
def _uniform(state):
    """A number in [0, 1) by SplitMix64 (Steele, Lea and Flood, 2014): one word of state, a stream for every seed."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    word = state[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return (word >> np.uint64(11)) * (1.0 / (1 << 53))

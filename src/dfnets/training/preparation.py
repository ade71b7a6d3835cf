"""What is done to features before a model sees them, learned once and kept with the model."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from dfnets.graph import Graph
from dfnets.shift import Shift

# Features with more zeros than that are kept sparse, as counts of words are.
SPARSE = 0.8
# Random numbers of a node, and how often they are averaged over neighbours.
CODES = 128
HOPS = (2, 4)
# Steps of the random walk whose probability to be back is a feature.
WALKS = (2, 3, 4)


@dataclass(frozen=True)
class Preparation:
    """From the features that a person has to those that a model is given.

    Attributes:
        structural: whether the features are made of the edges (:func:`structural_features`), for want of others.
        mean, scale: (f,) what is taken from every column, and what it is divided by then; None leaves columns alone.
    """

    structural: bool = False
    mean: np.ndarray | None = None
    scale: np.ndarray | None = None

    @classmethod
    def learn(cls, graph: Graph) -> Self:
        """What a graph's features need.

        Mostly zeros and never negative, as words are: nothing. Else every column gets mean 0 and variance 1 / f, so
        that no unit of measurement decides and a row has a length near 1. No features: they are made of the edges.
        """
        structural = graph.features is None
        features = structural_features(graph) if structural else graph.features
        assert features is not None
        if _like_words(features):
            return cls(structural)
        dense = _dense(features)
        deviation = dense.std(axis=0)
        # A column that does not vary, up to rounding, says nothing.
        constant = deviation <= 1e-9 * np.abs(dense).max(axis=0, initial=0)
        scale = np.where(constant, np.inf, deviation * np.sqrt(dense.shape[1]))
        return cls(structural, dense.mean(axis=0), scale)

    def apply(self, graph: Graph) -> Graph:
        """The graph with its features prepared."""
        if self.structural and graph.features is not None:
            raise ValueError(
                f"{graph.name} has features, but the model was trained without any: leave them out, or train again"
            )
        features = structural_features(graph) if self.structural else graph.features
        if features is None:
            raise ValueError(
                f"{graph.name} has no features, but the model was trained with them: give the same columns"
            )
        if self.mean is None or self.scale is None:
            return graph.with_(features=_sparse(features))
        if features.shape[1] != len(self.mean):
            raise ValueError(
                f"{graph.name} has {features.shape[1]} features, but the model was made for {len(self.mean)}: "
                "give the same features, in the same order"
            )
        return graph.with_(features=(_dense(features) - self.mean) / self.scale)

    @property
    def scaled(self) -> bool:
        """Whether rows have their length already, so that a model must not change it."""
        return self.mean is not None

    def describe(self) -> dict[str, Any]:
        """As plain values; :meth:`from_description` makes the same again, to the bit."""
        if self.mean is None or self.scale is None:
            return {"structural": self.structural}
        # JSON has no infinity: a column that says nothing has the scale null.
        scale = [None if np.isinf(value) else float(value) for value in self.scale]
        return {"structural": self.structural, "mean": self.mean.tolist(), "scale": scale}

    @classmethod
    def from_description(
        cls, structural: bool, mean: list[float] | None = None, scale: list[float | None] | None = None
    ) -> Self:
        if mean is None or scale is None:
            return cls(structural)
        return cls(structural, np.array(mean), np.array([np.inf if value is None else value for value in scale]))

    def words(self) -> str:
        """What was done, for a person."""
        if self.structural:
            return f"none given, so {len(HOPS) * CODES + 3 + len(WALKS)} columns are made of the edges"
        return "columns scaled to mean 0, equal variance" if self.scaled else "as they are, rows scaled to length 1"


def structural_features(graph: Graph) -> np.ndarray:
    """(n, f) features made of the edges alone, by rules that hold for a graph that has changed as well.

    Every node gets a code, CODES random numbers drawn from its id, so that it has the same one wherever it is. Averaged
    over neighbours, codes tell which nodes are near each other, as a spectral embedding does, and nodes that are added
    later do not change what a column means. Beside them: the logarithm of the degree, its mean over the neighbours, the
    share of a node in its neighbours' degrees, and how likely a random walk is to be back after 2, 3 and 4 steps
    (estimated from the codes: for Gaussian codes z, the mean of z_i (S^k z)_i is the i-th diagonal entry of S^k).
    """
    codes = _codes(graph)
    shift = Shift(graph).recentred(1.0)
    powers = {0: codes}
    for k in range(1, max(*WALKS, *HOPS) + 1):
        powers[k] = -(shift @ powers[k - 1])
    near = np.concatenate([powers[k] / np.maximum(np.linalg.norm(powers[k]), 1e-12) for k in HOPS], axis=1)
    near *= np.sqrt(graph.num_nodes)
    degree = np.log1p(graph.degrees)
    total = np.maximum(graph.degrees, 1e-12)
    around = np.asarray(graph.adjacency @ degree) / total
    back = [(codes * powers[k]).mean(axis=1) for k in WALKS]
    return np.column_stack([near, degree, around, degree - around, *back])


def _codes(graph: Graph) -> np.ndarray:
    ids = np.arange(graph.num_nodes) if graph.node_ids is None else graph.node_ids
    seeds = [int.from_bytes(hashlib.blake2b(str(node).encode(), digest_size=8).digest()) for node in ids]
    return np.stack([np.random.Generator(np.random.Philox(key=seed)).standard_normal(CODES) for seed in seeds])


def _like_words(features: Any) -> bool:
    if sp.issparse(features):
        entries, smallest = features.count_nonzero(), features.data.min(initial=0)
    else:
        entries, smallest = np.count_nonzero(features), features.min(initial=0)
    zeros = 1 - entries / max(1, features.shape[0] * features.shape[1])
    return bool(smallest >= 0 and zeros >= 0.5)


def _sparse(features: Any) -> Any:
    if sp.issparse(features):
        return features
    zeros = 1 - np.count_nonzero(features) / max(1, features.size)
    return sp.csr_array(features) if zeros >= SPARSE else features


def _dense(features: Any) -> np.ndarray:
    return np.asarray(features.toarray() if sp.issparse(features) else features, dtype=np.float64)

"""Splits: which nodes are trained on, which choose the model, which are tested; and the protocols that make them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import InitVar, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dfnets import checksums, validation
from dfnets.graph import Graph

# The training rates of the paper's appendix, beside the standard split.
LOW_LABEL_RATES = {
    "cora": (0.03, 0.01, 0.005),
    "citeseer": (0.01, 0.005, 0.003),
    "pubmed": (0.001, 0.0005, 0.0003),
}


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """Disjoint sets of nodes, checked when made.

    Args:
        train, validation, test: node numbers in any order; kept sorted, int64 and read-only. Validation may be empty.
        protocol: the name of the rule that made the split.
        draw: which draw of that rule this is.
        num_nodes: checks that every node is in range.
        labels: (n,) labels; checks that every node is in range and labelled, and that each class has a training node.

    >>> Split([1, 0], [2], [4, 3], "mine")
    Split('mine', draw=0, train=2, validation=1, test=2, fingerprint='ef7e71dcdaecd36d')
    """

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    protocol: str
    draw: int = 0
    num_nodes: InitVar[int | None] = None
    labels: InitVar[np.ndarray | None] = None

    def __post_init__(self, num_nodes: int | None, labels: np.ndarray | None) -> None:
        for part in ("train", "validation", "test"):
            object.__setattr__(self, part, _nodes(getattr(self, part), part))
        for part in ("train", "test"):
            if not len(getattr(self, part)):
                raise ValueError(f"{part} is empty: a split needs at least one {part} node")
        for one, other in (("train", "test"), ("validation", "test"), ("train", "validation")):
            common = np.intersect1d(getattr(self, one), getattr(self, other))
            if len(common):
                raise ValueError(f"node {common[0]} is in both {one} and {other} ({len(common)} such nodes)")
        if labels is not None:
            labels = validation.checked_labels(labels, np.size(labels), None)
            num_nodes = len(labels)
        if num_nodes is not None:
            self._check_range(num_nodes)
        if labels is not None:
            self._check_labels(labels)

    def __repr__(self) -> str:
        sizes = f"train={len(self.train)}, validation={len(self.validation)}, test={len(self.test)}"
        return f"Split({self.protocol!r}, draw={self.draw}, {sizes}, fingerprint={self.fingerprint!r})"

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that depend on the protocol and on which nodes are in which set."""
        return _hash(self.protocol, self.train, self.validation, self.test)

    def _check_range(self, n: int) -> None:
        for part in ("train", "validation", "test"):
            nodes = getattr(self, part)
            if len(nodes) and nodes[-1] >= n:
                raise ValueError(f"{part} has node {nodes[-1]}, but the graph has {n} nodes, numbered 0 to {n - 1}")

    def _check_labels(self, labels: np.ndarray) -> None:
        for part in ("train", "validation", "test"):
            nodes = getattr(self, part)
            unknown = nodes[labels[nodes] < 0]
            if len(unknown):
                raise ValueError(f"node {unknown[0]} of {part} has no label ({len(unknown)} such nodes)")
        missing = np.setdiff1d(labels[labels >= 0], labels[self.train])
        if len(missing):
            raise ValueError(f"class {missing[0]} has no training node ({len(missing)} such classes)")


def make(graph: Graph, protocol: str, *, draws: int | None = None, seed: int = 0, **options: Any) -> list[Split]:
    """The splits of a protocol on a graph.

    ``planetoid``, ``authors`` and ``masks`` come with a dataset (``graph.splits``). The others are drawn, draw k from
    a generator of its own, seeded by (seed, k), so that it does not depend on how many are asked for:

    - ``low-label``, 10 draws: ``rate`` of all nodes train, one of each class and the rest at random; 500 validation
      and 1000 test nodes from what is left.
    - ``random``, 20 draws: ``per_class=20`` training and ``validation_per_class=30`` validation nodes of each class;
      every other labelled node is tested.

    Args:
        draws: how many; None is all that there are, or the number above.
    """
    if draws is not None and draws < 1:
        raise ValueError(f"draws={draws}: at least one is needed")
    if protocol in graph.splits:
        return _shipped(graph, protocol, draws, options)
    if protocol not in _DRAWN or graph.labels is None:
        have = sorted(graph.splits) + (sorted(_DRAWN) if graph.labels is not None else [])
        reason = "" if graph.labels is not None else "; without labels none can be drawn"
        raise ValueError(
            f"protocol={protocol!r}: {graph.name} does not have it; it has {', '.join(have) or 'none'}{reason}"
        )
    rule, usual = _DRAWN[protocol]
    _check_options(protocol, rule, options)
    splits = []
    for draw in range(usual if draws is None else draws):
        parts = rule(graph, np.random.default_rng((seed, draw)), **options)
        splits.append(Split(*parts, protocol, draw, labels=graph.labels))
    return splits


def fingerprint(graph: Graph) -> str:
    """16 hexadecimal digits that depend on the adjacency, the features and the labels, not on names or ids."""
    parts: list[Any] = [*_arrays(graph.adjacency)]
    parts += ["no features"] if graph.features is None else _arrays(graph.features)
    parts += ["no labels"] if graph.labels is None else [graph.labels]
    return _hash(*parts)


def authors(labels: np.ndarray) -> Split:
    """The split in the authors' code for the citation networks: 20 a class, the next up to 999, then 1000 to 1999."""
    classes = range(int(labels.max()) + 1)
    train = np.concatenate([np.flatnonzero(labels == c)[:20] for c in classes])
    return Split(train, np.setdiff1d(np.arange(1000), train), np.arange(1000, 2000), "authors", labels=labels)


def _shipped(graph: Graph, protocol: str, draws: int | None, options: dict[str, Any]) -> list[Split]:
    if options:
        raise ValueError(f"protocol {protocol!r} comes with {graph.name} and takes no {', '.join(options)}")
    have = graph.splits[protocol]
    if draws is not None and draws > len(have):
        raise ValueError(f"draws={draws}, but {graph.name} comes with {len(have)} of protocol {protocol!r}")
    return list(have[:draws])


def _low_label(graph: Graph, rng: np.random.Generator, *, rate: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    assert graph.labels is not None
    if not 0 < rate < 1:
        raise ValueError(f"rate={rate}: it is the share of nodes to train on, between 0 and 1 (0.03 for 3 %)")
    labels, labelled = graph.labels, np.flatnonzero(graph.labels >= 0)
    ones = np.array([rng.choice(np.flatnonzero(labels == c)) for c in np.unique(labels[labelled])])
    rest = rng.permutation(np.setdiff1d(labelled, ones))
    more = max(round(rate * graph.num_nodes) - len(ones), 0)
    if len(rest) < more + 1500:
        raise ValueError(
            f"rate={rate:g} needs {len(ones) + more} training, 500 validation and 1000 test nodes, but "
            f"{graph.name} has {len(labelled)} labelled ones; use protocol 'random'"
        )
    return np.concatenate([ones, rest[:more]]), rest[more : more + 500], rest[more + 500 : more + 1500]


def _random(
    graph: Graph, rng: np.random.Generator, *, per_class: int = 20, validation_per_class: int = 30
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    assert graph.labels is not None
    if per_class < 1 or validation_per_class < 0:
        raise ValueError(
            f"per_class={per_class}, validation_per_class={validation_per_class}: at least 1 and at least 0 are needed"
        )
    parts: list[list[np.ndarray]] = [[], [], []]
    for c in np.unique(graph.labels[graph.labels >= 0]):
        members = rng.permutation(np.flatnonzero(graph.labels == c))
        if len(members) <= per_class + validation_per_class:
            name = graph.label_names[c] if graph.label_names else c
            raise ValueError(
                f"class {name} of {graph.name} has {len(members)} labelled nodes, too few for per_class={per_class} "
                f"training nodes, validation_per_class={validation_per_class} and one to test: ask for less"
            )
        for part, nodes in zip(parts, np.split(members, [per_class, per_class + validation_per_class]), strict=True):
            part.append(nodes)
    train, validation, test = (np.concatenate(part) for part in parts)
    return train, validation, test


_Rule = Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]
_DRAWN: dict[str, tuple[_Rule, int]] = {"low-label": (_low_label, 10), "random": (_random, 20)}


def _check_options(protocol: str, rule: _Rule, options: dict[str, Any]) -> None:
    parameters = {p.name: p for p in inspect.signature(rule).parameters.values() if p.kind is p.KEYWORD_ONLY}
    for name in options.keys() - parameters.keys():
        raise ValueError(f"protocol {protocol!r} takes no {name}; it takes {', '.join(parameters)}")
    for name, parameter in parameters.items():
        if parameter.default is parameter.empty and name not in options:
            raise ValueError(f"protocol {protocol!r} needs {name}=")


def _nodes(values: Any, part: str) -> np.ndarray:
    array = np.asarray(values)
    if not array.size:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"{part} has shape {array.shape} and type {array.dtype}; it must be a vector of node numbers")
    nodes = np.unique(array.astype(np.int64))
    if len(nodes) < len(array):
        raise ValueError(f"{part} has {len(array) - len(nodes)} nodes more than once")
    if len(nodes) and nodes[0] < 0:
        raise ValueError(f"{part} has node {nodes[0]}; nodes are numbered from 0")
    nodes.setflags(write=False)
    return nodes


def _arrays(matrix: np.ndarray | sp.csr_array) -> list[Any]:
    if isinstance(matrix, np.ndarray):
        return [str(matrix.shape), matrix]
    return [str(matrix.shape), matrix.indptr, matrix.indices, matrix.data]


def _hash(*parts: str | np.ndarray) -> str:
    """The same for an array whatever the width of its numbers: single precision and 32 bits are widened first."""
    return checksums.of_parts(_sized(parts))[:16]


def _sized(parts: Iterable[str | np.ndarray]) -> Iterator[bytes | memoryview]:
    for part in parts:
        if isinstance(part, str):
            part = np.frombuffer(part.encode(), dtype=np.uint8)
        array = np.ascontiguousarray(part, dtype="<f8" if part.dtype.kind == "f" else "<i8")
        # Its size first, so that no two lists of parts run together into the same bytes.
        yield array.size.to_bytes(8, "little")
        yield array.data

"""What is odd about a person's graph, told before it is trained on."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dfnets.datasets.files import FilePath, Reading, count, read
from dfnets.graph import ConflictingWeights, Graph

Severity = Literal["problem", "odd"]
# Columns beyond this many are not compared with the labels one by one.
MOST_COLUMNS = 5000


@dataclass(frozen=True)
class Finding:
    """One thing that a person should look at.

    Attributes:
        severity: a "problem" keeps the graph from being read or trained on as it is; what is "odd" may be meant.
        about: edges, features, labels or files.
        text: a sentence, with what to do where there is something to do.
    """

    severity: Severity
    about: str
    text: str


@dataclass(frozen=True)
class Report:
    """What was understood of files, and what is odd about them."""

    reading: Reading | None
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing stands in the way of training."""
        return all(finding.severity != "problem" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """For a program: summary, notes, findings, and whether all is well."""
        understood = self.reading
        return {
            "ok": self.ok,
            "summary": None if understood is None else understood.summary,
            "notes": [] if understood is None else list(understood.notes),
            "findings": [dataclasses.asdict(finding) for finding in self.findings],
        }


def check(edges: FilePath, features: FilePath | None = None, labels: FilePath | None = None, **options: Any) -> Report:
    """Reads files as :func:`dfnets.datasets.files.read` does, and looks for what may be a mistake.

    Where they cannot be read together, each is read alone, so that everything that is wrong is told at once.
    """
    findings: list[Finding] = []
    try:
        reading = read(edges, features, labels, **options)
    except ConflictingWeights as error:
        findings.append(Finding("problem", "edges", str(error)))
        reading = read(edges, features, labels, **{**options, "duplicates": "max"})
    except (ValueError, OSError) as error:
        alone = [str(found) for found in _alone(edges, features, labels, options)]
        texts = dict.fromkeys([*alone, *([] if str(error) in alone else [str(error)])])
        return Report(None, tuple(Finding("problem", "files", text) for text in texts))
    findings += [Finding("odd", "files", text) for text in reading.left_out]
    graph = reading.graph
    for looked in (_edges(graph), _features(graph), _labels(graph, labels is not None)):
        findings += looked
    return Report(reading, tuple(findings))


def _alone(edges: Any, features: Any, labels: Any, options: dict[str, Any]) -> Iterator[Exception]:
    for pair in ((None, None), (features, None), (None, labels)):
        if pair == (None, None) or any(one is not None for one in pair):
            try:
                read(edges, *pair, **options)
            except FileNotFoundError:
                return
            except (ValueError, OSError) as error:
                yield error


def _edges(graph: Graph) -> Iterator[Finding]:
    n = graph.num_nodes
    if not graph.num_edges:
        yield Finding("problem", "edges", "there is no edge: a graph without edges tells nothing about its nodes")
        return
    neighbours = np.diff(graph.adjacency.indptr) - (graph.adjacency.diagonal() != 0)
    loops = int(np.count_nonzero(graph.adjacency.diagonal()))
    if loops:
        yield Finding(
            "odd", "edges", f"{count(loops, 'edge')} from a node to itself; the filter adds such a loop by itself"
        )
    alone = np.flatnonzero(neighbours == 0)
    if len(alone):
        text = f"{count(len(alone), 'node')} without an edge ({_nodes(graph, alone)})"
        yield Finding("odd", "edges", f"{text}: features alone speak for {'it' if len(alone) == 1 else 'them'}")
    number, parts = connected_components(graph.adjacency, directed=False)
    pieces = number - len(alone)
    if pieces > 1:
        largest = np.bincount(parts).max() / n
        yield Finding(
            "odd", "edges", f"it falls into {pieces:,} parts that no edge joins; the largest has {largest:.0%}"
        )
    middle = max(float(np.median(neighbours[neighbours > 0])), 1)
    hubs = np.flatnonzero((neighbours > 100 * middle) & (neighbours > 0.05 * n))
    if len(hubs):
        text = (
            f"{count(len(hubs), 'node')} with more than 100 times as many neighbours as others ({_nodes(graph, hubs)})"
        )
        yield Finding("odd", "edges", text)
    weights = graph.adjacency.data
    if weights.max() > 1e6 * weights.min():
        text = f"weights go from {weights.min():g} to {weights.max():g}; the largest hide all others: take logarithms?"
        yield Finding("odd", "edges", text)


def _features(graph: Graph) -> Iterator[Finding]:
    if graph.features is None:
        return
    matrix = graph.features
    columns = sp.csc_array(matrix) if sp.issparse(matrix) else matrix
    low = columns.min(axis=0).toarray().ravel() if sp.issparse(columns) else columns.min(axis=0)
    high = columns.max(axis=0).toarray().ravel() if sp.issparse(columns) else columns.max(axis=0)
    constant = np.flatnonzero(low == high)
    if len(constant):
        yield Finding("odd", "features", f"{_columns(graph, constant)} the same value in every row: no use")
    size = np.maximum(np.abs(low), np.abs(high))
    usual = float(np.median(size[size > 0])) if (size > 0).any() else 0.0
    large = np.flatnonzero(size > 1000 * max(usual, 1e-300))
    if usual and len(large):
        text = f"{_columns(graph, large)} values more than 1,000 times as large as most others: scaled in training"
        yield Finding("odd", "features", text)
    if sp.issparse(columns) or columns.shape[1] > MOST_COLUMNS:
        return
    ids = [k for k in range(columns.shape[1]) if _looks_like_ids(columns[:, k])]
    if ids:
        text = f"{_columns(graph, ids)} a different whole number in every row, one by one: an id? (--ignore)"
        yield Finding("odd", "features", text)
    told = [k for k in range(columns.shape[1]) if _tells_the_label(columns[:, k], graph.labels)]
    if told:
        yield Finding("odd", "features", f"{_columns(graph, told)} the label itself, in other words? (--ignore)")


def _labels(graph: Graph, asked: bool) -> Iterator[Finding]:
    if graph.labels is None:
        return
    known = graph.labels[graph.labels >= 0]
    names = graph.label_names or tuple(map(str, range(graph.num_classes)))
    counts = np.bincount(known, minlength=len(names))
    used = np.flatnonzero(counts)
    if len(used) < 2:
        if asked:
            have = "no label" if not len(used) else f"one class, {names[used[0]]!r}"
            yield Finding("problem", "labels", f"there is {have}: classes can be told apart only if there are two")
        return
    single = [names[k] for k in used if counts[k] == 1]
    if single:
        yield Finding(
            "odd", "labels", f"{count(len(single), 'class')} with one label ({_some(single)}): none is left to test on"
        )
    few = [names[k] for k in used if 1 < counts[k] < 5]
    if few:
        yield Finding("odd", "labels", f"{count(len(few), 'class')} with fewer than 5 labels ({_some(few)})")
    if counts.max() > 0.9 * len(known):
        share, name = counts.max() / len(known), names[counts.argmax()]
        yield Finding("odd", "labels", f"{share:.0%} of the labels are {name!r}: that class is right almost always")
    if len(used) > 20 and len(known) < 3 * len(used):
        text = f"{len(used)} classes for {len(known)} labels: are these amounts rather than classes?"
        yield Finding("problem", "labels", text)
    folded = Counter(name.casefold() for name in names)
    same = [name for name in names if folded[name.casefold()] > 1]
    if same:
        yield Finding("odd", "labels", f"classes differ in their case only ({_some(same)}): the same?")
    ends = sp.triu(graph.adjacency, k=1, format="coo")
    one, two = graph.labels[ends.row], graph.labels[ends.col]
    both = (one >= 0) & (two >= 0)
    if np.count_nonzero(both) >= 20:
        chance = float(((counts / len(known)) ** 2).sum())
        if (share := float(np.mean(one[both] == two[both]))) < chance:
            text = f"edges join nodes of one class less often ({share:.0%}) than chance would ({chance:.0%})"
            yield Finding("odd", "labels", f"{text}: smoothing over the graph will not help")


def _looks_like_ids(values: np.ndarray) -> bool:
    ordered = np.sort(values)
    return len(values) > 10 and bool((np.diff(ordered) == 1).all())


def _tells_the_label(values: np.ndarray, labels: np.ndarray | None) -> bool:
    """Whether every class has a value of its own, and each at least two labels."""
    if labels is None:
        return False
    known = labels >= 0
    pairs = np.unique(np.stack([values[known], labels[known].astype(values.dtype)]), axis=1)
    classes = np.unique(labels[known])
    if len(classes) < 2 or known.sum() < 2 * len(classes):
        return False
    return pairs.shape[1] == len(classes) == len(np.unique(pairs[0]))


def _columns(graph: Graph, which: Sequence[int] | np.ndarray) -> str:
    names = [str(k + 1) if graph.feature_names is None else graph.feature_names[k] for k in which]
    if len(names) == 1:
        return f"column {names[0]} has"
    return f"{len(names):,} columns ({_some(names)}) have"


def _nodes(graph: Graph, which: np.ndarray) -> str:
    return _some([str(k if graph.node_ids is None else graph.node_ids[k]) for k in which[:4]], len(which))


def _some(names: Sequence[str], total: int | None = None) -> str:
    return ", ".join(names[:3]) + (", ..." if (total or len(names)) > 3 else "")

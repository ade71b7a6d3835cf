"""Edge lists in files: ends that are named by text, and the graph that they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
import scipy.sparse as sp

from dfnets.datasets.dialect import TableOptions
from dfnets.datasets.factors import Factor, find
from dfnets.datasets.graphml import read_graphml
from dfnets.datasets.tables import Table, column_of, open_table, refuse_empty
from dfnets.graph import ConflictingWeights, Duplicates, Graph

if TYPE_CHECKING:
    import pyarrow as pa

Unmatched = Literal["drop", "refuse"]

ENDS = (
    *(("source", "target"), ("src", "dst"), ("from", "to"), ("head", "tail"), ("node1", "node2")),
    *(("source_id", "target_id"), ("src", "dest"), ("source", "destination")),
)
WEIGHTS = ("weight", "weights", "edge_weight", "edgeweight")


@dataclass(frozen=True)
class EdgeList:
    """The edges of a file.

    Attributes:
        ends: sources and targets, as text.
        weights: (edges,), checked; None where there are none.
        weighted_by: the column or attribute that the weights come from.
        nodes: every node, where the file lists them.
        directed: whether the file says that an edge has a direction.
        place: where an edge stands, for a message ("line 7").
        fail: raises a ValueError that names an edge, one of its ends (0 or 1), and what is wrong with it.
        table: where the edges come from a table.
    """

    path: Path
    ends: tuple[Factor, Factor]
    weights: np.ndarray | None
    weighted_by: str | None
    nodes: pa.StringArray | None
    directed: bool
    place: Callable[[int], str]
    fail: Callable[[int, int, str], NoReturn]
    table: Table | None = None
    unused: list[str] = field(default_factory=list)

    def has(self, name: str) -> bool:
        """Whether an edge has an end of that name."""
        import pyarrow.compute as pc

        return any(pc.index(end.values, name.strip()).as_py() >= 0 for end in self.ends)

    def appearing(self) -> pa.StringArray:
        """The nodes: those that the file lists, or those of the edges in the order in which a person reads them."""
        return self.nodes if self.nodes is not None else _in_order_of_appearance(*self.ends)

    def graph(
        self, nodes: pa.StringArray, *, known: str, duplicates: Duplicates, unmatched: Unmatched, **attributes: Any
    ) -> tuple[Graph, int]:
        """The graph, its nodes numbered as in ``nodes``, and how many edges were left out.

        Args:
            known: what an end must be, for a message: "a row of x.csv".
            unmatched: what to do with an edge that has another end: leave it out, or refuse.
        """
        sources, targets = (end.find(nodes) for end in self.ends)
        weights, kept = self.weights, None
        outside = (sources < 0) | (targets < 0)
        if outside.any():
            first = int(outside.argmax())
            share = np.count_nonzero(outside) / len(outside)
            if unmatched == "refuse" or share > 0.5:
                more = f" ({share:.0%} of the edges have such an end)" if share > 0.5 else ""
                self.fail(first, int(sources[first] >= 0), f"is not {known}{more}")
            kept = np.flatnonzero(~outside)
            sources, targets = sources[kept], targets[kept]
            weights = None if weights is None else weights[kept]
        n = len(nodes)
        if n == 0:
            raise ValueError(f"{self.path}: it has no edges, and there are no features that would list the nodes")
        dropped = 0 if kept is None else len(self.ends[0].codes) - len(kept)
        try:
            if self.directed:
                adjacency = sp.coo_array((weights, (sources, targets)), shape=(n, n))
                return Graph(adjacency, **attributes), dropped
            merged = Graph.from_edges(sources, targets, weights, num_nodes=n, duplicates=duplicates, **attributes)
            return merged, dropped
        except ConflictingWeights as error:
            edges = error.edges if kept is None else (int(kept[error.edges[0]]), int(kept[error.edges[1]]))
            pair = (nodes[error.nodes[0]].as_py(), nodes[error.nodes[1]].as_py())
            named = ConflictingWeights(pair, edges, error.weights, error.pairs)
            named.args = (f"{self.path}, {' and '.join(map(self.place, edges))}: {named}",)
            raise named from None
        except ValueError as error:
            raise ValueError(f"{self.path}: {error}") from None


def read_edge_list(
    path: Path, options: TableOptions, *, source: str | None, target: str | None, weight: str | None
) -> EdgeList:
    """The edges of a .graphml file or of a table; see :func:`files.read` for the arguments."""
    if path.suffix == ".graphml":
        return _from_graphml(path, weight)
    table = open_table(path, options)
    listed = from_table(table, source, target, weight)
    if not table.sure and any(listed.has(name) for name in table.columns[:2]):
        # What looked like names of columns are nodes of other lines too.
        return from_table(table.without_header(), source, target, weight)
    return listed


def from_table(table: Table, source: str | None, target: str | None, weight: str | None) -> EdgeList:
    """The edges of a table."""
    if len(table.columns) < 2:
        raise ValueError(
            f"{table.path}: it has one column, {table.columns[0]!r}; edges need two. If another character separates "
            "them, say so: --separator ';'"
        )
    start, end = names = _ends(table, source, target)
    if weight is not None or not table.header:
        numbers = [column_of(table, "weight", weight, 2)] if weight is not None or len(table.columns) > 2 else []
    else:
        numbers = [column for column in table.columns if column.casefold() in WEIGHTS][:1]
    (sources, targets), values = table.read(names, numbers)
    refuse_empty(table, sources, start)
    refuse_empty(table, targets, end)
    weights = values[0] if numbers else None
    if weights is not None:
        wrong = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
        if len(wrong):
            table.fail(int(wrong[0]), numbers[0], "is no weight: a weight is finite and not negative")

    def fail(edge: int, end: int, why: str) -> NoReturn:
        table.fail(edge, names[end], why)

    unused = [column for column in table.columns if column not in (*names, *numbers)]
    by = numbers[0] if numbers else None
    return EdgeList(table.path, (sources, targets), weights, by, None, False, table.place, fail, table, unused)


def _ends(table: Table, source: str | None, target: str | None) -> list[str]:
    """The columns of the ends: those that are named, a pair that is called so, or the first two."""
    if source is None and target is None and table.header:
        called = {column.casefold(): column for column in reversed(table.columns)}
        for one, other in ENDS:
            if one in called and other in called:
                return [called[one], called[other]]
    start = column_of(table, "source", source, 0)
    return [start, column_of(table, "target", target, 1, taken=[start])]


def _from_graphml(path: Path, weight: str | None) -> EdgeList:
    import pyarrow as pa

    nodes, *listed, weights, lines, directed, by = read_graphml(path, weight)
    sources, targets = (pa.array(texts, pa.string()).dictionary_encode() for texts in listed)
    ends = (
        Factor(sources.indices.to_numpy(), sources.dictionary),
        Factor(targets.indices.to_numpy(), targets.dictionary),
    )

    def place(edge: int) -> str:
        return f"line {lines[edge]}"

    def fail(edge: int, end: int, why: str) -> NoReturn:
        raise ValueError(f"{path}, {place(edge)}: {listed[end][edge]!r} {why}")

    return EdgeList(path, ends, np.array(weights), by, pa.array(nodes, pa.string()), directed, place, fail)


def _in_order_of_appearance(sources: Factor, targets: Factor) -> pa.StringArray:
    """Source before target, edge by edge."""
    import pandas
    import pyarrow as pa

    places = find(targets.values, sources.values)
    new = places < 0
    places = np.where(new, len(sources.values) + np.cumsum(new) - 1, places)
    values = pa.concat_arrays([sources.values, targets.values.filter(pa.array(new))])
    both = np.empty(2 * len(sources.codes), dtype=np.int32)
    both[0::2], both[1::2] = sources.codes, places[targets.codes]
    return values.take(pa.array(pandas.unique(both)))

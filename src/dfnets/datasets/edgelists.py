"""Edge lists in files: ends that are named by text, and the graph that they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import scipy.sparse as sp

from dfnets.datasets.factors import Factor, find
from dfnets.datasets.graphml import read_graphml
from dfnets.datasets.tables import Table, column_of, open_table, refuse_empty
from dfnets.graph import ConflictingWeights, Duplicates, Graph

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class EdgeList:
    """The edges of a file.

    Attributes:
        ends: sources and targets, as text.
        weights: (edges,), checked; None where there are none.
        nodes: every node, where the file lists them.
        directed: whether the file says that an edge has a direction.
        place: where an edge stands, for a message ("line 7").
        fail: raises a ValueError that names an edge, one of its ends (0 or 1), and what is wrong with it.
    """

    path: Path
    ends: tuple[Factor, Factor]
    weights: np.ndarray | None
    nodes: pa.StringArray | None
    directed: bool
    place: Callable[[int], str]
    fail: Callable[[int, int, str], NoReturn]

    def graph(
        self, nodes: pa.StringArray | None, *, known: str, duplicates: Duplicates, **attributes: Any
    ) -> tuple[Graph, pa.StringArray]:
        """The graph, its nodes numbered as in ``nodes``, and their ids.

        Args:
            nodes: None for those that the file lists, or else those of the edges in order of appearance.
            known: what an end must be, for a message: "a row of x.csv".
        """
        if nodes is None:
            nodes, known = self.nodes, "a node of the file"
        if nodes is None:
            sources, targets, nodes = _in_order_of_appearance(*self.ends)
        else:
            sources, targets = (end.find(nodes) for end in self.ends)
        for end, numbers in enumerate((sources, targets)):
            absent = np.flatnonzero(numbers < 0)
            if len(absent):
                self.fail(int(absent[0]), end, f"is not {known}")
        n = len(nodes)
        if n == 0:
            raise ValueError(f"{self.path}: it has no edges, and there are no features that would list the nodes")
        try:
            if self.directed:
                adjacency = sp.coo_array((self.weights, (sources, targets)), shape=(n, n))
                return Graph(adjacency, **attributes), nodes
            merged = Graph.from_edges(sources, targets, self.weights, num_nodes=n, duplicates=duplicates, **attributes)
            return merged, nodes
        except ConflictingWeights as error:
            named = ConflictingWeights(
                (nodes[error.nodes[0]].as_py(), nodes[error.nodes[1]].as_py()),
                error.edges,
                error.weights,
                error.pairs,
            )
            places = " and ".join(self.place(edge) for edge in error.edges)
            raise ValueError(f"{self.path}, {places}: {named}") from None
        except ValueError as error:
            raise ValueError(f"{self.path}: {error}") from None


def read_edge_list(path: Path, *, source: str | None, target: str | None, weight: str | None, header: bool) -> EdgeList:
    """The edges of a .graphml file or of a table; see :func:`files.read_graph` for the arguments."""
    if path.suffix == ".graphml":
        return _from_graphml(path, weight)
    return _from_table(open_table(path, header=header), source, target, weight, header)


def _from_table(table: Table, source: str | None, target: str | None, weight: str | None, header: bool) -> EdgeList:
    if len(table.columns) < 2:
        raise ValueError(
            f"{table.path}: it has one column, {table.columns[0]!r}; edges need two, and the columns of a "
            f"{table.path.suffix} file are separated by {'tabs' if table.path.suffix == '.tsv' else 'commas'}"
        )
    names = [column_of(table, "source", source, 0), column_of(table, "target", target, 1)]
    if weight is None and (("weight" in table.columns) if header else len(table.columns) > 2):
        weight = "weight" if header else "3"
    numbers = [] if weight is None else [column_of(table, "weight", weight, 2)]
    (sources, targets), matrix = table.read(names, numbers)
    refuse_empty(table, sources, names[0])
    refuse_empty(table, targets, names[1])
    if header:
        _refuse_edge_as_header(table, sources, targets, names)
    weights = matrix[:, 0] if numbers else None
    if weights is not None:
        wrong = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
        if len(wrong):
            table.fail(int(wrong[0]), numbers[0], "is no weight: a weight is finite and not negative")

    def fail(edge: int, end: int, why: str) -> NoReturn:
        table.fail(edge, names[end], why)

    return EdgeList(table.path, (sources, targets), weights, None, False, table.place, fail)


def _from_graphml(path: Path, weight: str | None) -> EdgeList:
    import pyarrow as pa

    nodes, *listed, weights, lines, directed = read_graphml(path, weight)
    sources, targets = (pa.array(texts, pa.string()).dictionary_encode() for texts in listed)
    ends = (
        Factor(sources.indices.to_numpy(), sources.dictionary),
        Factor(targets.indices.to_numpy(), targets.dictionary),
    )

    def place(edge: int) -> str:
        return f"line {lines[edge]}"

    def fail(edge: int, end: int, why: str) -> NoReturn:
        raise ValueError(f"{path}, {place(edge)}: {listed[end][edge]!r} {why}")

    return EdgeList(path, ends, np.array(weights), pa.array(nodes, pa.string()), directed, place, fail)


def _refuse_edge_as_header(table: Table, sources: Factor, targets: Factor, names: list[str]) -> None:
    import pyarrow.compute as pc

    if all(any(pc.index(end.values, name).as_py() >= 0 for end in (sources, targets)) for name in names):
        raise ValueError(
            f"{table.path}: its first line is an edge between {names[0]!r} and {names[1]!r}, which are nodes of other "
            "lines too, and not the names of columns: pass header=False"
        )


def _in_order_of_appearance(sources: Factor, targets: Factor) -> tuple[np.ndarray, np.ndarray, pa.StringArray]:
    """Both ends in one numbering: source before target, edge by edge, as a person reads the list."""
    import pandas
    import pyarrow as pa

    places = find(targets.values, sources.values)
    new = places < 0
    places = np.where(new, len(sources.values) + np.cumsum(new) - 1, places)
    values = pa.concat_arrays([sources.values, targets.values.filter(pa.array(new))])
    both = np.empty(2 * len(sources.codes), dtype=np.int32)
    both[0::2], both[1::2] = sources.codes, places[targets.codes]
    numbers, order = pandas.factorize(both)
    return numbers[0::2], numbers[1::2], values.take(pa.array(order))

"""A person's own graph, from the files that they have."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from dfnets.datasets import arrays, layout
from dfnets.datasets.dialect import TableOptions
from dfnets.datasets.edgelists import EdgeList, Unmatched, from_table, read_edge_list
from dfnets.datasets.encoder import FeatureEncoder
from dfnets.datasets.factors import find
from dfnets.datasets.identity import ids_of, nodes_of
from dfnets.datasets.labels import Labels, read_labels
from dfnets.datasets.matrix_market import read_matrix_market
from dfnets.datasets.nodes import FeatureColumns, NodeFeatures, read_features
from dfnets.datasets.tables import kind_of, refuse_missing_files
from dfnets.graph import Duplicates, Graph

if TYPE_CHECKING:
    pass

FilePath = str | PathLike[str]


@dataclass(frozen=True)
class Reading:
    """A graph from files, and what was understood of them; ``str`` says it to a person.

    Attributes:
        summary: one line, such as "3,025 nodes, 13,128 edges, 60 labels, 3 classes, weights: column Weight".
        notes: what a person should know besides: how files are written, what was filled in, what is not used.
        left_out: edges and labels that are not in the graph, because their nodes are not.
    """

    graph: Graph
    summary: str
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.summary, *(f"  {note}" for note in (*self.left_out, *self.notes))])


def read_graph(
    edges: FilePath, features: FilePath | None = None, labels: FilePath | None = None, **options: Any
) -> Graph:
    """The graph of an edge file, with features and labels of its nodes: :func:`read` without what was understood.

    Edges and labels that are left out raise a warning.

    Args:
        edges, features, labels: files, see :func:`read`.
        options: its other arguments.
    """
    done = read(edges, features, labels, **options)
    for sentence in done.left_out:
        warnings.warn(sentence, stacklevel=2)
    return done.graph


def read(
    edges: FilePath,
    features: FilePath | None = None,
    labels: FilePath | None = None,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    id: str | None = None,
    label: str | None = None,
    ignore: Sequence[str] = (),
    coordinates: Sequence[str] = (),
    header: bool | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    missing: Sequence[str] | None = None,
    duplicates: Duplicates = "refuse",
    unmatched: Unmatched = "drop",
    encode: bool = True,
    encoder: FeatureEncoder | None = None,
    **attributes: Any,
) -> Reading:
    """The graph of an edge file, with features and labels of its nodes, and what was understood of the files.

    **Nodes.** With features, their rows are the nodes; edges and labels of other ids are left out and counted (more
    than half of them is refused, because then the ids are most likely written in two ways). Without features, every
    id of the edges and of the labels is a node.

    **Ids.** Where the ids are the integers 0 to n-1, node k is row k and ``graph.node_ids`` is None. Other integers
    are kept as integers; if any id is not a plain integer (``007``, ``1.0``, ``anna``), all are kept as text. Other
    ids keep the order of the features, or that in which they appear; integers without features are sorted. Features
    and signals without ids (.npy, and .npz without ``ids``) belong to nodes 0 to n-1.

    Args:
        edges: one edge per row, listed once or in both directions, as text (.csv, .tsv, .txt, also packed with gzip),
            .parquet, .jsonl or .xlsx; .graphml; .mtx; .npz (an adjacency written by ``scipy.sparse.save_npz``, or a
            whole graph in the layout of :mod:`dfnets.datasets.layout`); a folder that :meth:`Graph.save` wrote.
        features: a table with an id in each row, or in long format (id, feature, value); .npy; .npz (written by
            ``scipy.sparse.save_npz``, or with one dense array; beside it ``ids`` and ``feature_names`` if there are).
            Text becomes one feature for each category, and gaps among numbers are filled with the median of the
            column, see :class:`dfnets.datasets.encoder.FeatureEncoder`. Mostly zero features are kept sparse.
        labels: a table with an id and a label in each row; a node that it leaves out, or whose label is missing, has
            label -1. Classes are numbered in the order of their names; numbers by value.
        source, target: the columns of the ends; if left out, those called so in any case, or else the first two.
        weight: the column of weights; if left out "weight" in any case, or the third column without a header.
        id: the column of ids in features and labels; if left out "id" or "node" in any case, or else the first.
        label: the column of labels; if left out "label", "class" and the like, or else the second. It is no feature,
            so that one file can be both.
        ignore: columns of the features that are none.
        coordinates: columns of the features that say where nodes are (``["x", "y"]``), for pictures; they are no
            features.
        header: whether the first row of text files names their columns.
        separator, decimal: the character between cells, and the decimal point.
        missing: cells that stand for no value: empty, ?, NA, nan, null and the like, and -1 as a label.
        duplicates: as in :meth:`Graph.from_edges`.
        unmatched: ``"refuse"`` instead of leaving out what belongs to no node.
        encode: False refuses text and missing values among the features instead.
        encoder: that of a trained model, so that these features become numbers as in training.
        attributes: ``name`` and ``directed``, for :class:`Graph`.

    Raises:
        FileNotFoundError: names every file that is not there.
        ValueError: names the file, the line and the column of what is wrong.
    """
    edges = Path(edges)
    feature_file, label_file = (None if path is None else Path(path) for path in (features, labels))
    refuse_missing_files(None if edges.is_dir() else edges, feature_file, label_file)
    options = TableOptions(header, separator, decimal, None if missing is None else tuple(missing))
    attributes = {"name": edges.name.removesuffix(".gz").removesuffix(kind_of(edges)), **attributes}
    listed: EdgeList | None = None
    graph: Graph | None = None
    if edges.is_dir() or kind_of(edges) in (".npz", ".mtx"):
        graph = _read_matrix(edges, attributes)
        known = ids_of(graph)
    else:
        listed = read_edge_list(edges, options, source=source, target=target, weight=weight)
        known = listed.appearing()
    labelled = None
    if label_file is not None:
        labelled = read_labels(label_file, options, id=id, label=label, known=known)
    rows: NodeFeatures | None = None
    if feature_file is not None:
        if labelled is not None and label_file == feature_file:
            label = labelled.column
        columns = FeatureColumns(id, label, tuple(ignore), tuple(coordinates), encode)
        rows = read_features(feature_file, options, columns, encoder=encoder, known=known)
    dropped = 0
    if listed is not None:
        listed = _without_header(listed, rows, source, target, weight)
        nodes, node_ids = nodes_of(listed, rows, labelled)
        graph, dropped = listed.graph(
            nodes,
            known=rows.known() if rows is not None else "a node of the file",
            duplicates=duplicates,
            unmatched=unmatched,
            **attributes,
        )
        graph = _with(graph, edges, lambda: {"node_ids": node_ids})
    assert graph is not None
    return _finished(graph, edges, listed, rows, labelled, dropped, unmatched)


def _finished(
    graph: Graph,
    edges: Path,
    listed: EdgeList | None,
    rows: NodeFeatures | None,
    labelled: Labels | None,
    dropped: int,
    unmatched: Unmatched,
) -> Reading:
    """The graph with its features and labels, and the sentences about it."""
    nodes = ids_of(graph)
    left_out, notes = [], []
    if dropped and rows is not None:
        left_out.append(f"{count(dropped, 'edge')} left out: an end is not a row of {rows.path.name}")
    if listed is not None and listed.table is not None:
        if listed.table.summary:
            notes.append(f"{edges.name}: {listed.table.summary}")
        if listed.unused:
            notes.append(f"{edges.name}: columns not used: {', '.join(listed.unused)}")
    if rows is not None:
        graph = _with(graph, rows.path, lambda: rows.placed(nodes, edges))
        notes += rows.notes
        if rows.summary:
            notes.append(f"{rows.path.name}: {rows.summary}")
    if labelled is not None:
        numbers, names, outside = labelled.placed(nodes)
        if len(outside):
            share = len(outside) / len(labelled.ids.codes)
            if unmatched == "refuse" or share > 0.5:
                more = f" ({share:.0%} of the labels belong to none)" if share > 0.5 else ""
                labelled.fail(int(outside[0]), f"is not a node of the graph{more}")
            left_out.append(f"{count(len(outside), 'label')} of {labelled.path.name} left out: no node has such an id")
        graph = graph.with_(labels=numbers, label_names=names)
        notes += labelled.notes
        if (
            rows is None
            and listed is not None
            and (only := np.count_nonzero(labelled.ids.find(listed.appearing()) < 0))
        ):
            notes.append(f"{count(int(only), 'node')} only in {labelled.path.name}: without edges")
    return Reading(graph, _summary(graph, listed, labelled), tuple(notes), tuple(left_out))


def _summary(graph: Graph, listed: EdgeList | None, labelled: Labels | None) -> str:
    parts = [count(graph.num_nodes, "node"), count(graph.num_edges, "edge")]
    if graph.features is not None:
        n, f = graph.features.shape
        nonzero = graph.features.nnz if isinstance(graph.features, sp.csr_array) else None
        share = "" if nonzero is None else f" (sparse, {nonzero / max(n * f, 1):.1%} not zero)"
        parts.append(count(f, "feature") + share)
    if graph.labels is not None:
        parts.append(count(int(np.count_nonzero(graph.labels >= 0)), "label"))
        parts.append(count(graph.num_classes, "class") + (f" (column {labelled.column})" if labelled else ""))
    if listed is not None:
        parts.append("weights: " + ("all 1" if listed.weighted_by is None else f"column {listed.weighted_by}"))
    return ", ".join(parts)


def _with(graph: Graph, path: Path, attributes: Callable[[], dict[str, Any]]) -> Graph:
    """The graph with these attributes; what is wrong with them is said of the file."""
    try:
        return graph.with_(**attributes())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def count(number: int, noun: str) -> str:
    """ "1 edge", "3,025 edges"."""
    plural = {"class": "classes"}.get(noun, noun + "s")
    return f"{number:,} {noun if number == 1 else plural}"


def _without_header(
    listed: EdgeList, rows: NodeFeatures | None, source: str | None, target: str | None, weight: str | None
) -> EdgeList:
    """Edges whose first row was taken for names of columns, although both are nodes that the features know."""
    table = listed.table
    if rows is None or table is None or table.sure or not table.header:
        return listed
    import pyarrow as pa

    if (find(pa.array(table.columns[:2], pa.string()), rows.nodes()) >= 0).all():
        return from_table(table.without_header(), source, target, weight)
    return listed


def _read_matrix(path: Path, attributes: dict[str, Any]) -> Graph:
    if path.is_dir():
        return Graph.open(path)
    try:
        if kind_of(path) == ".mtx":
            return Graph(read_matrix_market(path), **attributes)
        held = arrays.names(path)
        if "adj_indptr" in held:
            return layout.to_graph(layout.read(path), **attributes)
        if "format" not in held:
            raise ValueError(
                f"it holds {', '.join(held[:8])}; edges in an .npz are an adjacency written by scipy.sparse.save_npz, "
                "or adj_indptr, adj_indices and num_nodes"
            )
        return Graph(arrays.sparse(arrays.read(path, arrays.SPARSE), "adjacency"), **attributes)
    except (ValueError, KeyError, TypeError) as error:
        raise error if str(path) in str(error) else ValueError(f"{path}: {error}") from None

"""Who the nodes are: their ids, in the order that they have in the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dfnets.datasets.edgelists import EdgeList
from dfnets.datasets.factors import find
from dfnets.datasets.labels import Labels
from dfnets.datasets.nodes import NodeFeatures, numbers
from dfnets.graph import Graph

if TYPE_CHECKING:
    import pyarrow as pa


def nodes_of(
    listed: EdgeList, rows: NodeFeatures | None, labelled: Labels | None
) -> tuple[pa.StringArray, np.ndarray | None]:
    """The ids of the nodes as text, in order, and as the graph keeps them."""
    import pyarrow as pa

    if rows is not None:
        nodes = rows.nodes()
    else:
        nodes = listed.appearing()
        if labelled is not None and listed.nodes is None:
            only = find(labelled.ids.values, nodes) < 0
            nodes = pa.concat_arrays([nodes, labelled.ids.values.filter(pa.array(only))])
    plain = _integers(nodes)
    if plain is None:
        return nodes, nodes.to_numpy(zero_copy_only=False)
    ordered = np.argsort(plain)
    is_rows = len(plain) > 0 and plain[ordered[0]] == 0 and plain[ordered[-1]] == len(plain) - 1
    if is_rows or rows is None:
        nodes, plain = nodes.take(pa.array(ordered)), plain[ordered]
    return nodes, None if is_rows else plain


def _integers(ids: pa.StringArray) -> np.ndarray | None:
    """Ids as numbers, if every one of them is written as a number is; 007 is not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(ids, "^(0|-?[1-9][0-9]{0,17})$"), min_count=0).as_py():
        return None
    return ids.cast(pa.int64()).to_numpy()


def ids_of(graph: Graph) -> pa.StringArray:
    """The ids of a graph as text; the numbers of the nodes where it has none."""
    import pyarrow as pa

    if graph.node_ids is None:
        return numbers(graph.num_nodes)
    return pa.array([str(one) for one in graph.node_ids], pa.string())

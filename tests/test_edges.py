"""Edge lists: what is wrong with one is said in words, and a right one gives what a dictionary of pairs gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfnets import Graph
from dfnets.graph import ConflictingWeights

BAD_LISTS = {
    "uneven edges": (lambda: Graph.from_edges([0, 1], [1]), r"two vectors of one length, not \(2,\) and \(1,\)"),
    "uneven weights": (lambda: Graph.from_edges([0], [1], [1.0, 2.0]), r"weights has shape \(2,\), but there are 1"),
    "negative weight": (lambda: Graph.from_edges([0, 1], [1, 2], [1, -2]), r"weights\[1\] = -2.0 \(1 such edges\)"),
    "nan weight": (lambda: Graph.from_edges(["a"], ["b"], [np.nan]), r"weights\[0\] = nan .*remove those edges"),
    "infinite weight": (lambda: Graph.from_edges([0], [1], [np.inf]), r"weights\[0\] = inf"),
    "negative node": (lambda: Graph.from_edges([0], [-1]), "node number -1 is out of range"),
    "high node": (lambda: Graph.from_edges([0], [5], num_nodes=3), "node number 5 .*numbered 0 to 2"),
    "no edges": (lambda: Graph.from_edges([], []), "the edge list is empty: give num_nodes, or node_ids"),
    "no id": (lambda: Graph.from_edges(["a", None], ["b", "c"]), "edge 1 has no id at one end"),
    "unknown id": (
        lambda: Graph.from_edges(["a"], ["z"], node_ids=["a", "b"]),
        r"edge 0 names 'z', which is not in node_ids \(1 such edges\)",
    ),
    "other count": (lambda: Graph.from_edges(["a"], ["b"], num_nodes=3), "num_nodes is 3, but the ids name 2 nodes"),
    "two weights": (
        lambda: Graph.from_edges(["a", "c", "b"], ["b", "a", "a"], [1, 1, 2]),
        r"between 'a' and 'b' is listed with weights 1 and 2 \(1 such pairs\); pass duplicates='sum'",
    ),
    "duplicates": (lambda: Graph.from_edges([0], [1], duplicates="first"), "duplicates='first' is not one of"),
}


@pytest.mark.parametrize("case", BAD_LISTS)
def test_a_bad_list_is_refused_in_words(case):
    make, message = BAD_LISTS[case]
    with pytest.raises(ValueError, match=message):
        make()


def test_self_loops_count_once():
    graph = Graph.from_edges([0, 1, 1], [0, 1, 0], [5.0, 6, 7])
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[5, 7], [7, 6]])
    assert graph.num_edges == 3
    np.testing.assert_array_equal(graph.degrees, [12, 13])


def test_ids_keep_their_order_and_their_kind():
    assert Graph.from_edges(["b", "b"], ["c", "a"]).node_ids.tolist() == ["b", "c", "a"]
    assert Graph.from_edges(["b"], ["a"], node_ids=["x", "a", "b"]).node_ids.tolist() == ["x", "a", "b"]
    assert Graph.from_edges([1, "b"], ["a", (1, 2)]).node_ids.tolist() == [1, "a", "b", (1, 2)]


def test_conflict_says_which_two_edges():
    with pytest.raises(ConflictingWeights) as caught:
        Graph.from_edges([0, 1, 5, 1, 1], [1, 2, 6, 0, 2], [1.0, 2, 3, 1, 4])
    assert caught.value.edges == (1, 4)


edge_lists = st.integers(1, 8).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(*[st.integers(0, n - 1)] * 2, st.sampled_from([0.5, 1.0, 3.0])), max_size=30),
    )
)
MERGE = {"sum": np.sum, "max": np.max, "mean": np.mean}


@settings(deadline=None)
@given(edge_lists, st.sampled_from([*MERGE, "refuse"]))
def test_edge_lists_against_a_dictionary(case, duplicates):
    n, edges = case
    weights: dict[tuple[int, int], list[float]] = {}
    for i, j, w in edges:
        weights.setdefault((min(i, j), max(i, j)), []).append(w)
    columns = [np.array([edge[k] for edge in edges], dtype=kind) for k, kind in enumerate((int, int, float))]
    if duplicates == "refuse" and any(len(set(listed)) > 1 for listed in weights.values()):
        with pytest.raises(ConflictingWeights):
            Graph.from_edges(*columns, num_nodes=n)
        return
    graph = Graph.from_edges(*columns, num_nodes=n, duplicates=duplicates)
    expected = np.zeros((n, n))
    for (i, j), listed in weights.items():
        expected[i, j] = expected[j, i] = MERGE.get(duplicates, np.max)(listed)
    np.testing.assert_allclose(graph.adjacency.toarray(), expected, rtol=1e-15)
    assert graph.num_edges == len(weights)

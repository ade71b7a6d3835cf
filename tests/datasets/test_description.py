import networkx
import numpy as np
import pytest
from rich.console import Console

from dfnets.datasets import describe, layout, splits
from dfnets.graph import Graph


def text(description) -> str:
    console = Console(width=160)
    with console.capture() as capture:
        console.print(description.table())
    return capture.get()


def test_against_networkx():
    club = networkx.karate_club_graph()
    club.add_edge(3, 3, weight=2.0)
    club.add_nodes_from(["alone", "too"])
    labels = np.array([int(data.get("club") == "Officer") for _, data in club.nodes(data=True)])
    labels[-2:] = -1
    described = describe(Graph.from_networkx(club, labels=labels, name="karate", label_names=("Hi", "Officer")))
    assert (described.nodes, described.edges, described.self_loops) == (36, club.number_of_edges(), 1)
    components = list(networkx.connected_components(club))
    assert (described.components, described.largest_component) == (len(components), max(map(len, components)))
    assert described.isolated == 2
    club.remove_edge(3, 3)
    assert described.degrees.tolist() == [degree for _, degree in club.degree()]
    assert described.class_sizes == {"Hi": 17, "Officer": 17}
    assert (described.labelled, described.label_rate, described.features) == (34, 34 / 36, 0)
    number = {node: k for k, node in enumerate(club)}
    same = [labels[number[i]] == labels[number[j]] for i, j in club.edges]
    assert described.homophily == pytest.approx(np.mean(same), abs=1e-15)
    assert described.paper is None


def test_spectrum_against_dense_eigenvalues():
    graph = Graph.from_networkx(networkx.random_regular_graph(3, 40, seed=0))
    adjacency = graph.adjacency.toarray() + np.eye(40)
    root = 1 / np.sqrt(adjacency.sum(axis=1))
    frequencies = np.linalg.eigvalsh(np.eye(40) - root[:, None] * adjacency * root)
    described = describe(graph)
    low, high = described.interval
    assert low <= frequencies[0] + 1e-12
    assert frequencies[-1] <= high
    atoms, weights = described.density
    assert weights.sum() == pytest.approx(1)
    assert atoms.min() >= frequencies[0] - 1e-9
    assert atoms.max() <= frequencies[-1] + 1e-9


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("cora", {"components": 78, "isolated": 0, "homophily": 0.81, "label_rate": 0.052}),
        ("citeseer", {"components": 438, "isolated": 48, "homophily": 0.74, "label_rate": 0.036}),
    ],
)
def test_published_facts_beside_the_papers_counts(shared, name, facts):
    described = describe(layout.to_graph(shared(name), name))
    for fact, value in facts.items():
        assert getattr(described, fact) == pytest.approx(value, abs=0.005)
    shown = text(described)
    assert str(described.edges) in shown
    assert str(described.paper.edges) in shown
    assert "the paper halves the number of neighbour-list entries" in shown


def test_without_labels_or_edges_nothing_is_made_up(tmp_path):
    described = describe(Graph(np.zeros((3, 3)), name="bare"))
    assert (described.label_rate, described.homophily, described.class_sizes) == (None, None, {})
    assert (described.components, described.isolated) == (3, 3)
    shown = text(described)
    assert "homophily" not in shown
    assert "paper" not in shown
    described.figure(tmp_path / "bare.png")


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_figure(tmp_path, suffix):
    rng = np.random.default_rng(0)
    graph = Graph.from_networkx(networkx.path_graph(60), labels=rng.integers(0, 30, 60))
    path = tmp_path / f"figure.{suffix}"
    describe(graph).figure(path)
    assert path.stat().st_size > 5000
    assert path.read_bytes()[:4] in (b"\x89PNG", b"<?xm")


def test_label_rate_is_that_of_the_split():
    graph = Graph(np.zeros((4, 4)), labels=[0, 1, 0, 1])
    split = splits.Split([0, 1], [], [2, 3], "planetoid")
    assert describe(graph).label_rate == 1
    assert describe(graph.with_(splits={"planetoid": (split,)})).label_rate == 0.5

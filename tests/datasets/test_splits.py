import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dfnets.datasets import layout, splits
from dfnets.datasets.splits import LOW_LABEL_RATES, Split
from dfnets.graph import Graph


def labelled_graph(sizes, *, unknown=0, **attributes) -> Graph:
    """A graph without edges: ``sizes[c]`` nodes of class c, in random order, and some without a label."""
    labels = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), np.full(unknown, -1)])
    labels = np.random.default_rng(0).permutation(labels)
    return Graph(sp.csr_array((len(labels), len(labels))), labels=labels, name="test", **attributes)


BIG = labelled_graph((900, 700, 500, 60), unknown=40)


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        (([0, 1], [2], [1, 3]), {}, r"node 1 is in both train and test \(1 such nodes\)"),
        (([0], [2, 3], [3]), {}, "node 3 is in both validation and test"),
        (([0], [0], [3]), {}, "node 0 is in both train and validation"),
        (([0, 0], [1], [2]), {}, "train has 1 nodes more than once"),
        (([-1], [1], [2]), {}, "train has node -1; nodes are numbered from 0"),
        (([0.5], [1], [2]), {}, "train has shape .* and type float64; it must be a vector of node numbers"),
        (([[0]], [1], [2]), {}, r"train has shape \(1, 1\)"),
        (([True, False], [1], [2]), {}, "type bool"),
        (([], [1], [2]), {}, "train is empty"),
        (([0], [1], []), {}, "test is empty"),
        (([0], [1], [5]), {"num_nodes": 5}, "test has node 5, but the graph has 5 nodes, numbered 0 to 4"),
        (([0], [7], [2]), {"labels": np.zeros(5, int)}, "validation has node 7, but the graph has 5 nodes"),
        (([0], [1], [2]), {"labels": np.array([0, -1, 0])}, "node 1 of validation has no label"),
        (([0], [1], [2]), {"labels": np.array([0, 1, 2])}, r"class 1 has no training node \(2 such classes\)"),
    ],
)
def test_a_wrong_split_is_refused_in_words(parts, options, message):
    with pytest.raises(ValueError, match=message):
        Split(*parts, "mine", **options)


def test_a_split_is_sorted_and_cannot_be_changed():
    split = Split([3, 1], [], np.array([2], dtype=np.uint8), "mine")
    assert split.train.tolist() == [1, 3]
    assert split.train.dtype == split.validation.dtype == split.test.dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        split.train[0] = 2


def test_fingerprint_depends_on_contents_and_protocol_only():
    base = Split([0, 1], [2], [3], "mine")
    assert Split([1, 0], [2], [3], "mine", draw=4).fingerprint == base.fingerprint
    others = [Split([0], [1, 2], [3], "mine"), Split([0, 1], [2], [3], "other"), Split([0, 1], [], [2, 3], "mine")]
    assert len({base.fingerprint, *(split.fingerprint for split in others)}) == 4


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_published_index_ranges(shared, name):
    classes = {"cora": 7, "citeseer": 6, "pubmed": 3}[name]
    arrays = shared(name)
    authors = splits.authors(arrays["labels"])
    assert authors.train.tolist() == list(range(20 * classes))
    assert authors.validation.tolist() == list(range(20 * classes, 1000))
    assert authors.test.tolist() == list(range(1000, 2000))
    (planetoid,) = layout.to_graph(arrays, name).splits["planetoid"]
    if name == "cora":
        assert (planetoid.train[-1], planetoid.validation[0], planetoid.validation[-1]) == (139, 140, 639)
        assert planetoid.test.tolist() == list(range(1708, 2708))


def test_low_label_draws():
    for rate in (0.001, 0.01, 0.05):
        draws = splits.make(BIG, "low-label", rate=rate)
        assert len(draws) == 10
        for split in draws:
            assert len(split.train) == max(round(rate * 2200), 4)
            assert (len(split.validation), len(split.test)) == (500, 1000)
            assert set(BIG.labels[split.train]) == {0, 1, 2, 3}
        assert len({split.fingerprint for split in draws}) == 10


def test_random_draws():
    draws = splits.make(BIG, "random")
    assert len(draws) == 20
    for split in draws:
        assert np.bincount(BIG.labels[split.train]).tolist() == [20] * 4
        assert np.bincount(BIG.labels[split.validation]).tolist() == [30] * 4
        assert len(split.test) == 2160 - 200
        assert (BIG.labels[split.test] >= 0).all()


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(["random", "low-label"]), st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 6))
def test_a_draw_does_not_depend_on_how_many_are_asked_for(protocol, seed, few, many):
    options = {"rate": 0.01} if protocol == "low-label" else {"per_class": 2, "validation_per_class": 1}
    first = splits.make(BIG, protocol, draws=few, seed=seed, **options)
    second = splits.make(BIG, protocol, draws=many, seed=seed, **options)
    for one, other in zip(first, second, strict=False):
        assert one.fingerprint == other.fingerprint
        assert one.draw == other.draw


def test_seeds_differ():
    assert splits.make(BIG, "random", seed=0)[0].fingerprint != splits.make(BIG, "random", seed=1)[0].fingerprint


def test_shipped_draws(shared):
    texas = layout.to_graph(shared("extra/texas"), "texas")
    draws = splits.make(texas, "masks")
    masks = shared("extra/texas")
    assert [split.draw for split in draws] == list(range(10))
    for k, split in enumerate(draws):
        np.testing.assert_array_equal(split.train, np.flatnonzero(masks["train_masks"][k]))
        np.testing.assert_array_equal(split.validation, np.flatnonzero(masks["val_masks"][k]))
        np.testing.assert_array_equal(split.test, np.flatnonzero(masks["test_masks"][k]))
    assert len(splits.make(texas, "masks", draws=3)) == 3
    with pytest.raises(ValueError, match="draws=11, but texas comes with 10 of protocol 'masks'"):
        splits.make(texas, "masks", draws=11)
    with pytest.raises(ValueError, match="protocol 'masks' comes with texas and takes no rate"):
        splits.make(texas, "masks", rate=0.1)


@pytest.mark.parametrize(
    ("graph", "protocol", "options", "message"),
    [
        (BIG, "planetoid", {}, "protocol='planetoid': test does not have it; it has low-label, random$"),
        (BIG, "authors", {}, "protocol='authors': test does not have it"),
        (BIG.with_(labels=None), "random", {}, "it has none; without labels none can be drawn"),
        (BIG, "random", {"draws": 0}, "draws=0: at least one is needed"),
        (BIG, "random", {"rate": 0.1}, "protocol 'random' takes no rate; it takes per_class, validation_per_class"),
        (BIG, "low-label", {}, "protocol 'low-label' needs rate="),
        (BIG, "low-label", {"rate": 3}, r"rate=3: it is the share of nodes .* \(0.03 for 3 %\)"),
        (BIG, "low-label", {"rate": 0.5}, "rate=0.5 needs 1100 training, 500 .* but test has 2160 labelled ones"),
        (BIG, "random", {"per_class": 0}, "per_class=0"),
        (BIG, "random", {"per_class": 30}, "class 3 of test has 60 labelled nodes, too few for per_class=30"),
        (
            labelled_graph((9, 60), label_names=("rare", "usual")),
            "random",
            {},
            "class rare of test has 9 labelled nodes",
        ),
    ],
)
def test_what_cannot_be_made_is_refused_in_words(graph, protocol, options, message):
    with pytest.raises(ValueError, match=message):
        splits.make(graph, protocol, **options)


def test_rates_of_the_appendix(shared):
    graph = layout.to_graph(shared("citeseer"), "citeseer")
    for rate, size in zip(LOW_LABEL_RATES["citeseer"], (33, 17, 10), strict=True):
        assert len(splits.make(graph, "low-label", rate=rate, draws=1)[0].train) == size


def test_graph_fingerprint():
    path = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]])
    graph = Graph(path, features=np.eye(3), labels=[0, 1, -1])
    base = splits.fingerprint(graph)
    assert splits.fingerprint(Graph(sp.csc_array(path), features=np.eye(3), labels=[0, 1, -1], name="x")) == base
    assert splits.fingerprint(graph.with_(features=np.eye(3, dtype=np.float32))) == base
    changed = [
        graph.with_(labels=[0, 1, 1]),
        graph.with_(labels=None),
        graph.with_(features=2 * np.eye(3)),
        graph.with_(features=None),
        Graph(2 * path, features=np.eye(3), labels=[0, 1, -1]),
    ]
    assert len({base, *map(splits.fingerprint, changed)}) == 6

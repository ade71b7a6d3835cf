"""``dfnets.fit``: protocols, rules, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dfnets import Graph
from dfnets.datasets import splits
from dfnets.datasets.splits import Split
from dfnets.training import Result, fit

SMALL: dict[str, Any] = {"units": (4, 6), "dropout": 0.5, "learning_rate": 0.01}


def run(graph: Graph, protocol: Any, **options: Any) -> Result:
    return fit("dfnet", graph, protocol=protocol, progress=False, **{"replicas": 2, "epochs": 3, **SMALL, **options})


def test_result_says_protocol_rule_and_seeds(graph: Graph, split: Split) -> None:
    result = run(graph, split, seed=4)
    assert "protocol mine, rule validation, 2 runs, seeds 4-5" in repr(result)
    assert "rule final" in repr(result.accuracy("final"))
    assert result.accuracy("oracle").mean >= result.accuracy("validation").mean
    assert result.accuracy("final").values.tolist() == result.history.test[-1].tolist()


def test_history_frame(graph: Graph, split: Split) -> None:
    frame = run(graph, split).history.frame()
    assert list(frame.columns) == ["epoch", "replica", "loss", "train", "validation", "validation_loss", "test"]
    assert frame["epoch"].tolist() == [1, 1, 2, 2, 3, 3]
    assert frame["replica"].tolist() == [0, 1] * 3


def test_protocols(graph: Graph, split: Split) -> None:
    with pytest.raises(ValueError, match="class red of blocks has 40 labelled nodes, too few"):
        run(graph, "random")  # 20 training and 30 validation nodes of each class
    made = splits.make(graph, "random", draws=2, per_class=10, validation_per_class=10)
    drawn = run(graph, made, replicas=3)
    assert [s.draw for s in drawn.splits] == [0, 1, 0]
    assert drawn.accuracy().protocol == "random"
    shipped = run(graph.with_(splits={"planetoid": (split,)}), "planetoid", replicas=3)
    assert [s.fingerprint for s in shipped.splits] == [split.fingerprint] * 3
    with pytest.raises(ValueError, match="protocol='planetoid': blocks does not have it"):
        run(graph, "planetoid")


def test_without_validation_nodes_the_rule_is_final(graph: Graph, split: Split) -> None:
    result = run(graph, Split(split.train, [], split.test, "mine"))
    assert result.select == "final"
    with pytest.raises(ValueError, match="rule='validation', but protocol 'mine' has no validation nodes"):
        result.accuracy("validation")
    with pytest.raises(ValueError, match="rule='validation', but protocol 'mine' has no validation nodes"):
        result.save("nowhere", rule="validation")


def test_no_training_at_all_is_evaluated_once(graph: Graph, split: Split) -> None:
    result = run(graph, split, epochs=0)
    assert result.history.epochs.tolist() == [0]
    assert np.isfinite(result.accuracy("final").mean)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"replicas": 0}, "replicas=0: at least 1"),
        ({"preset": "best"}, "preset='best' is not one of"),
        ({"select": "best"}, "rule='best' is not one of 'final', 'validation', 'oracle'"),
        ({"select": "oracle"}, "select='oracle'"),
        ({"dropout": 1.5}, "dropout"),
        ({"epochs": -1}, "epochs=-1: input should be greater than or equal to 0"),
        ({"wings": 2}, "dfnet has no setting 'wings'"),
        ({"device": "cuda:9"}, "device='cuda:9'"),
    ],
)
def test_bad_arguments(graph: Graph, split: Split, options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, RuntimeError), match=message):
        run(graph, split, **options)


def test_bad_data(graph: Graph, split: Split) -> None:
    with pytest.raises(ValueError, match="model='gnn' is not one of"):
        fit("gnn", graph, protocol=split)
    with pytest.raises(ValueError, match="blocks has no labels"):
        run(graph.with_(labels=None), split)
    with pytest.raises(ValueError, match="blocks has no features"):
        run(graph.with_(features=None), split)
    with pytest.raises(ValueError, match="protocol is an empty list of splits"):
        run(graph, [])
    reds = np.flatnonzero(np.asarray(graph.labels) == 0)
    with pytest.raises(ValueError, match="class 1 has no training node"):
        run(graph, Split(reds[:5], [], np.arange(100, 120), "mine"))
    with pytest.raises(ValueError, match="test has node 500"):
        run(graph, Split(np.arange(0, 120, 2), [], [500], "mine"))
    with pytest.raises(ValueError, match="rule='oracle' looks at the test nodes"):
        run(graph, split).trained("oracle")

"""The loop: replicas equal single runs, stop early, and say when they diverge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from dfnets import Graph, models
from dfnets.datasets.splits import Split
from dfnets.training import DivergedError, fit

SMALL: dict[str, Any] = {"units": (4, 6), "dropout": 0.5, "learning_rate": 0.01}


def run(name: str, graph: Graph, split: Split | list[Split], **options: Any) -> Any:
    fields = models.get(name).Config.model_fields
    settings = {key: value for key, value in SMALL.items() if key in fields}
    if fields["epochs"].default:
        settings["epochs"] = 12
    return fit(name, graph, protocol=split, progress=False, device="cpu", **{"replicas": 1, **settings, **options})


def weights(result: Any, rule: str) -> dict[str, torch.Tensor]:
    return result._trainer.weights(rule)


@pytest.mark.usefixtures("exact_replicas")
@pytest.mark.parametrize("name", models.names())
def test_replicas_equal_single_runs_bit_for_bit(name: str, graph: Graph, split: Split) -> None:
    together = run(name, graph, split, replicas=3, seed=5)
    for r in range(3):
        alone = run(name, graph, split, seed=5 + r)
        for rule in ("final", "validation"):
            many, one = weights(together, rule), weights(alone, rule)
            assert all(torch.equal(many[key][r], one[key][0]) for key in many)
        for column in together.history.NAMES:
            many, one = getattr(together.history, column)[:, r], getattr(alone.history, column)[:, 0]
            # A model without epochs has no loss of training.
            np.testing.assert_array_equal(many, one)


@pytest.mark.usefixtures("exact_replicas")
def test_replicas_may_have_splits_of_their_own(graph: Graph, split: Split) -> None:
    other = Split(split.train[3:], split.validation, split.test, "mine", 1)
    together = run("dfnet", graph, [split, other], replicas=2)
    alone = run("dfnet", graph, other, seed=1)
    assert all(torch.equal(weights(together, "final")[key][1], one[0]) for key, one in weights(alone, "final").items())


@pytest.mark.usefixtures("exact_replicas")
def test_early_stopping_freezes_a_replica_and_equals_its_single_run(graph: Graph, split: Split) -> None:
    options = {"epochs": 60, "patience": 4}
    together = run("dfnet", graph, split, replicas=3, **options)
    ends = together.history.epochs[together.history.last()]
    assert len(set(ends)) > 1, "the replicas should stop at different epochs for this test to mean something"
    for r in range(3):
        alone = run("dfnet", graph, split, seed=r, **options)
        assert alone.history.epochs[-1] == ends[r]
        assert together.accuracy("final").values[r] == alone.accuracy("final").values[0]
        many, one = weights(together, "final"), weights(alone, "final")
        assert all(torch.equal(many[key][r], one[key][0]) for key in many)


@pytest.mark.usefixtures("exact_replicas")
def test_patience_may_wait_for_either_record_and_selection_for_both(graph: Graph, split: Split) -> None:
    options: dict[str, Any] = {"epochs": 80, "patience": 4, "select_by": "both", "patience_from": "either"}
    together = run("dfnet", graph, split, replicas=3, **options)
    for r, end in enumerate(together.history.epochs[together.history.last()]):
        highest, lowest, chosen, last = -np.inf, np.inf, 0, 0
        rows = zip(together.history.validation[:end, r], together.history.validation_loss[:end, r], strict=True)
        for epoch, (accuracy, loss) in enumerate(rows, start=1):
            assert epoch - last <= 4
            if accuracy >= highest and loss <= lowest:
                chosen = epoch
            if accuracy >= highest or loss <= lowest:
                last = epoch
            highest, lowest = max(highest, accuracy), min(lowest, loss)
        assert end == 80 or end - last == 4
        assert together.accuracy("validation").values[r] == together.history.test[chosen - 1, r]
        alone = run("dfnet", graph, split, seed=r, **options)
        assert alone.history.epochs[-1] == end


def test_it_learns(graph: Graph, split: Split) -> None:
    result = run("dfnet", graph, split, epochs=60, replicas=2)
    assert result.accuracy("final").mean > 75
    assert result.history.loss[-1].mean() < result.history.loss[0].mean() / 2


def test_validation_rule_takes_the_weights_of_its_epoch(graph: Graph, split: Split) -> None:
    result = run("dfnet", graph, split, epochs=30)
    best = int(np.nanargmax(result.history.validation[:, 0]))
    ties = np.flatnonzero(result.history.validation[:, 0] == result.history.validation[best, 0])
    row = ties[np.argmin(result.history.validation_loss[ties, 0])]
    assert result.accuracy("validation").values[0] == result.history.test[row, 0]
    shorter = run("dfnet", graph, split, epochs=int(result.history.epochs[row]))
    kept, reached = weights(result, "validation"), weights(shorter, "final")
    assert all(torch.equal(kept[key], reached[key]) for key in kept)


def test_divergence_names_epoch_and_replica(graph: Graph, split: Split) -> None:
    with pytest.raises(
        DivergedError, match=r"the loss of replica 0 is (nan|inf) at epoch \d+ \(\d of 2 replicas\): lower"
    ):
        run("dfnet", graph, split, replicas=2, learning_rate=1e30, unit_norm=False, momentum=None, epochs=20)


def test_l2_is_a_penalty_on_the_loss(graph: Graph, split: Split) -> None:
    """One step of Adam with weight_decay equals one with the penalty written out."""
    from dfnets.training.fitting import make_trainer
    from dfnets.training.objective import Nodes

    config = models.config("dfnet", l2=0.3, unit_norm=False, **SMALL)
    nodes = [Nodes(split.train, split.validation, split.test)]
    first, _ = make_trainer("dfnet", config, graph, nodes, [0], "cpu")
    second, _ = make_trainer("dfnet", config, graph, nodes, [0], "cpu")
    first.step()
    model = second.model.train()
    penalty = sum(l2 * p.square().sum() for parameters, l2 in model.penalties() for p in parameters)
    (second.objective(model(second.inputs)).sum() + penalty).backward()  # type: ignore[operator]
    torch.optim.Adam(model.parameters(), lr=config.learning_rate).step()
    for own, other in zip(first.model.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(own, other, atol=1e-6, rtol=1e-4)

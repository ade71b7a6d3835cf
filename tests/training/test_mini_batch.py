"""Mini-batches agree with the full graph: their logits to rounding, their accuracy within what seeds differ by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from communities import communities

from dfnets import Graph, fit
from dfnets.datasets.splits import Split
from dfnets.filtered_features import FilteredFeatures
from dfnets.models import DFNetPlus, Sizes, config
from dfnets.models.plus_rows import DFNetPlusOnRows
from dfnets.models.row_inputs import PushedFeatures, RowInputs
from dfnets.nn.filter_bank import restart_filter
from dfnets.training import MiniBatch, load
from dfnets.training.mini_batch import make_mini_batch_trainer
from dfnets.training.objective import Nodes

SETTINGS = {"epochs": 120, "every": 10, "unlabelled": 60, "labelled": 20, "progress": False, "device": "cpu"}
FILTERS = [restart_filter(a) for a in (0.1, 0.4, 1.0)] + [restart_filter(0.4, high=True)]


def towns(n: int = 400, seed: int = 0) -> tuple[Graph, Split]:
    graph, truth = communities(seed, n=n, separation=0.6)
    order = np.random.default_rng(seed).permutation(n)
    split = Split(np.sort(order[:30]), np.sort(order[30:80]), np.sort(order[80:]), "own", labels=truth)
    return graph.with_(labels=truth), split


@pytest.mark.parametrize("settings", [{}, {"hidden": 8}, {"band": "high"}, {"standardise": True, "gain": True}])
def test_logits_are_those_of_the_full_graph(settings: dict) -> None:
    graph, split = towns(120)
    chosen, sizes = config("dfnet-plus", ensemble=False, **settings), Sizes(12, 3, 120)
    labels = [(split.train, graph.labels[split.train])] * 2
    whole, local = DFNetPlus(chosen, sizes, replicas=2), DFNetPlusOnRows(chosen, sizes, replicas=2)
    inputs = RowInputs(PushedFeatures(graph, threshold=1e-8, keep=120), np.arange(120), 120)
    full = whole.prepare(graph, torch.device("cpu"))
    streams = [torch.Generator().manual_seed(r) for r in range(2)]
    whole.reset_parameters(streams)
    local.load_state_dict(whole.state_dict())
    whole.begin(full, labels)
    local.begin(inputs, labels)
    for name, tensor in whole.state_dict().items():
        if name not in ("mean", "scale"):
            torch.testing.assert_close(local.state_dict()[name], tensor, msg=name)
    with torch.no_grad():
        expected = whole.eval()(full)
        torch.testing.assert_close(local.eval()(inputs), expected, rtol=0, atol=2e-3)
        torch.testing.assert_close(local.logits_at(inputs, np.array([7, 3])), expected[[7, 3]], rtol=0, atol=2e-3)
        # The second time they come from what was kept.
        torch.testing.assert_close(local(inputs), expected, rtol=0, atol=2e-3)


def test_nodes_dropped_in_rows_are_nodes_dropped_in_the_graph() -> None:
    """The mean of many augmentations is the filtered signal itself, in either way of dropping."""
    graph, split = towns(100)
    chosen = config("dfnet-plus", band="low", node_dropout=0.5, input_dropout=0.25)
    local = DFNetPlusOnRows(chosen, Sizes(12, 3, 100))
    local.reset_parameters([torch.Generator().manual_seed(0)])
    local.use_streams([torch.Generator().manual_seed(1)])
    inputs = RowInputs(PushedFeatures(graph, threshold=1e-6, keep=100), np.arange(100), 100)
    local.begin(inputs, [(split.train, graph.labels[split.train])])
    with torch.no_grad():
        draws = local._augmented(inputs, torch.arange(100)[:, None], 3000)[:, 0]
        expected = local(inputs)[:, 0]
    spread = draws.std(dim=1) / np.sqrt(3000)
    assert bool(((draws.mean(dim=1) - expected).abs() <= 6 * spread + 1e-5).all())
    assert float(draws.std(dim=1).min()) > 1e-3


def test_accuracy_agrees_with_the_full_graph(tmp_path: Path) -> None:
    graph, split = towns()
    filtered = FilteredFeatures.make(graph, FILTERS, tmp_path / "z")
    ways = {"full": False, "pushed": True, "filtered": MiniBatch(filtered=filtered)}
    found = {
        name: fit("dfnet-plus", graph, protocol=split, replicas=3, mini_batch=how, **SETTINGS)
        for name, how in ways.items()
    }
    means = {name: result.accuracy().mean for name, result in found.items()}
    assert means["full"] > 70
    assert abs(means["pushed"] - means["full"]) < 4, means
    assert abs(means["filtered"] - means["full"]) < 6, means
    # What was trained in mini-batches is an ordinary model: it is saved, and predicts on the whole graph.
    found["pushed"].save(tmp_path / "model")
    predicted = load(tmp_path / "model").predict(graph).probabilities.argmax(axis=1)[split.test]
    assert 100 * np.mean(predicted == graph.labels[split.test]) > means["full"] - 4


def test_runs_are_repeatable_and_go_on_from_a_checkpoint(tmp_path: Path) -> None:
    graph, split = towns(150)
    options = {**SETTINGS, "protocol": split, "replicas": 2, "mini_batch": MiniBatch(keep=16, unlabelled=40)}
    whole = fit("dfnet-plus", graph, **options)
    again = fit("dfnet-plus", graph, **options)
    np.testing.assert_array_equal(whole.history.loss, again.history.loss)

    class Stop(Exception):
        pass

    def stop(trainer: object) -> None:
        if trainer.epoch == 50:  # type: ignore[attr-defined]
            raise Stop

    kept = {"checkpoint": tmp_path / "c", "checkpoint_every": 0}
    with pytest.raises(Stop):
        fit("dfnet-plus", graph, **options, **kept, after_epoch=stop)
    resumed = fit("dfnet-plus", graph, **options, **kept)
    np.testing.assert_array_equal(whole.history.loss, resumed.history.loss)


def test_no_more_nodes_than_asked_for_have_rows() -> None:
    graph, split = towns()
    nodes = [Nodes(split.train, split.validation, split.test)]
    options = MiniBatch(unlabelled=20, scored=15)
    trainer = make_mini_batch_trainer("dfnet-plus", config("dfnet-plus"), graph, nodes, [0], options, "cpu")
    assert trainer.inputs.known == 30 + 15 + 15
    assert trainer.inputs.num_nodes == 80
    assert len(np.unique(trainer.inputs.nodes)) == 80
    own = trainer.nodes[0]
    np.testing.assert_array_equal(trainer.inputs.nodes[own.train], split.train)
    assert np.isin(trainer.inputs.nodes[own.test], split.test).all()
    np.testing.assert_array_equal(trainer.labels, graph.labels[trainer.inputs.nodes[:60]])


def test_what_cannot_be_trained_this_way_is_refused(tmp_path: Path) -> None:
    graph, split = towns(100)
    with pytest.raises(ValueError, match="mini_batch trains 'dfnet-plus'"):
        fit("gcn", graph, protocol=split, mini_batch=True, progress=False)
    with pytest.raises(ValueError, match="scored=0"):
        MiniBatch(scored=0)
    filtered = FilteredFeatures.make(graph, FILTERS, tmp_path / "z")
    with pytest.raises(ValueError, match="another graph"):
        fit("dfnet-plus", towns(101)[0], protocol=split, mini_batch=MiniBatch(filtered=filtered), progress=False)

"""The members of DFNetPlus against their equations in dense algebra, and what validation nodes make of them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from dfnets import Graph, fit, models
from dfnets.datasets.splits import Split
from dfnets.models import DFNetPlus, Sizes, plus_members
from dfnets.models.plus_members import ConvolvedMember, FilteredMember, PropagatedMember
from dfnets.nn.batched import generators
from dfnets.shift import Shift
from dfnets.training.objective import Objective

CPU = torch.device("cpu")
N, F, CLASSES = 60, 8, 3
SPLIT = Split(np.arange(21), np.arange(21, 42), np.arange(42, 60), "made")


def graph(*, told_by: str, seed: int = 0) -> Graph:
    """A class is told by a node's own features, or by its neighbours, whose features add up."""
    rng = np.random.default_rng(seed)
    labels = np.arange(N) % CLASSES
    alike = labels[:, None] == labels
    joined = rng.random((N, N)) < (np.where(alike, 0.4, 0.02) if told_by == "neighbours" else 0.15)
    edges = np.triu(joined, 1).astype(float)
    means = np.zeros((N, F))
    means[:, :CLASSES] = np.eye(CLASSES)[labels] * (3.0 if told_by == "features" else 0.7)
    features = means + rng.normal(size=(N, F))
    return Graph(edges + edges.T, features=features, labels=labels, name=told_by)


def network(data: Graph, replicas: int = 2, first: int = 0) -> tuple[DFNetPlus, object]:
    model = DFNetPlus(models.config("dfnet-plus"), Sizes(F, CLASSES, N), replicas=replicas)
    inputs = model.prepare(data, CPU)
    model.reset_parameters(generators(range(first, first + replicas)))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.copy_(torch.linspace(-0.3, 0.4, parameter[0].numel()).view_as(parameter[0]))
    model.use_streams(generators(range(first, first + replicas)))
    assert data.labels is not None
    model.begin(inputs, [(SPLIT.train, data.labels[SPLIT.train])] * replicas)
    model.use_validation(inputs)
    return model, inputs


def dense_response(data: Graph, alpha: float, *, high: bool = False) -> np.ndarray:
    """alpha (I -+ (1 - alpha) S)^-1."""
    s = np.eye(N) - Shift(data, centre=0.0) @ np.eye(N)
    return alpha * np.linalg.inv(np.eye(N) - (-1 if high else 1) * (1 - alpha) * s)


def test_members_are_their_equations() -> None:
    data = graph(told_by="neighbours")
    model, inputs = network(data)
    model.eval()
    s = np.eye(N) - Shift(data, centre=0.0) @ np.eye(N)
    low, low2, high = dense_response(data, 0.1), dense_response(data, 0.4), dense_response(data, 0.4, high=True)
    before = {
        PropagatedMember: [np.eye(N)],
        ConvolvedMember: [np.eye(N)],
        FilteredMember: [low, low2, np.eye(N), high],
    }
    after = {PropagatedMember: low, ConvolvedMember: s, FilteredMember: np.eye(N)}
    x = np.asarray(data.features)
    assert {type(member) for member in model.members} == set(before)
    for (member, bank), logits in zip(model._with_banks(inputs), model.member_logits(inputs)[1:], strict=True):
        kind = type(member)
        kernels = member.first.weight.detach().numpy().reshape(2, F, member.parts, -1)
        for r in range(2):
            hidden = np.zeros((N, kernels.shape[3]))
            for k, response in enumerate(before[kind][: member.parts]):
                # What is standardised is what the hidden layer reads: X, and where X is filtered first, each response.
                read = x if kind is not FilteredMember else response @ x
                read = (read - read.mean(0)) / np.sqrt(read.var(0) + plus_members.EPS)
                hidden += read @ kernels[r, :, k]
            bias, weight, last = (
                parameter[r].detach().numpy() for parameter in (member.first.bias, member.head.weight, member.head.bias)
            )
            hidden = s @ (hidden + bias) if kind is ConvolvedMember else hidden + bias
            wanted = np.maximum(hidden, 0) @ weight + last
            np.testing.assert_allclose(logits[:, r].detach().numpy(), after[kind] @ wanted, atol=2e-3)
        assert bank.coefficients.shape[0] == member.parts


def test_a_step_on_filtered_rows_is_one_on_the_whole_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plus_members, "INPUT_DROPOUT", 0.0)
    monkeypatch.setattr(plus_members, "DROPOUT", 0.0)
    data = graph(told_by="features")
    model, inputs = network(data)
    assert data.labels is not None
    objective = Objective(data.labels, [SPLIT.train] * 2, CLASSES, weighting="balanced")
    for member, bank in model._with_banks(inputs):
        if isinstance(member, FilteredMember):
            rows = member.losses(inputs.features, bank, objective)
            whole = objective(member.eval()(inputs.features, bank))
            torch.testing.assert_close(rows, whole, atol=1e-4, rtol=1e-3)


@pytest.mark.usefixtures("exact_replicas")
def test_a_replica_with_members_equals_a_single_one() -> None:
    data = graph(told_by="features")
    (many, inputs), (one, own) = network(data, 3), network(data, 1, first=2)
    assert data.labels is not None
    objectives = [Objective(data.labels, [SPLIT.train] * count, CLASSES) for count in (3, 1)]
    for model, read, objective in ((many, inputs, objectives[0]), (one, own, objectives[1])):
        model.losses(read, objective).sum().backward()
    assert len(list(many.members.parameters())) == len(list(one.members.parameters()))
    for together, alone in zip(many.members.parameters(), one.members.parameters(), strict=True):
        assert together.grad is not None
        assert alone.grad is not None
        assert torch.equal(together.grad[2], alone.grad[0])


def test_labelled_nodes_whose_rows_would_not_fit_are_thinned_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plus_members, "MOST_ENTRIES", 4 * F * 10)
    monkeypatch.setattr(plus_members, "MOST_LABELLED", 7)
    data = graph(told_by="features")
    model, inputs = network(data)
    member, bank = model._with_banks(inputs)[-1]
    assert isinstance(member, FilteredMember)
    assert member._rows.shape == (10, 4, F)
    assert data.labels is not None
    losses = member.losses(inputs.features, bank, Objective(data.labels, [SPLIT.train] * 2, CLASSES))
    assert torch.isfinite(losses).all()


@pytest.mark.parametrize("told_by", ["features", "neighbours"])
def test_validation_nodes_weigh_the_members(told_by: str, tmp_path: Path) -> None:
    data = graph(told_by=told_by)
    result = fit("dfnet-plus", data, protocol=SPLIT, replicas=2, epochs=60, progress=False, device="cpu")
    weights = result._trainer.best["member_weights"]
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(2))
    assert (weights > 0).all()
    assert result.accuracy("validation").mean > 60
    # What is saved predicts what was scored.
    scored = result.predict().per_replica.argmax(axis=2)[:, SPLIT.test] == data.labels[SPLIT.test]
    np.testing.assert_allclose(100 * scored.mean(axis=1), result.accuracy("validation").values)
    result.save(tmp_path / "model")
    from dfnets.training import TrainedModel

    again = TrainedModel.load(tmp_path / "model").predict(data)
    np.testing.assert_allclose(again.per_replica, result.predict().per_replica, atol=1e-6)


def test_members_are_not_trained_without_validation_nodes() -> None:
    data = graph(told_by="features")
    split = Split(SPLIT.train, [], SPLIT.test, "made")
    result = fit("dfnet-plus", data, protocol=split, replicas=1, epochs=3, progress=False, device="cpu")
    weights = result._trainer.weights("final")["member_weights"]
    assert torch.equal(weights, torch.tensor([[1.0, 0, 0, 0, 0, 0]]))
    alone = fit("dfnet-plus", data, protocol=split, replicas=1, epochs=3, progress=False, device="cpu", ensemble=False)
    np.testing.assert_array_equal(alone.predict().probabilities, result.predict().probabilities)


def test_members_rest_after_their_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfnets.models.plus.MEMBER_STEPS", 4)
    data = graph(told_by="features")
    seen = []

    def note(trainer: object) -> None:
        seen.append([parameter.detach().clone() for parameter in trainer.model.members.parameters()])  # type: ignore[attr-defined]

    fit("dfnet-plus", data, protocol=SPLIT, replicas=1, epochs=6, progress=False, device="cpu", after_epoch=note)
    moved = [any(not torch.equal(a, b) for a, b in zip(*pair, strict=True)) for pair in pairwise(seen)]
    assert moved == [True, True, True, False, False]


def test_training_goes_on_from_a_checkpoint_with_members(tmp_path: Path) -> None:
    data = graph(told_by="features")
    common = {"protocol": SPLIT, "replicas": 1, "progress": False, "device": "cpu", "every": 2, "patience": None}
    whole = fit("dfnet-plus", data, epochs=8, **common)
    stop = RuntimeError("stopped")

    def killed(trainer: object) -> None:
        if trainer.epoch == 5:  # type: ignore[attr-defined]
            raise stop

    file = tmp_path / "run"
    with pytest.raises(RuntimeError, match="stopped"):
        fit("dfnet-plus", data, epochs=8, checkpoint=file, checkpoint_every=0, after_epoch=killed, **common)
    resumed = fit("dfnet-plus", data, epochs=8, checkpoint=file, **common)
    np.testing.assert_array_equal(resumed.predict().probabilities, whole.predict().probabilities)


def test_what_members_said_is_said_again_only_of_the_same_graph_with_the_same_weights() -> None:
    data = graph(told_by="features")
    model, inputs = network(data)
    model.eval()
    with torch.no_grad():
        first = model.member_logits(inputs)[1:]
        assert all(a is b for a, b in zip(first, model.member_logits(inputs)[1:], strict=True))
        other = model.prepare(graph(told_by="neighbours", seed=3), CPU)
        fresh, _ = network(data)
        fresh.eval()
        fresh.load_state_dict(model.state_dict())
        for cached, wanted in zip(model.member_logits(other)[1:], fresh.member_logits(other)[1:], strict=True):
            torch.testing.assert_close(cached, wanted)
        for parameter in model.members.parameters():
            parameter.add_(0.1)
        moved = model.member_logits(other)[1:]
        fresh.load_state_dict(model.state_dict())
        for cached, wanted in zip(moved, fresh.member_logits(other)[1:], strict=True):
            torch.testing.assert_close(cached, wanted)

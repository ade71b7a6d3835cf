"""The members of DFNetPlus against their equations in dense algebra, and what validation nodes make of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from dfnets import Graph, fit, models
from dfnets.datasets.splits import Split
from dfnets.models import DFNetPlus, Sizes, plus_members
from dfnets.models.degree_features import degree_features
from dfnets.models.plus_degrees import FilteredDegreeMember
from dfnets.models.plus_ensemble import TOLERANCE
from dfnets.models.plus_members import (
    ConvolvedMember,
    FilteredMember,
    LoopedMember,
    MemberInputs,
    PropagatedMember,
)
from dfnets.nn.batched import generators
from dfnets.shift import Shift
from dfnets.training.loop import MEMBER, Trainer
from dfnets.training.objective import Nodes, Objective
from dfnets.training.weighing import TEMPERATURES

CPU = torch.device("cpu")
N, F, CLASSES = 60, 8, 3
SPLIT = Split(np.arange(21), np.arange(21, 42), np.arange(42, 60), "made")


def graph(*, told_by: str, seed: int = 0) -> Graph:
    """A class is told by a node's own features, by its neighbours, whose features add up, or by how many it has."""
    rng = np.random.default_rng(seed)
    labels = np.arange(N) % CLASSES
    alike = labels[:, None] == labels
    rates = np.full((N, N), 0.15)
    if told_by == "neighbours":
        rates = np.where(alike, 0.4, 0.02)
    elif told_by == "degrees":
        rates = np.array([0.02, 0.25, 0.9])[(labels[:, None] + labels) // 2]
    joined = rng.random((N, N)) < rates
    edges = np.triu(joined, 1).astype(float)
    means = np.zeros((N, F))
    means[:, :CLASSES] = np.eye(CLASSES)[labels] * (3.0 if told_by == "features" else 0.7)
    features = means + rng.normal(size=(N, F))
    return Graph(edges + edges.T, features=features, labels=labels, name=told_by)


def network(data: Graph, replicas: int = 2, first: int = 0) -> tuple[DFNetPlus, object]:
    model = DFNetPlus(models.config("dfnet-plus"), Sizes(F, CLASSES, N), replicas=replicas)
    inputs = model.prepare(data, CPU)
    for part in (model, *model.members):
        part.reset_parameters(generators(range(first, first + replicas)))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.copy_(torch.linspace(-0.3, 0.4, parameter[0].numel()).view_as(parameter[0]))
    model.use_streams(generators(range(first, first + replicas)))
    assert data.labels is not None
    labels = [(SPLIT.train, data.labels[SPLIT.train])] * replicas
    model.begin(inputs, labels)
    for member, own in model.use_validation(inputs):
        member.begin(own, labels)
        member.use_streams(generators(range(first, first + replicas)))
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
        ConvolvedMember: [s],
        LoopedMember: [s, np.eye(N)],
        FilteredMember: [low, low2, np.eye(N), high],
    }
    after = {PropagatedMember: [low], ConvolvedMember: [s], LoopedMember: [s, np.eye(N)], FilteredMember: [np.eye(N)]}
    x = np.asarray(data.features)
    assert {type(member) for member in model.members} == {*before, FilteredDegreeMember}
    for member in model.members:
        if isinstance(member, FilteredDegreeMember):  # which has a test of its own
            member.reads_degrees[:] = False
    for (member, own), logits in zip(model._with_inputs(inputs), model.member_logits(inputs)[1:], strict=True):
        kind = next(kind for kind in before if isinstance(member, kind))
        kernels = member.first.weight.detach().numpy().reshape(2, F, member.parts, -1)
        read_through = [np.eye(N)] if own.bank.products == 0 else before[kind]
        for r in range(2):
            bias, last = (layer.bias[r].detach().numpy() for layer in (member.first, member.head))
            hidden = np.zeros((N, kernels.shape[3]))
            for k, response in enumerate(read_through[: member.parts]):
                # What is standardised is what the hidden layer reads: X, and where X is filtered first, each response.
                read = response @ x if kind is FilteredMember else x
                read = (read - read.mean(0)) / np.sqrt(read.var(0) + plus_members.EPS)
                product = read @ kernels[r, :, k] + (bias if kind is ConvolvedMember else 0)
                hidden += product if kind is FilteredMember else response @ product
            hidden = np.maximum(hidden if kind is ConvolvedMember else hidden + bias, 0)
            weights = member.head.weight[r].detach().numpy().reshape(hidden.shape[1], member.head.parts, -1)
            wanted = sum(response @ hidden @ weights[:, k] for k, response in enumerate(after[kind]))
            # The bias of a class is propagated with the opinions, or added to what a loop has made of them.
            wanted = wanted + (
                last if kind in (LoopedMember, FilteredMember) else after[kind][0] @ np.tile(last, (N, 1))
            )
            tolerance = 2e-3 if kind is FilteredMember else 10 * TOLERANCE if kind is PropagatedMember else 1e-4
            np.testing.assert_allclose(logits[:, r].detach().numpy(), wanted, atol=tolerance)
        assert own.bank.coefficients.shape[0] == (member.parts if kind is FilteredMember else 1)


def test_a_step_on_filtered_rows_is_one_on_the_whole_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plus_members, "INPUT_DROPOUT", 0.0)
    monkeypatch.setattr(plus_members, "DROPOUT", 0.0)
    data = graph(told_by="features")
    model, inputs = network(data)
    assert data.labels is not None
    objective = Objective(data.labels, [SPLIT.train] * 2, CLASSES, weighting="balanced")
    for member, own in model._with_inputs(inputs):
        if isinstance(member, FilteredMember):
            rows = member.losses(own, objective)
            whole = objective(member.eval()(own))
            weights = torch.cat([member.first.weight.flatten(1), member.head.weight.flatten(1)], dim=1)
            # Ten times the penalty of the settings, because columns are standardised.
            penalty = 10 * member.config.l2 * weights.square().sum(dim=1)
            torch.testing.assert_close(rows, whole + penalty, atol=1e-4, rtol=1e-3)


def test_the_penalty_of_a_replica_falls_with_the_number_of_its_own_labels() -> None:
    data = graph(told_by="features")
    model, inputs = network(data)
    assert data.labels is not None
    few, many = np.arange(30), np.tile(np.arange(60), 10)
    labels = [(nodes, data.labels[nodes]) for nodes in (few, many)]
    for member, own in model._with_inputs(inputs):
        member.begin(own, labels)
        full = 10 * member.config.l2
        torch.testing.assert_close(member._penalty, torch.tensor([full, full / 2]))


def test_classes_count_the_same_where_labels_are_few_and_for_two_members_always() -> None:
    model, _ = network(graph(told_by="features"))
    assert [member.config.class_weights for member in model.members] == ["balanced-if-few"] * 5 + ["balanced"] * 2
    asked = DFNetPlus(models.config("dfnet-plus", class_weights=None), Sizes(F, CLASSES, N))
    assert all(member.config.class_weights is None for member in asked.members)


@pytest.mark.usefixtures("exact_replicas")
def test_a_replica_with_members_equals_a_single_one() -> None:
    data = graph(told_by="features")
    (many, inputs), (one, own) = network(data, 3), network(data, 1, first=2)
    assert data.labels is not None
    objectives = [Objective(data.labels, [SPLIT.train] * count, CLASSES) for count in (3, 1)]
    for model, read, objective in ((many, inputs, objectives[0]), (one, own, objectives[1])):
        for member, reads in model._with_inputs(read):
            member.losses(reads, objective).sum().backward()
    assert len(list(many.members.parameters())) == len(list(one.members.parameters()))
    for together, alone in zip(many.members.parameters(), one.members.parameters(), strict=True):
        if together.grad is None:  # of the degrees, which are not read here
            assert alone.grad is None
            continue
        assert alone.grad is not None
        assert torch.equal(together.grad[2], alone.grad[0])


def test_degrees_are_read_where_they_tell_a_class() -> None:
    data = graph(told_by="degrees")
    model, inputs = network(data)
    member, own = model._with_inputs(inputs)[4]
    assert isinstance(member, FilteredDegreeMember)
    assert member.reads_degrees.all()
    degrees = degree_features(data)
    columns = (degrees - degrees.mean(axis=0)) / np.sqrt(degrees.var(axis=0) + plus_members.EPS)
    whole = member.eval()(own).detach().numpy()
    member.reads_degrees[:] = False
    for r in range(2):
        # The logits without degrees say what the hidden layer was: its ReLU is of the sum of both.
        weight = member.of_degrees.weight[r].detach().numpy()
        low = [dense_response(data, alpha) @ np.asarray(data.features) for alpha in (0.1, 0.4)]
        rows = [(z - z.mean(axis=0)) / np.sqrt(z.var(axis=0) + plus_members.EPS) for z in low]
        kernels = member.first.weight[r].detach().numpy().reshape(F, 2, -1)
        hidden = sum(z @ kernels[:, k] for k, z in enumerate(rows)) + member.first.bias[r].detach().numpy()
        last = member.head.weight[r].detach().numpy(), member.head.bias[r].detach().numpy()
        wanted = np.maximum(hidden + columns @ weight, 0) @ last[0] + last[1]
        np.testing.assert_allclose(whole[:, r], wanted, atol=2e-3)
    assert np.abs(member(own).detach().numpy() - whole).max() > 0.1


def test_degrees_help_where_they_tell_a_class_and_change_nothing_elsewhere() -> None:
    losses = {}
    for told_by in ("degrees", "features"):
        data = graph(told_by=told_by)
        assert data.labels is not None
        model, inputs = network(data, replicas=1)
        member, own = model._with_inputs(inputs)[4]
        assert isinstance(member, FilteredDegreeMember)
        assert bool(member.reads_degrees.all()) == (told_by == "degrees")
        plain = FilteredMember(member.config, member.sizes, parts=member.parts)
        for one in (member, plain):
            nodes = [Nodes(SPLIT.train, SPLIT.validation, SPLIT.test)]
            trainer = Trainer(one, own, data.labels, nodes, [0], CPU)
            trainer.run(lambda _: None)
            losses[told_by, type(one)] = float(trainer.best_loss[0])
    assert losses["degrees", FilteredDegreeMember] < losses["degrees", FilteredMember] - 0.2
    assert losses["features", FilteredDegreeMember] == losses["features", FilteredMember]


def test_labelled_nodes_whose_rows_would_not_fit_are_thinned_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plus_members, "MOST_ENTRIES", 4 * F * 10)
    monkeypatch.setattr(plus_members, "MOST_LABELLED", 7)
    data = graph(told_by="features")
    model, inputs = network(data)
    member, own = model._with_inputs(inputs)[5]
    assert isinstance(member, FilteredMember)
    assert member._rows.shape == (10, 4, F)
    assert data.labels is not None
    losses = member.losses(own, Objective(data.labels, [SPLIT.train] * 2, CLASSES))
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


def test_offsets_of_classes_change_what_is_predicted_and_not_what_chooses_the_epoch() -> None:
    data = graph(told_by="features")
    assert data.labels is not None
    # As many validation nodes of each class, and no test nodes of one.
    split = Split(SPLIT.train, SPLIT.validation, [node for node in SPLIT.test if data.labels[node] != 2], "made")
    with_offsets, without = (
        fit(
            "dfnet-plus",
            data,
            protocol=split,
            replicas=2,
            epochs=40,
            progress=False,
            device="cpu",
            class_offsets=wanted,
        )
        for wanted in (True, False)
    )
    for name in ("loss", "validation", "validation_loss"):
        np.testing.assert_array_equal(getattr(with_offsets.history, name), getattr(without.history, name))
    assert not without._trainer.best["class_offsets"].any()
    offsets = with_offsets._trainer.best["class_offsets"].numpy()
    assert offsets.any(axis=1).all()
    shifted = np.log(with_offsets.predict().per_replica) - np.log(without.predict().per_replica)
    shifted -= offsets[:, None]
    # What is left is the constant by which the probabilities of a node are scaled.
    np.testing.assert_allclose(shifted - shifted.mean(axis=2, keepdims=True), 0, atol=1e-4)


def test_members_are_not_trained_without_validation_nodes() -> None:
    data = graph(told_by="features")
    split = Split(SPLIT.train, [], SPLIT.test, "made")
    result = fit("dfnet-plus", data, protocol=split, replicas=1, epochs=3, progress=False, device="cpu")
    weights = result._trainer.weights("final")["member_weights"]
    assert torch.equal(weights, torch.tensor([[1.0, 0, 0, 0, 0, 0, 0, 0]]))
    alone = fit("dfnet-plus", data, protocol=split, replicas=1, epochs=3, progress=False, device="cpu", ensemble=False)
    np.testing.assert_array_equal(alone.predict().probabilities, result.predict().probabilities)


def test_a_member_stays_at_the_epoch_that_is_best_for_itself() -> None:
    """By a loop over its history; and the network is trained after it, without moving it."""
    data = graph(told_by="neighbours")
    seen: list[dict[str, torch.Tensor]] = []

    def note(trainer: Trainer) -> None:
        seen.append({name: value.clone() for name, value in trainer.model.members.state_dict().items()})

    fit("dfnet-plus", data, protocol=SPLIT, replicas=1, seed=5, epochs=30, progress=False, after_epoch=note)
    assert all(torch.equal(seen[0][name], value) for name, value in seen[-1].items())
    model = DFNetPlus(models.config("dfnet-plus", epochs=30), Sizes(F, CLASSES, N))
    assert data.labels is not None
    nodes = [Nodes(SPLIT.train, SPLIT.validation, SPLIT.test)]
    whole = Trainer(model, model.prepare(data, CPU), data.labels, nodes, [5], CPU)
    for m, (member, own) in enumerate(whole.members):
        trainer = Trainer(member, own, data.labels, nodes, [5 + (m + 1) * MEMBER], CPU)
        losses, states = [], []
        for epoch in range(1, 31):
            trainer.step()
            if epoch % 10 == 0:
                losses.append(trainer.evaluate().validation_loss[0])
                states.append({name: value.clone() for name, value in member.state_dict().items()})
        for name, value in states[int(np.argmin(losses))].items():
            assert torch.equal(seen[-1][f"{m}.{name}"], value), f"{name} of member {m}"


def test_a_member_is_scored_at_its_best_temperature() -> None:
    data = graph(told_by="features")
    model, inputs = network(data, 1)
    member, own = model._with_inputs(inputs)[0]
    assert isinstance(own, MemberInputs)
    assert data.labels is not None
    nodes = [Nodes(SPLIT.train, SPLIT.validation, SPLIT.test)]
    trainer = Trainer(member, own, data.labels, nodes, [0], CPU)
    for _ in range(5):
        trainer.step()
    scores = trainer.evaluate()
    with torch.no_grad():
        logits = member(own)[SPLIT.validation, 0].double()
    targets = torch.tensor(np.array(data.labels[SPLIT.validation]))
    losses = [torch.nn.functional.cross_entropy(logits / t, targets).item() for t in TEMPERATURES]
    best = int(np.argmin(losses + np.log(TEMPERATURES) ** 2 / len(targets)))
    assert scores.validation_loss[0] == pytest.approx(losses[best], abs=1e-5)
    assert losses[best] < torch.nn.functional.cross_entropy(logits, targets).item()


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

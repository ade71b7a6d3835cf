"""``dfnets.train``: every label is used, and the accuracy comes from nodes that chose nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from dfnets import models
from dfnets.atomic import check_folder
from dfnets.graph import Graph
from dfnets.models import Config
from dfnets.models.plus_config import without_ensemble
from dfnets.training.assessment import Assessment
from dfnets.training.budget import Effort, Plan, make_plan
from dfnets.training.calibration import calibrated_across
from dfnets.training.card import documents, make_card
from dfnets.training.choice import Candidate, Choice, choose, cross_fitted
from dfnets.training.class_offsets import held_out_offsets, shifted_across
from dfnets.training.devices import choose_device
from dfnets.training.folds import Folds, make_folds
from dfnets.training.networks import ALONE, Share, Trained, fit_settings, train_networks
from dfnets.training.peers import fit_yardsticks, kept_length, train_small_networks
from dfnets.training.predictor import calibrated, make_predictor
from dfnets.training.preparation import Preparation
from dfnets.training.progress import steps_bar
from dfnets.training.targets import check_targets
from dfnets.training.trained import FILES, Predictions, TrainedModel, class_names

AUTO = "dfnet-plus"


def train(
    graph: Graph,
    *,
    model: str = "auto",
    effort: Effort = "default",
    seed: int = 0,
    epochs: int | None = None,
    preset: str | None = None,
    inductive: bool = False,
    device: str | torch.device | None = None,
    progress: bool = True,
    share: Share = ALONE,
    **overrides: Any,
) -> CrossValidated:
    """Trains a predictor for all nodes of a graph from the labels that there are, and says how good it is.

    The labelled nodes are divided into stratified folds, several times over. The networks of all folds, and some that
    train on every label, are one problem. Every choice (the share of each model, epoch, temperature) is made on
    held-out nodes. The accuracy is that of held-out predictions, and what a fold is scored with was chosen by the
    others.

    Args:
        graph: with labels, -1 where unknown; without features, some are made of the edges.
        model: ``"auto"`` is the network of DFNetPlus together with the small ones beside it, logistic regression and
            label propagation, each with the share that held-out nodes give it (:mod:`dfnets.training.choice`); or a
            name of :func:`dfnets.models.names`.
        effort: ``"quick"``, ``"default"`` or ``"thorough"``: how much work goes into it, see :mod:`.budget`.
        epochs: instead of what the effort allows.
        preset: of the model's hyper-parameters, see :func:`dfnets.models.presets`.
        inductive: choose only among models that predict for nodes that come later, so not label propagation.
        share: which networks this process trains; see :func:`dfnets.distributed.train_folds`.
        overrides: hyper-parameters by name.
    """
    began = time.monotonic()
    warnings = check_targets(graph)
    place = choose_device(device)
    preparation = Preparation.learn(graph)
    prepared = preparation.apply(graph)
    name = AUTO if model == "auto" else model
    given = {**kept_length(preparation), **overrides}
    plan = make_plan(prepared, name, effort, place, preset=preset, epochs=epochs, **given)
    assert graph.labels is not None
    folds = make_folds(graph.labels, plan.folds, plan.repeats, seed=seed)
    # The folds weigh models, and hold no validation nodes out of the training of one.
    config = without_ensemble(models.config(name, preset, **{"epochs": plan.epochs, **plan.overrides, **given}))
    options: dict[str, Any] = {"seed": seed, "device": place}
    first, peers = _trained(
        name, config, prepared, preparation, folds, plan, progress, model == "auto", share, **options
    )
    # A model that cannot predict what it is to predict is a yardstick, but no choice.
    able = [one for one in peers if not (inductive and models.get(one.name).transductive)]
    contest = [first, *(able if model == "auto" else [])]
    candidates = [entry.candidate for entry in contest]
    choice = choose(candidates, np.arange(len(folds.held)))
    trained, predictions, assessment = judge(graph, contest, choice, preparation, folds, place)
    return CrossValidated(
        graph,
        trained,
        predictions,
        assessment,
        choice,
        (first.candidate, *(entry.candidate for entry in peers)),
        plan,
        folds,
        warnings,
        time.monotonic() - began,
    )


@dataclass(frozen=True)
class CrossValidated:
    """What :func:`train` made.

    Attributes:
        trained: the ensemble that predicts.
        predictions: of every node of the graph.
        assessment: accuracy with interval, confusion and calibration, from held-out nodes.
        choice: which candidate was taken, and why.
        candidates: the model and its yardsticks, with their held-out predictions.
        plan: folds, networks and epochs.
        warnings: what a person should know, in whole sentences.
        seconds: how long it took.
    """

    graph: Graph
    trained: TrainedModel
    predictions: Predictions
    assessment: Assessment
    choice: Choice
    candidates: tuple[Candidate, ...]
    plan: Plan
    folds: Folds
    warnings: tuple[str, ...]
    seconds: float = field(compare=False)

    def least_sure(self, count: int = 10) -> np.ndarray:
        """The unlabelled nodes whose most probable class has the least probability: those to label next."""
        assert self.graph.labels is not None
        unknown = np.flatnonzero(self.graph.labels < 0)
        top = self.predictions.probabilities[unknown].max(axis=1)
        return unknown[np.argsort(top, kind="stable")[:count]]

    def card(self) -> dict[str, Any]:
        """The model card, as values; see :mod:`dfnets.training.card`."""
        return make_card(self)

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes a model folder with its card (HTML and JSON).

        Args:
            force: write over a model that is there; else it is refused.
        """
        check_folder(folder, FILES, force=force)
        self.trained.save(folder, documents=documents(self.card()))

    def __repr__(self) -> str:
        low, high = self.assessment.interval
        accuracy = f"{self.assessment.accuracy:.1f} % (90 % interval {low:.1f} to {high:.1f})"
        return f"CrossValidated({self.trained.name} on {self.graph.name}, {accuracy})"


def _trained(
    name: str,
    config: Config,
    graph: Graph,
    preparation: Preparation,
    folds: Folds,
    plan: Plan,
    progress: bool,
    auto: bool,
    share: Share,
    **options: Any,
) -> tuple[Trained, list[Trained]]:
    """The model, and those beside it, on the folds."""
    first: Trained | None = None
    peers: list[Trained] = []
    if config.epochs:
        with steps_bar(f"{plan.networks} networks, {name}", config.epochs, show=progress, lines=True) as move:
            watch: dict[str, Any] = {"every": plan.every, "after_epoch": move, "share": share}
            first = train_networks(name, config, graph, folds, plan.whole, **watch, **options)
    if auto:
        peers += train_small_networks(graph, preparation, folds, plan, progress=progress, share=share, **options)
    peers += fit_yardsticks(graph, preparation, folds, **options)
    if first is None:
        # Asked for without settings, it is the yardstick of that name, whose settings held-out nodes choose.
        same = [entry for entry in peers if entry.name == name and config in entry.configs]
        first = same[0] if same else fit_settings(name, [config], graph, folds, **options)
        peers = [entry for entry in peers if entry is not first]
    return first, peers


def judge(
    graph: Graph,
    contest: Sequence[Trained],
    choice: Choice,
    preparation: Preparation,
    folds: Folds,
    device: torch.device,
) -> tuple[TrainedModel, Predictions, Assessment]:
    """The predictor that was chosen, what it says of every node, and what held-out predictions say of it.

    The classes of the nodes to be predicted may have other shares than those among the labels, which often are drawn
    class by class. So classes are shifted (:mod:`dfnets.training.class_offsets`), and the accuracy weights classes by
    the shares that they have in the predictions then.
    """
    assert graph.labels is not None
    model = make_predictor(contest, choice, graph, preparation, folds)
    predictions = model.predict(graph, device=device)
    held, labels = cross_fitted([entry.candidate for entry in contest], folds.groups), graph.labels[folds.held]
    unlabelled = graph.labels < 0
    offsets = held_out_offsets(held, labels, predictions.probabilities[unlabelled])
    held = shifted_across(held, labels, folds.groups, predictions.probabilities[unlabelled])
    predictions = replace(predictions, class_offsets=offsets)
    unknown = predictions.probabilities[unlabelled]
    counts = np.bincount(graph.labels[folds.labelled], minlength=graph.num_classes)
    shares = unknown.mean(axis=0) if len(unknown) else counts / counts.sum()
    held = calibrated_across(held, labels, folds.groups)
    assessment = Assessment(held, labels, class_names(graph), shares, folds.count)
    model = replace(model, class_offsets=tuple(offsets.tolist()))
    model = calibrated(model, unknown, assessment.expected, assessment.worth)
    return model, replace(predictions, temperature=model.temperature), assessment

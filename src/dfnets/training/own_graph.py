"""``dfnets.train``: every label is used, and the accuracy comes from nodes that chose nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from dfnets import models
from dfnets.atomic import check_folder
from dfnets.graph import Graph
from dfnets.models import Config
from dfnets.training.assessment import Assessment, drawn_per_class
from dfnets.training.budget import Effort, Plan, make_plan
from dfnets.training.calibration import TEMPERATURES
from dfnets.training.card import documents, make_card
from dfnets.training.choice import Candidate, Choice, choose, cross_fitted
from dfnets.training.devices import choose_device
from dfnets.training.folds import FOLDS_THAT_TELL, Folds, make_folds
from dfnets.training.networks import Trained, fit_settings, train_networks
from dfnets.training.preparation import Preparation
from dfnets.training.progress import steps_bar
from dfnets.training.targets import check_targets
from dfnets.training.trained import FILES, Predictions, TrainedModel, class_names

AUTO = "dfnet-plus"
# Logistic regression: on X, on X seen through one low-pass loop or two, and on X beside a low-pass and a high-pass.
FILTERS: tuple[dict[str, Any], ...] = (
    {"low": (1.0,)},
    {"low": (0.1,)},
    {"low": (1.0, 0.2)},
    {"low": (1.0, 0.2), "high": (0.4,)},
)
PENALTIES = (0.01, 0.1, 1.0)
# Labels times classes: a fit to more takes seconds, so fewer settings are tried.
MANY = 20_000
# Filtered rows of all labelled nodes are dense: beyond this many entries only the features alone are tried.
MOST_ENTRIES = 200_000_000


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
    **overrides: Any,
) -> CrossValidated:
    """Trains a predictor for all nodes of a graph from the labels that there are, and says how good it is.

    The labelled nodes are divided into stratified folds, several times over. The networks of all folds, and some that
    train on every label, are one problem. Every choice (model, epoch, temperature) is made on held-out nodes. The
    accuracy is that of held-out predictions, where what each fold is scored with was chosen by the other folds.

    Args:
        graph: with labels, -1 where unknown; without features, some are made of the edges.
        model: ``"auto"`` is DFNetPlus, unless held-out nodes say that a simpler model is better by more than chance; or
            a name of :func:`dfnets.models.names`.
        effort: ``"quick"``, ``"default"`` or ``"thorough"``: how much work goes into it, see :mod:`.budget`.
        epochs: instead of what the effort allows.
        preset: of the model's hyper-parameters, see :func:`dfnets.models.presets`.
        inductive: choose only among models that predict for nodes that come later, so not label propagation.
        overrides: hyper-parameters by name.
    """
    began = time.monotonic()
    warnings = check_targets(graph)
    place = choose_device(device)
    preparation = Preparation.learn(graph)
    prepared = preparation.apply(graph)
    name = AUTO if model == "auto" else model
    given = _given(preparation, overrides)
    plan = make_plan(prepared, name, effort, place, preset=preset, epochs=epochs, **given)
    assert graph.labels is not None
    folds = make_folds(graph.labels, plan.folds, plan.repeats, seed=seed)
    config = models.config(name, preset, **{"epochs": plan.epochs, **plan.overrides, **given})
    first: Trained | None = None
    with steps_bar(f"{plan.networks} networks, {name}", max(1, plan.epochs), show=progress, lines=True) as move:
        if config.epochs:
            first = train_networks(
                name, config, prepared, folds, plan.whole, every=plan.every, seed=seed, device=place, after_epoch=move
            )
        yardsticks = _yardsticks(prepared, preparation, folds, seed, place)
    if first is None:
        same = [entry for entry in yardsticks if entry.name == name and not overrides]
        first = same[0] if same else fit_settings(name, [config], prepared, folds, seed=seed, device=place)
        yardsticks = [entry for entry in yardsticks if entry is not first]
    # A model that cannot predict what it is to predict is a yardstick, but no choice.
    simpler = [one for one in yardsticks if not (inductive and models.get(one.name).transductive)]
    contest = [first, *(simpler if model == "auto" else [])]
    candidates = [entry.candidate for entry in contest]
    choice = choose(candidates, np.arange(len(folds.held)))
    held = cross_fitted(candidates, folds.fold[0])
    chosen = contest[choice.candidate]
    trained = predictor(chosen, choice, graph, preparation, folds)
    predictions = trained.predict(graph, device=place)
    return CrossValidated(
        graph,
        trained,
        predictions,
        assess(graph, predictions, folds, held),
        choice,
        (first.candidate, *(entry.candidate for entry in yardsticks)),
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


def _given(preparation: Preparation, overrides: dict[str, Any]) -> dict[str, Any]:
    """The settings that are not the plan's: a person's, and that prepared rows keep their length."""
    return {**({"features": "none"} if preparation.scaled else {}), **overrides}


def _yardsticks(graph: Graph, preparation: Preparation, folds: Folds, seed: int, device: torch.device) -> list[Trained]:
    """Simpler models on the same folds, in seconds: logistic regression, and label propagation."""
    assert graph.features is not None
    entries = len(folds.labelled) * graph.features.shape[1]
    filters = FILTERS if entries * 3 <= MOST_ENTRIES else FILTERS[:1]
    penalties: tuple[float, ...] = PENALTIES
    if len(folds.labelled) * graph.num_classes > MANY:
        filters, penalties = filters[:2], PENALTIES[1:2]
    given = _given(preparation, {})
    settings = [models.config("logistic", **filter, l2=l2, **given) for filter in filters for l2 in penalties]
    made = [fit_settings("logistic", settings, graph, folds, seed=seed, device=device)]
    if graph.num_edges:
        propagations: Sequence[Config] = [models.config("lp", class_mass=mass) for mass in (True, False)]
        made.append(fit_settings("lp", propagations, graph, folds, seed=seed, device=device))
    return made


def predictor(chosen: Trained, choice: Choice, graph: Graph, preparation: Preparation, folds: Folds) -> TrainedModel:
    """The networks of the version that was chosen, as a model that can be saved."""
    weights = chosen.weights[choice.version]
    if chosen.epochs and folds.count < FOLDS_THAT_TELL:
        weights = {key: tensor[len(folds) :] for key, tensor in weights.items()}
    replicas = len(next(iter(weights.values())))
    config = chosen.configs[min(choice.version, len(chosen.configs) - 1)]
    about = {"dataset": graph.name, "labelled": len(folds.labelled), "folds": folds.count, "repeats": folds.repeats}
    return TrainedModel(
        chosen.name,
        config,
        chosen.sizes,
        chosen.filter,
        weights,
        class_names(graph),
        replicas,
        about,
        graph.feature_names,
        graph.encoder,
        preparation,
        float(TEMPERATURES[choice.temperature]),
    )


def assess(graph: Graph, predictions: Predictions, folds: Folds, held: np.ndarray) -> Assessment:
    """What held-out predictions say of the predictor.

    Args:
        predictions: of every node, by the final predictor: they tell the shares of the classes that are to be expected.
        held: (H, classes) what :func:`dfnets.training.choice.cross_fitted` made.
    """
    assert graph.labels is not None
    counts = np.bincount(graph.labels[folds.labelled], minlength=graph.num_classes)
    shares = counts / counts.sum()
    unknown = graph.labels < 0
    per_class = drawn_per_class(graph.labels) and bool(unknown.any())
    if per_class:
        # What the predictions say, unsure as they are: not sharpened, which with few labels ends at one class.
        shares = predictions.probabilities[unknown].mean(axis=0)
    return Assessment(held, graph.labels[folds.held], class_names(graph), shares, per_class, folds.count)

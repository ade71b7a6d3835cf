"""From what was trained on folds and chosen by held-out nodes to a model that can be saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from torch import Tensor

from dfnets.graph import Graph
from dfnets.models import Config
from dfnets.models.mixture import Member, MixtureConfig
from dfnets.models.registry import MIXTURE
from dfnets.training.calibration import TEMPERATURES, expected_accuracy, matching_temperature
from dfnets.training.choice import Choice, Part
from dfnets.training.folds import FOLDS_THAT_TELL, Folds
from dfnets.training.networks import Trained
from dfnets.training.preparation import Preparation
from dfnets.training.trained import TrainedModel, class_names


def make_predictor(
    contest: Sequence[Trained], choice: Choice, graph: Graph, preparation: Preparation, folds: Folds
) -> TrainedModel:
    """The networks that were chosen: those of one model, or of several as a mixture."""
    first = contest[choice.parts[0].candidate]
    about = {"dataset": graph.name, "labelled": len(folds.labelled), "folds": folds.count, "repeats": folds.repeats}
    common = (class_names(graph), 1, about, graph.feature_names, graph.encoder, preparation)
    if len(choice.parts) == 1:
        part = choice.parts[0]
        weights = _weights(first, part, folds)
        model = TrainedModel(first.name, _config(first, part), first.sizes, first.filter, weights, *common)
        return replace(model, replicas=_count(weights), temperature=float(TEMPERATURES[part.temperature]))
    members, tensors = [], dict[str, Tensor]()
    for m, part in enumerate(choice.parts):
        own = contest[part.candidate]
        weights = _weights(own, part, folds)
        tensors |= {f"members.{m}.{key}": tensor for key, tensor in weights.items()}
        members.append(
            Member(
                model=own.name,
                settings=_config(own, part).model_dump(mode="json"),
                replicas=_count(weights),
                temperature=float(TEMPERATURES[part.temperature]),
                share=part.share,
            )
        )
    config = MixtureConfig.model_validate({"members": members})
    return TrainedModel(MIXTURE, config, first.sizes, None, tensors, *common)


def calibrated(model: TrainedModel, probabilities: np.ndarray, accuracy: float, worth: float) -> TrainedModel:
    """The model at the temperature at which it is as sure as it is right.

    Args:
        probabilities: (n, classes) that it gives to nodes without a label.
        accuracy: that is to be expected of it, between 0 and 1.
        worth: how many nodes drawn at random would say as much of it.
    """
    if not len(probabilities):
        return model
    expected = expected_accuracy(float(probabilities.max(axis=1).mean()), accuracy, worth)
    return replace(model, temperature=model.temperature * matching_temperature(probabilities, expected))


def _weights(trained: Trained, part: Part, folds: Folds) -> dict[str, Tensor]:
    """The networks of the version that was chosen; with few folds only those on every label."""
    weights = trained.weights[part.version]
    start = len(folds) if trained.epochs and folds.count < FOLDS_THAT_TELL else 0
    return {key: tensor[start:] for key, tensor in weights.items()}


def _config(trained: Trained, part: Part) -> Config:
    return trained.configs[min(part.version, len(trained.configs) - 1)]


def _count(weights: dict[str, Tensor]) -> int:
    return len(next(iter(weights.values())))

"""The models that predict beside DFNetPlus, or are its yardsticks: made on the same folds, for less work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from dfnets import models
from dfnets.graph import Graph
from dfnets.models import Config
from dfnets.training.budget import LOOKS, Plan
from dfnets.training.folds import Folds
from dfnets.training.networks import ALONE, Share, Trained, fit_settings, train_networks
from dfnets.training.preparation import Preparation
from dfnets.training.progress import steps_bar

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


def kept_length(preparation: Preparation) -> dict[str, Any]:
    """The setting by which rows of prepared features keep their length."""
    return {"features": "none"} if preparation.scaled else {}


def train_small_networks(
    graph: Graph,
    preparation: Preparation,
    folds: Folds,
    plan: Plan,
    *,
    seed: int,
    device: torch.device,
    progress: bool,
    share: Share = ALONE,
) -> list[Trained]:
    """The small networks of DFNetPlus that the plan has, one after the other."""
    made = []
    for kind, epochs in plan.small_epochs.items():
        called = f"small network ({kind})"
        config = models.config("small-network", kind, epochs=epochs, **kept_length(preparation))
        with steps_bar(f"{plan.networks} networks, {called}", epochs, show=progress, lines=True) as move:
            made.append(
                train_networks(
                    "small-network",
                    config,
                    graph,
                    folds,
                    plan.whole,
                    every=max(1, epochs // LOOKS),
                    seed=seed,
                    device=device,
                    after_epoch=move,
                    share=share,
                    called=called,
                )
            )
    return made


def fit_yardsticks(
    graph: Graph, preparation: Preparation, folds: Folds, *, seed: int, device: torch.device
) -> list[Trained]:
    """Simpler models on the same folds, in seconds: logistic regression, and label propagation."""
    assert graph.features is not None
    entries = len(folds.labelled) * graph.features.shape[1]
    filters = FILTERS if entries * 3 <= MOST_ENTRIES else FILTERS[:1]
    penalties: tuple[float, ...] = PENALTIES
    if len(folds.labelled) * graph.num_classes > MANY:
        filters, penalties = filters[:2], PENALTIES[1:2]
    given = kept_length(preparation)
    settings = [models.config("logistic", **filter, l2=l2, **given) for filter in filters for l2 in penalties]
    made = [fit_settings("logistic", settings, graph, folds, seed=seed, device=device)]
    if graph.num_edges:
        propagations: Sequence[Config] = [models.config("lp", class_mass=mass) for mass in (True, False)]
        made.append(fit_settings("lp", propagations, graph, folds, seed=seed, device=device))
    return made

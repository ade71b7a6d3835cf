"""Model folders of earlier versions: what their settings and tensors are called now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

# Settings by the name that they had, of every model and of one.
SETTINGS = {"judge": "select_by"}
SETTINGS_OF: dict[str, dict[str, str]] = {
    "dfnet-plus": {
        "few": "balance_below",
        "drop": "node_dropout",
        "copies": "augmentations",
        "weight": "consistency_weight",
    }
}
TENSORS_OF: dict[str, dict[str, str]] = {
    "dfnet-plus": {"gates": "band_mask", "agree": "use_consistency", "even": "balance_classes"}
}


def current_settings(model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in a model folder of any version, by the names that they have now.

    >>> current_settings("gcn", {"judge": "loss", "dropout": 0.5})
    {'select_by': 'loss', 'dropout': 0.5}
    """
    renamed = _renamed(settings, SETTINGS | SETTINGS_OF.get(model, {}))
    # Versions up to 5 of DFNetPlus were the network alone.
    return {"ensemble": False, **renamed} if model == "dfnet-plus" else renamed


def current_tensors(model: str, tensors: Mapping[str, Any]) -> dict[str, Any]:
    """The tensors in a model folder of any version, by the names that they have now, with those that are new."""
    renamed = _renamed(tensors, TENSORS_OF.get(model, {}))
    if model == "dfnet-plus" and "kind" not in renamed:
        # Settings of then say how features are scaled, so that their kind decides nothing; trust is for training only.
        renamed["kind"] = torch.ones(len(renamed["steps"]), dtype=torch.uint8)
        renamed["trust"] = torch.ones(len(renamed["steps"]))
    return renamed


def add_hidden_choice(model: Any, tensors: dict[str, Any], prefix: str, *_: Any) -> None:
    """Called before tensors are loaded into a DFNetPlus: those of versions up to 3 lack the choice of a hidden layer.

    What they have is used, and what is new is zero. Within a mixture their names begin with ``prefix``.
    """
    if f"{prefix}use_hidden" in tensors or f"{prefix}first.weight" not in tensors:
        return
    tensors[f"{prefix}use_hidden"] = torch.full((model.replicas,), f"{prefix}head.weight" in tensors)
    for name, tensor in model.state_dict().items():
        if model.beside is not None and name.startswith(("beside.", "head.")):
            tensors[f"{prefix}{name}"] = torch.zeros_like(tensor)


def _renamed(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in values.items()}

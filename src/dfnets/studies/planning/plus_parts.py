"""The parts of DFNetPlus, and the settings that leave each of them out: what its ablation runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ALONE = "the network alone"
# Of the network without its members, which would make up for what it lacks.
_OF_THE_NETWORK: Mapping[str, Mapping[str, Any]] = {
    "without consistency": {"consistency_weight": 0.0},
    "without class balance": {"balance_below": 0},
    "without dropping nodes": {"node_dropout": 0.0, "augmentations": 1},
    "one response (restart .2)": {"low": (0.2,)},
    "without filter": {"band": "all"},
    "without gains": {"gain": False},
    "without standardising": {"standardise": False},
    "every labelled node in a step": {"labelled": 1000},
    "with a hidden layer": {"hidden": 64},
}
PARTS: Mapping[str, Mapping[str, Any]] = {
    "without offsets of classes": {"class_offsets": False},
    ALONE: {"ensemble": False},
    **{f"{ALONE}, {name}": {"ensemble": False, **own} for name, own in _OF_THE_NETWORK.items()},
}

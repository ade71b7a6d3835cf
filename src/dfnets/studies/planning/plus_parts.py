"""The parts of DFNetPlus, and the settings that leave each of them out: what its ablation runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PARTS: Mapping[str, Mapping[str, Any]] = {
    "without consistency": {"consistency_weight": 0.0},
    "without class balance": {"balance_below": 0},
    "without dropping nodes": {"node_dropout": 0.0, "augmentations": 1},
    "one response (restart .2)": {"low": (0.2,)},
    "without filter": {"band": "all"},
    "without gains": {"gain": False},
    "without standardising": {"standardise": False},
    "every labelled node in a step": {"labelled": 1000},
    "without a hidden layer": {"hidden": None},
    "with a hidden layer": {"hidden": 64},
}

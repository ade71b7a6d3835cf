"""The feedback-looped layer alone, for the comparison of filters in the appendix of Wijesinghe and Wang (2019)."""

from __future__ import annotations

from typing import Any, ClassVar

from dfnets.models.dfnet import DFNet

# As GCN, Chebyshev and CayleyNet are built: two filters, narrow, no batch normalisation, no unit norm. The cut and the
# units are those of a few that were best on Cora's validation nodes.
PLAIN = {
    "response": "low-pass",
    "cut": 1.0,
    "p": 3,
    "units": (16, 16),
    "dropout": 0.5,
    "momentum": None,
    "unit_norm": False,
    "l2": 2.5e-4,
    "learning_rate": 0.01,
}


class FeedbackLooped(DFNet):
    """DFNet without dense connections: each layer reads the one before it, and X through Q."""

    presets: ClassVar[Any] = {
        name: {**preset, "dense": False} for name, preset in {**DFNet.presets, "default": PLAIN}.items()
    }
    space: ClassVar[Any] = {
        "learning_rate": (3e-3, 3e-2, "log"),
        "l2": (1e-5, 1e-2, "log"),
        "dropout": (0.2, 0.9),
        "gamma": (0.5, 0.99),
        "cut": (0.6, 1.3),
        "p": [1, 3, 5],
        "units": [(16, 16), (32, 32)],
        "momentum": [None, 0.9],
    }

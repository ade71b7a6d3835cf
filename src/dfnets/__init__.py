"""Feedback-looped graph filters: design them, certify them, apply them to big sparse graphs, learn with them."""

from __future__ import annotations

import importlib
import os
from typing import Any

# torch and the engine take turns on the same cores, each with OpenMP threads of its own. Left to spin after their
# work, the threads of one hold up those of the other, by a factor of ten on a machine with other work to do. OpenMP
# reads this when it is first loaded; whoever sets it keeps what they set.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# MKL chooses its kernels by the alignment and the distance of rows in memory, and on CPUs of Intel shares out sums by
# the number of threads and of columns, with other last bits. In its strict reproducibility mode it does not, so that
# networks trained together equal networks trained alone, on any number of threads; CPUs of others know the plain mode
# only, and need no more. It reads this before its first product. :mod:`dfnets.nn.reproducibility` warns where replicas
# are not exact all the same.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")

from dfnets import filters, responses
from dfnets.filters import (
    ArmaFilter,
    CayleyFilter,
    ChebyshevFilter,
    FeedbackLoopedFilter,
    LanczosFilter,
    design,
)
from dfnets.graph import Graph
from dfnets.shift import Shift

__version__ = "0.1.0"

# These need torch or a file format; they are imported when first asked for, so that `import dfnets` stays quick.
_LATE = {
    "DFNetClassifier": "dfnets.estimators:DFNetClassifier",
    "GraphFilter": "dfnets.estimators:GraphFilter",
    "builders": "dfnets.builders",
    "datasets": "dfnets.datasets",
    "distributed": "dfnets.distributed",
    "engine": "dfnets.engine",
    "fit": "dfnets.training:fit",
    "frames": "dfnets.filters.frames",
    "models": "dfnets.models",
    "nn": "dfnets.nn",
    "plots": "dfnets.plots",
    "recipes": "dfnets.recipes",
    "search": "dfnets.search",
    "studies": "dfnets.studies",
    "temporal": "dfnets.temporal",
    "train": "dfnets.training:train",
    "training": "dfnets.training",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'dfnets' has no attribute {name!r}")
    module, _, attribute = _LATE[name].partition(":")
    found = importlib.import_module(module)
    return getattr(found, attribute) if attribute else found


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "ArmaFilter",
    "CayleyFilter",
    "ChebyshevFilter",
    "DFNetClassifier",
    "FeedbackLoopedFilter",
    "Graph",
    "GraphFilter",
    "LanczosFilter",
    "Shift",
    "builders",
    "datasets",
    "design",
    "distributed",
    "engine",
    "filters",
    "fit",
    "frames",
    "models",
    "nn",
    "plots",
    "recipes",
    "responses",
    "search",
    "studies",
    "temporal",
    "train",
    "training",
]

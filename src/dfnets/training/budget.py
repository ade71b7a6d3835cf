"""How many networks and how many epochs: as many as the work allows, decided before training starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch

from dfnets import models
from dfnets.graph import Graph
from dfnets.models.plus_config import DFNetPlusConfig
from dfnets.models.plus_ensemble import KINDS
from dfnets.models.plus_members import HIDDEN, MOST_LABELLED
from dfnets.models.plus_width import settled_width
from dfnets.training.folds import FOLDS_THAT_TELL, fold_count
from dfnets.training.neighbour_likeness import settled_band

Effort = Literal["quick", "default", "thorough"]
# Seconds on two cores for a graph of at most SMALL nodes; larger graphs get as much more as they have nodes, up to
# MOST_TIMES.
SECONDS: dict[str, float] = {"quick": 5.0, "default": 40.0, "thorough": 300.0}
SMALL, MOST_TIMES = 4000, 6.0
MOST_FOLDS = {"quick": 3, "default": 5, "thorough": 10}
# Networks that hold nodes out, and networks that train on every label: at least, and where work allows it.
LEAST_NETWORKS, MOST_NETWORKS = 5, {"quick": 6, "default": 8, "thorough": 40}
EPOCHS = {"quick": (40, 120), "default": (150, 500), "thorough": (300, 1000)}
WIDTHS = (64, 32, 16)
# Seconds on two cores of 2020: for an entry of a product of one column, and for a step whatever its size. Products of a
# filter bank, and how many times faster a GPU is.
ENTRY, STEP, PRODUCTS, GPU = 1e-10, 1.5e-3, 35, 20.0
# The small networks beside DFNetPlus: the fewest epochs that are worth it and the most, how often held-out nodes are
# looked at in them, and what all of them may take, as a part of what DFNetPlus may.
SMALL_EPOCHS = {"quick": (0, 0), "default": (60, 200), "thorough": (100, 500)}
LOOKS, SMALL_PART = 15, 0.4


@dataclass(frozen=True)
class Plan:
    """What will be trained.

    Attributes:
        folds, repeats: of the networks that hold nodes out.
        whole: networks that train on every label.
        epochs: of each.
        every: epochs from one look at held-out nodes to the next.
        overrides: hyper-parameters that fit the work.
        seconds: estimated, on two cores.
        small_epochs: of the small networks that ``auto`` trains beside it, by their kind.
    """

    folds: int
    repeats: int
    whole: int
    epochs: int
    every: int
    overrides: dict[str, Any]
    seconds: float
    small_epochs: Mapping[str, int] = field(default_factory=dict)

    @property
    def networks(self) -> int:
        return self.folds * self.repeats + self.whole


def make_plan(
    graph: Graph,
    model: str,
    effort: Effort,
    device: torch.device,
    *,
    preset: str | None = None,
    epochs: int | None = None,
    **overrides: Any,
) -> Plan:
    """The plan for a graph with labels and prepared features.

    It depends on the graph and on the kind of device, never on a clock, so the same command trains the same networks on
    a machine that is busy.

    Args:
        effort: ``"quick"``, ``"default"`` or ``"thorough"``.
        epochs: instead of what the work allows.
        preset, overrides: hyper-parameters that are given.
    """
    assert graph.labels is not None
    config = models.config(model, preset, **overrides)
    times = np.clip(graph.num_nodes / SMALL, 1.0, MOST_TIMES) * (GPU if device.type == "cuda" else 1.0)
    allowed = SECONDS[effort] * float(times)
    folds = fold_count(graph.labels, MOST_FOLDS[effort])
    # Two folds in a single repeat give each node one prediction by networks with half of the labels: too little.
    repeats = int(np.ceil(LEAST_NETWORKS / folds)) if effort != "quick" else max(1, 4 // folds)
    least, most = EPOCHS[effort]
    own: dict[str, Any] = {}
    if isinstance(config, DFNetPlusConfig) and (band := settled_band(graph, config)) != config.band:
        own["band"] = band
        config = config.model_copy(update=own)
    width = settled_width(config, graph) if isinstance(config, DFNetPlusConfig) else getattr(config, "hidden", None)
    if width is not None and "hidden" not in overrides:
        for width in [w for w in WIDTHS if w <= width]:
            if _seconds(graph, config, width) * least * (folds * repeats + 1) <= allowed:
                break
        own["hidden"] = width
    step = _seconds(graph, config, width)
    steps = allowed / step
    while (folds * (repeats + 1) + 2) * most <= steps and folds * (repeats + 1) <= MOST_NETWORKS[effort]:
        repeats += 1
    # With few folds these alone predict, so that there are some of them whatever the work.
    least_whole = 3 if folds < FOLDS_THAT_TELL else 1
    whole = int(np.clip(steps / most - folds * repeats, least_whole, max(least_whole + 1, folds * repeats // 3)))
    count = folds * repeats + whole
    chosen = int(np.clip(10 * (steps / count // 10), least // 2, most)) if epochs is None else epochs
    if config.epochs == 0:
        chosen = 0
    elif hasattr(config, "ramp") and "ramp" not in overrides:
        own["ramp"] = max(1, min(config.ramp, round(0.6 * chosen)))
    every = max(1, min(10, chosen // 20))
    small = small_epochs(graph, count, SMALL_PART * allowed, *SMALL_EPOCHS[effort])
    return Plan(folds, repeats, whole, chosen, every, own, step * count * chosen, small)


def small_epochs(graph: Graph, networks: int, allowed: float, least: int, most: int) -> dict[str, int]:
    """The epochs of the small networks: the same for as many kinds as the work allows, the cheapest ones.

    Args:
        networks: how many there are of each kind.
        allowed: seconds for all of them together.
        least: epochs, in fewer of which none learns enough to be worth it.
        most: epochs.
    """
    kinds = [kind for kind in KINDS if graph.num_edges or KINDS[kind].reads == "alone"] if most else []
    seconds = {kind: _small_seconds(graph, kind) for kind in kinds}
    cheap = sorted(kinds, key=lambda kind: seconds[kind])
    for count in range(len(kinds), 0, -1):
        step, look = (networks * sum(part) for part in zip(*(seconds[kind] for kind in cheap[:count]), strict=True))
        possible = (allowed - LOOKS * look) / step
        if possible >= least:
            epochs = int(min(most, 10 * (possible // 10)))
            return {kind: epochs for kind in kinds if kind in cheap[:count]}
    return {}


def _small_seconds(graph: Graph, name: str) -> tuple[float, float]:
    """A step of a small network, and a look at what it says of every node."""
    assert graph.features is not None
    assert graph.labels is not None
    kind = KINDS[name]
    n, f = graph.features.shape
    stored = graph.features.nnz if not isinstance(graph.features, np.ndarray) else n * f
    edges = graph.adjacency.nnz + 3 * n
    parts = {"low": 2, "all": 4}.get(kind.reads, 2 if name == "looped" else 1)
    weights = 30 * f * HIDDEN * parts
    if kind.reads in ("low", "all", "alone"):
        labelled = min(int((graph.labels >= 0).sum()), MOST_LABELLED)
        products = PRODUCTS / 2 if kind.reads != "alone" else 0
        look = parts * stored * HIDDEN + products * HIDDEN * (edges + parts * n)
        return STEP + ENTRY * (weights + 2 * labelled * parts * f * HIDDEN), ENTRY * look
    # What is filtered before the hidden layer, and what after it; a step goes both ways, and draws what it drops.
    filtered = 10 * graph.num_classes if kind.reads == "pagerank" else HIDDEN + graph.num_classes
    look = parts * stored * HIDDEN + filtered * edges
    return 2 * STEP + ENTRY * (weights + 5 * look), ENTRY * look


def _seconds(graph: Graph, config: Any, width: int | None) -> float:
    """One step of one network, estimated from what it multiplies."""
    assert graph.features is not None
    n, f = graph.features.shape
    stored = graph.features.nnz if not isinstance(graph.features, np.ndarray) else n * f
    copies = getattr(config, "augmentations", 1)
    filters = len(getattr(config, "low", (1,)))
    columns = copies * (width or graph.num_classes)
    entries = 2 * PRODUCTS * (graph.adjacency.nnz + 3 * (filters + 1) * n) + 4 * filters * stored
    # Adam reads and writes a weight, its gradient and two moments, about ten times.
    weights = f * (width or graph.num_classes) * (filters + 1 + len(getattr(config, "high", ())))
    return STEP + ENTRY * (columns * entries + 30 * weights)

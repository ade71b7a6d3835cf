"""The hidden layer that DFNetPlus will have, known before anything is trained."""

from __future__ import annotations

import numpy as np
import torch

from dfnets.graph import Graph
from dfnets.models.band_choice import FULL_CLASSES, gram_matrices
from dfnets.models.base import Sizes
from dfnets.models.plus_config import DFNetPlusConfig
from dfnets.models.plus_network import HIDDEN, PlusNetwork


def settled_width(config: DFNetPlusConfig, graph: Graph) -> int | None:
    """The width of the hidden layer for a graph and all of its labels; None where there will be none."""
    if config.hidden != "auto":
        return config.hidden
    if graph.num_classes > FULL_CLASSES:
        return HIDDEN
    assert graph.features is not None
    assert graph.labels is not None
    network = PlusNetwork(config, Sizes(graph.features.shape[1], graph.num_classes, graph.num_nodes))
    inputs = network.prepare(graph, torch.device("cpu"))
    nodes = np.flatnonzero(graph.labels >= 0)
    network.settle([(nodes, graph.labels[nodes])], lambda some: gram_matrices(inputs.features, inputs.bank, some))
    return HIDDEN if bool(network.use_hidden[0]) else None

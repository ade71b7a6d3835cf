"""What the tests of the spectral baselines share: a small graph, a model on it, and the graph as PyG takes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from dfnets import Graph, Shift, models
from dfnets.models import Model, Sizes
from dfnets.nn.batched import generators

CPU = torch.device("cpu")
FEATURES, CLASSES = 9, 3


def small_graph(n: int = 24, *, weighted: bool = True) -> Graph:
    """With sparse features, and an isolated node."""
    rng = np.random.default_rng(1)
    edges = np.triu(rng.random((n, n)) < 0.2, 1) * (rng.uniform(0.5, 2, (n, n)) if weighted else 1.0)
    edges[:, 3] = edges[3] = 0
    features = sp.random_array((n, FEATURES), density=0.4, rng=rng, format="csr")
    labels = np.arange(n) % CLASSES
    return Graph(edges + edges.T, features=features, labels=labels, name="small")


def made(name: str, replicas: int = 2, **settings: Any) -> Model:
    """A model for the small graph, with biases that are not zero, in evaluation."""
    config = models.config(name, features="none", **settings)
    model = models.get(name)(config, Sizes(FEATURES, CLASSES, 24), replicas=replicas)
    model.reset_parameters(generators(range(replicas)))
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if key.endswith("bias"):
                parameter.copy_(torch.linspace(-0.3, 0.4, parameter.numel()).view_as(parameter))
    return model.eval()


def logits(model: Model, graph: Graph | None = None) -> Tensor:
    with torch.no_grad():
        return model(model.prepare(small_graph() if graph is None else graph, CPU))


def x(graph: Graph) -> Tensor:
    return torch.as_tensor(graph.features.toarray(), dtype=torch.float32)


def adjacency(graph: Graph) -> Tensor:
    """S, dense."""
    return torch.eye(graph.num_nodes) - torch.as_tensor(Shift(graph, centre=0.0).tocsr().toarray()).float()


def edges(graph: Graph, *, loops: bool = False) -> tuple[Tensor, Tensor]:
    """edge_index and edge_weight of A, or of A + I."""
    matrix = sp.coo_array(graph.adjacency + (sp.eye_array(graph.num_nodes) if loops else 0 * graph.adjacency))
    keep = matrix.data != 0
    rows, columns = (torch.as_tensor(part[keep]).long() for part in matrix.coords)
    return torch.stack([rows, columns]), torch.as_tensor(matrix.data[keep], dtype=torch.float32)

"""How well a trained network keeps the classes apart, as numbers and as points in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from dfnets.datasets.splits import Split
from dfnets.graph import Graph

# Raised when a change alters what is measured.
VERSION = 1
NODES = 3000
NEIGHBOURS = 10


def measure(
    model: str,
    graph: Graph,
    split: Split,
    seed: int,
    preset: str | None,
    device: str | None,
    **settings: Any,
) -> dict[str, Any]:
    """Silhouette and purity of a network's class scores, and of their t-SNE; both on the same nodes for every model.

    The embedding is what the softmax head makes of a node, on a log scale: all models have it, and in the same number
    of dimensions. Purity is the share of a node's nearest neighbours that are of its class. Training nodes are left
    out: their labels were seen.
    """
    from sklearn.manifold import TSNE
    from sklearn.metrics import silhouette_score

    from dfnets.training import fit

    assert graph.labels is not None
    result = fit(
        model, graph, protocol=split, replicas=1, seed=seed, preset=preset, device=device, progress=False, **settings
    )
    unseen = np.setdiff1d(np.flatnonzero(graph.labels >= 0), split.train)
    nodes = np.sort(np.random.default_rng(0).permutation(unseen)[:NODES])
    scores = np.log(result.predict().per_replica[0][nodes].astype(np.float64) + 1e-9)
    scores -= scores.mean(axis=1, keepdims=True)
    labels = graph.labels[nodes]
    points = TSNE(2, random_state=0, init="pca", perplexity=30).fit_transform(scores.astype(np.float32))
    return {
        "accuracy": float(result.accuracy().values[0]),
        "silhouette": float(silhouette_score(scores, labels)),
        "silhouette_plane": float(silhouette_score(points, labels)),
        "purity": _purity(scores, labels),
        "purity_plane": _purity(points, labels),
        "points": points.round(2).astype(float).tolist(),
        "labels": labels.tolist(),
    }


def _purity(points: np.ndarray, labels: np.ndarray) -> float:
    from sklearn.neighbors import NearestNeighbors

    near = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(points).kneighbors(return_distance=False)
    return float(np.mean(labels[near] == labels[:, None]))

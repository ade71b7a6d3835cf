"""The handwritten digits that come with scikit-learn: a real dataset that needs no network."""

from __future__ import annotations

from dfnets.datasets.knn import neighbours
from dfnets.graph import Graph


def digits(k: int = 10) -> Graph:
    """1797 images of 8 x 8 pixels with values 0 to 16, each joined to its k nearest; 10 classes."""
    from sklearn.datasets import load_digits

    data = load_digits()
    names = tuple(str(name) for name in data.target_names)
    return neighbours(data.data, k, labels=data.target, name="digits", label_names=names)

"""Datasets, splits, and a person's own graph."""

from dfnets.datasets import features, files, splits
from dfnets.datasets.description import Description, describe
from dfnets.datasets.knn import neighbours
from dfnets.datasets.library import FetchError, fetch, load, names
from dfnets.datasets.splits import Split

__all__ = [
    "Description",
    "FetchError",
    "Split",
    "describe",
    "features",
    "fetch",
    "files",
    "load",
    "names",
    "neighbours",
    "splits",
]

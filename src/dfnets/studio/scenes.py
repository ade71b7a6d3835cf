"""The graphs that the studio can draw: made here, from scikit-learn's photograph, or from a person's files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from dfnets import builders
from dfnets.graph import Graph
from dfnets.shift import Shift
from dfnets.studio.describe import numbers

# More would make a browser slow; a larger graph is filtered whole and drawn in part.
MOST_DRAWN = 4000
BINS = 60


@dataclass(frozen=True)
class Scene:
    """A graph with a place for each node and a signal on it.

    Attributes:
        title: what it is, for the page.
        graph: the graph.
        coordinates: (n, 2) places of the nodes, second one upwards.
        signal: (n,) the signal before noise is added.
        noise: the standard deviation of the noise to begin with, in standard deviations of the signal.
    """

    title: str
    graph: Graph
    coordinates: np.ndarray
    signal: np.ndarray
    noise: float = 0.8

    @cached_property
    def shift(self) -> Shift:
        """The operator, with the interval that Lanczos gives."""
        return Shift(self.graph, lmax="lanczos")

    @cached_property
    def drawn(self) -> np.ndarray:
        """The nodes that the page draws: all of them, or as many as it can, evenly."""
        n = self.graph.num_nodes
        return np.unique(np.linspace(0, n - 1, min(n, MOST_DRAWN)).astype(int))

    def noisy(self, noise: float) -> np.ndarray:
        """The signal with Gaussian noise of that many standard deviations of the signal, always the same draw."""
        draw = np.random.default_rng(0).standard_normal(len(self.signal))
        return self.signal + noise * float(self.signal.std() or 1.0) * draw

    def content(self) -> dict[str, Any]:
        """Everything that the page needs to draw the graph."""
        adjacency = sp.triu(self.graph.adjacency[self.drawn][:, self.drawn], k=1).tocoo()
        places = self.coordinates[self.drawn]
        places = (places - places.min(axis=0)) / max(float(np.ptp(places, axis=0).max()), 1e-12)
        frequencies, weights = self.shift.density()
        density, _ = np.histogram(frequencies, bins=BINS, range=(0.0, 2.0), weights=weights)
        return {
            "title": self.title,
            "nodes": self.graph.num_nodes,
            "edges": self.graph.num_edges,
            "places": [numbers(places[:, 0], 4), numbers(places[:, 1], 4)],
            "links": np.stack([adjacency.row, adjacency.col], axis=1).ravel().tolist(),
            "signal": numbers(self.signal[self.drawn], 5),
            "noise": self.noise,
            "density": numbers(density, 6),
            "interval": list(self.shift.interval),
            "certainty": self.shift.certainty,
        }


def sensors(n: int = 900) -> Scene:
    """Sensors at random places, each joined to its nearest; a smooth field as the signal."""
    graph = builders.sensor(n, seed=1)
    assert graph.coordinates is not None
    return Scene("Sensor network (made up)", graph, graph.coordinates, _field(graph.coordinates))


def roads(n: int = 1200, seed: int = 3) -> Scene:
    """Places that crowd about a few towns, joined as roads would be: no third place in the circle over an edge."""
    from scipy.spatial import Delaunay, cKDTree

    rng = np.random.default_rng(seed)
    towns = rng.random((9, 2))
    spread = rng.choice([0.035, 0.09], size=(n // 2, 1)) * rng.standard_normal((n // 2, 2))
    places = np.concatenate([rng.random((n - n // 2, 2)), towns[rng.integers(9, size=n // 2)] + spread])
    triangles = Delaunay(places).simplices
    pairs = np.unique(
        np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])), axis=0
    )
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    middles, radii = places[pairs].mean(axis=1), np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1) / 2
    nearest, _ = cKDTree(places).query(middles)
    pairs = pairs[nearest >= radii * (1 - 1e-9)]
    return Scene(
        "Road network (made up)", Graph.from_edges(*pairs.T, num_nodes=n, name="roads"), places, _field(places)
    )


def photograph(step: int = 9) -> Scene:
    """The pixels of a photograph that scikit-learn brings, coarsened; each is joined to its four neighbours."""
    from sklearn.datasets import load_sample_image

    pixels = load_sample_image("china.jpg").mean(axis=2) / 255
    rows, columns = pixels.shape[0] // step, pixels.shape[1] // step
    coarse = pixels[: rows * step, : columns * step].reshape(rows, step, columns, step).mean(axis=(1, 3))
    graph = builders.grid(rows, columns)
    assert graph.coordinates is not None
    return Scene("Photograph as a grid (scikit-learn's china.jpg)", graph, graph.coordinates, coarse.ravel())


def own(graph: Graph, coordinates: np.ndarray, signal: np.ndarray) -> Scene:
    """A person's graph; no noise is added to their signal unless they ask for it."""
    return Scene(f"{graph.name} (your file)", graph, np.asarray(coordinates)[:, :2], signal, noise=0.0)


SCENES: dict[str, Callable[[], Scene]] = {"sensors": sensors, "roads": roads, "photograph": photograph}


def _field(places: np.ndarray) -> np.ndarray:
    """A smooth function of the place with two hills, a valley and a slope."""
    x, y = places.T
    hill = lambda a, b, size: np.exp(-((x - a) ** 2 + (y - b) ** 2) / size)  # noqa: E731
    return 0.4 * x + hill(0.25, 0.7, 0.03) + 0.8 * hill(0.75, 0.35, 0.05) - 0.7 * hill(0.7, 0.85, 0.03)

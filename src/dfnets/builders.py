"""Graphs that signal processing is tried out on: paths, rings, grids, sensor networks, and graphs of points.

Each one has coordinates, so that a signal on it can be drawn.

>>> grid(2, 3)
Graph('grid-2x3', nodes=6, edges=7)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dfnets.graph import Graph

__all__ = ["grid", "nearest_neighbours", "path", "radius", "ring", "sensor"]


def path(n: int) -> Graph:
    """n nodes in a row, each joined to the next, at (0, 0), (1, 0), (2, 0) and so on."""
    _whole(n, "n", 1)
    at = np.arange(n)
    return _joined(at[:-1], at[1:], np.column_stack([at, np.zeros(n)]), f"path-{n}")


def ring(n: int) -> Graph:
    """n >= 3 nodes on the unit circle, each joined to its two neighbours: the graph of a periodic signal."""
    _whole(n, "n", 3)
    at = np.arange(n)
    angles = 2 * np.pi * at / n
    return _joined(at, (at + 1) % n, np.column_stack([np.cos(angles), np.sin(angles)]), f"ring-{n}")


def grid(rows: int, columns: int | None = None) -> Graph:
    """The pixels of an image, each joined to those beside, above and below it.

    Node ``row * columns + column`` lies at (column, -row), so that the picture of the graph is the image as
    ``image.ravel()`` gives it. ``columns`` is as many as ``rows`` when it is not given.
    """
    columns = rows if columns is None else columns
    _whole(rows, "rows", 1)
    _whole(columns, "columns", 1)
    at = np.arange(rows * columns).reshape(rows, columns)
    sources = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    targets = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    coordinates = np.column_stack([np.tile(np.arange(columns), rows), -np.repeat(np.arange(rows), columns)])
    return _joined(sources, targets, coordinates, f"grid-{rows}x{columns}")


def sensor(n: int = 256, *, k: int = 6, seed: int = 0) -> Graph:
    """n sensors scattered over the unit square, each joined to its k nearest by a weight that falls with distance.

    One sensor is drawn at random in each cell of a square lattice, which leaves no large hole; the weights are those
    of :func:`nearest_neighbours`.
    """
    _whole(n, "n", 2)
    side = int(np.ceil(np.sqrt(n)))
    rng = np.random.default_rng(seed)
    cells = rng.permutation(side * side)[:n]
    corners = np.column_stack([cells % side, cells // side])
    points = (corners + rng.uniform(0.1, 0.9, (n, 2))) / side
    return nearest_neighbours(points, min(k, n - 1), name=f"sensor-{n}")


def nearest_neighbours(points: Any, k: int = 6, *, name: str = "nearest-neighbours") -> Graph:
    """Points joined to their k nearest neighbours, with weights exp(-d^2 / 2 s^2).

    d is the Euclidean distance and s its mean over the k-th neighbours; i and j are joined if either is among the
    other's k nearest.

    Args:
        points: (n, f). The first two columns are the coordinates of the graph, if there are two.
    """
    from dfnets.datasets.knn import neighbours

    points = _checked_points(points)
    return neighbours(points, k, weights="gaussian", features=None, name=name, coordinates=_plane(points))


def radius(points: Any, r: float, *, name: str = "radius") -> Graph:
    """Points joined to all others within the distance r, with weights exp(-d^2 / 2 s^2), s = r / 2.

    Args:
        points: (n, f). The first two columns are the coordinates of the graph, if there are two.
        r: the Euclidean distance up to which two points are neighbours.
    """
    from scipy.spatial import cKDTree

    points = _checked_points(points)
    if not 0 < r < np.inf:
        raise ValueError(f"r={r!r} must be a positive, finite distance")
    pairs = cKDTree(points).query_pairs(r, output_type="ndarray")
    distances = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    weights = np.exp(-2 * (distances / r) ** 2)
    return _joined(pairs[:, 0], pairs[:, 1], _plane(points), name, weights, n=len(points))


def _joined(
    sources: np.ndarray,
    targets: np.ndarray,
    coordinates: np.ndarray | None,
    name: str,
    weights: np.ndarray | None = None,
    *,
    n: int | None = None,
) -> Graph:
    n = len(coordinates) if n is None else n  # type: ignore[arg-type]
    values = np.ones(len(sources)) if weights is None else weights
    upper = sp.coo_array((values, (sources, targets)), shape=(n, n)).tocsr()
    return Graph(upper + upper.T, name=name, coordinates=coordinates)


def _checked_points(points: Any) -> np.ndarray:
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 2 or len(array) < 1 or not np.isfinite(array).all():
        raise ValueError(f"points has shape {array.shape}: it must be (n, f), with finite entries")
    return array


def _plane(points: np.ndarray) -> np.ndarray | None:
    return points[:, :2] if points.shape[1] >= 2 else None


def _whole(value: int, name: str, least: int) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r} must be a whole number of at least {least}")

"""Graphs of any size with planted classes and hubs, made in blocks and written as a folder that Graph.open opens.

Node number r, by rank, is an end of an edge with a probability in proportion to (r + 10)^(-2/3), which gives degrees
a tail with exponent 2.5, as many real networks have. The class of a node is its rank modulo the number of classes; an
edge joins two nodes of one class with probability ``homophily``, else any two. Ranks are scattered over the node
numbers, so that neighbours do not lie close to each other in memory. Features are a normal cloud around the mean of
the class. Edges that are drawn twice count once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dfnets import storage
from dfnets.compiled import njit

EDGES_PER_BLOCK, ROWS_PER_BLOCK = 1 << 22, 1 << 16
FIRST = 10.0
# Prime, and larger than any number of nodes here, so that multiplying by it scatters ranks without collisions.
SCATTER = 2_147_483_647


def write(
    folder: Path,
    nodes: int,
    edges: int,
    *,
    classes: int = 10,
    features: int = 100,
    homophily: float = 0.5,
    separation: float = 0.25,
    seed: int = 0,
) -> None:
    """Draws a graph and writes it; memory for one list of neighbours, four bytes for each end of an edge."""
    if nodes % classes:
        raise SystemExit(f"--nodes {nodes} must be a multiple of the {classes} classes")
    folder.mkdir(parents=True, exist_ok=True)
    indptr, indices = _adjacency(nodes, edges, classes, homophily, seed)
    for name, array in zip(storage.ADJACENCY[:2], (indptr.astype(np.int32), indices), strict=True):
        np.save(folder / name, array)
    weights = np.lib.format.open_memmap(
        folder / storage.ADJACENCY[2], mode="w+", dtype=np.float64, shape=(len(indices),)
    )
    for start in range(0, len(weights), EDGES_PER_BLOCK):
        weights[start : start + EDGES_PER_BLOCK] = 1.0
    weights.flush()
    labels = np.empty(nodes, np.int64)
    labels[_scattered(np.arange(nodes), nodes)] = np.arange(nodes) % classes
    np.save(folder / "labels.npy", labels)
    _write_features(folder, labels, features, separation, seed)
    header = {"format": storage.FORMAT, "name": f"planted-{nodes}", "nodes": nodes, "features": features}
    rest = {"label_names": None, "feature_names": None, "encoder": None}
    (folder / storage.HEADER).write_text(json.dumps(header | rest))


def write_csv(folder: Path, path: Path) -> None:
    """The edges of such a folder as text, each once."""
    indptr, indices = (np.load(folder / name, mmap_mode="r") for name in storage.ADJACENCY[:2])
    with path.open("w") as file:
        file.write("source,target\n")
        for start in range(0, len(indptr) - 1, ROWS_PER_BLOCK):
            end = min(start + ROWS_PER_BLOCK, len(indptr) - 1)
            rows = np.repeat(np.arange(start, end), np.diff(indptr[start : end + 1]))
            columns = indices[indptr[start] : indptr[end]]
            once = rows < columns
            lines = [f"{i},{j}\n" for i, j in zip(rows[once].tolist(), columns[once].tolist(), strict=True)]
            file.write("".join(lines))


def _scattered(rank: np.ndarray, nodes: int) -> np.ndarray:
    return rank * SCATTER % nodes


def _ends(nodes: int, edges: int, classes: int, homophily: float, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of edges; the same ones whenever they are asked for."""
    low, high = FIRST ** (1 / 3), (nodes + FIRST) ** (1 / 3)
    for start in range(0, edges, EDGES_PER_BLOCK):
        count = min(EDGES_PER_BLOCK, edges - start)
        rng = np.random.default_rng((seed, start))
        # The inverse of the cumulative distribution of the ranks is a cube.
        drawn = [(low + (high - low) * rng.random(count)) ** 3 - FIRST for _ in range(2)]
        source, target = (np.clip(one.astype(np.int64), 0, nodes - 1) for one in drawn)
        same = rng.random(count) < homophily
        target[same] += source[same] % classes - target[same] % classes
        apart = source != target
        yield _scattered(source[apart], nodes), _scattered(target[apart], nodes)


def _adjacency(nodes: int, edges: int, classes: int, homophily: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    counts = np.zeros(nodes, np.int64)
    for ends in _ends(nodes, edges, classes, homophily, seed):
        for one in ends:
            counts += np.bincount(one, minlength=nodes)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices, filled = np.empty(indptr[-1], np.int32), indptr[:-1].copy()
    for source, target in _ends(nodes, edges, classes, homophily, seed):
        _fill(source, target, filled, indices)
    return indptr, indices[: _sort_and_merge(indptr, indices)]


@njit(cache=True)
def _fill(source: np.ndarray, target: np.ndarray, filled: np.ndarray, indices: np.ndarray) -> None:
    for edge in range(len(source)):
        i, j = source[edge], target[edge]
        indices[filled[i]], indices[filled[j]] = j, i
        filled[i] += 1
        filled[j] += 1


@njit(cache=True)
def _sort_and_merge(indptr: np.ndarray, indices: np.ndarray) -> int:
    """Sorts every row and leaves out what is there twice, in place; how many entries there are."""
    done, start = 0, 0
    for row in range(len(indptr) - 1):
        end = indptr[row + 1]
        indices[start:end].sort()
        last = -1
        for place in range(start, end):
            if indices[place] != last:
                last = indices[place]
                indices[done] = last
                done += 1
        start = end
        indptr[row + 1] = done
    return done


def _write_features(folder: Path, labels: np.ndarray, features: int, separation: float, seed: int) -> None:
    rng = np.random.default_rng((seed, 1))
    means = separation * rng.standard_normal((int(labels.max()) + 1, features), np.float32)
    out = np.lib.format.open_memmap(folder / "features.npy", mode="w+", dtype=np.float32, shape=(len(labels), features))
    for start in range(0, len(labels), ROWS_PER_BLOCK):
        part = labels[start : start + ROWS_PER_BLOCK]
        out[start : start + ROWS_PER_BLOCK] = means[part] + rng.standard_normal((len(part), features), np.float32)
    out.flush()

"""Features that are filtered once and kept on disk: the simplest way to learn on the largest graphs.

A folder holds the rows of h_1(L^) X, ..., h_K(L^) X side by side, memory-mapped, with what they were made from:

- ``filtered.json``: the format, the filters, the tolerance, the kind of X and how it was scaled, a fingerprint of the
  graph, checksums;
- ``rows.npy``: (n, K f) in single precision, so that the rows of a batch are read in one piece each;
- ``mean.npy``, ``variance.npy``: (K, f), of the columns.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dfnets import checksums, engine
from dfnets.atomic import check_folder, replacing_folder
from dfnets.datasets.features import Scaling
from dfnets.filters import FeedbackLoopedFilter
from dfnets.graph import Graph
from dfnets.inputs import read_json, regular_file
from dfnets.models.feature_kind import FeatureKind, sampled_kind
from dfnets.shift import Shift

FORMAT = "dfnets filtered features, version 1"
HEADER, ROWS, MEAN, VARIANCE = "filtered.json", "rows.npy", "mean.npy", "variance.npy"
FILES = (HEADER, ROWS, MEAN, VARIANCE)
# Rows that are read or written at a time.
BLOCK = 1 << 16
# A column takes about this many vectors of n while it is filtered, and one more for each response.
VECTORS = 5


@dataclass(frozen=True)
class FilteredFeatures:
    """Rows of K filtered copies of the features of a graph, on disk.

    Attributes:
        values: (n, K f), memory-mapped.
        filters: the K filters, as their coefficients (psi, phi, centre).
        kind: what X was like.
        scaling: how rows of X were scaled before.
        graph: fingerprint of the edges and features that they were made from.
        checksum: of ``rows.npy``.
    """

    folder: Path
    values: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    filters: tuple[tuple[tuple[float, ...], tuple[float, ...], float], ...]
    kind: FeatureKind
    scaling: Scaling
    tol: float
    graph: str
    checksum: str

    @property
    def num_features(self) -> int:
        """f, the features of a node before they were filtered."""
        return self.values.shape[1] // len(self.filters)

    @classmethod
    def make(
        cls,
        graph: Graph,
        filters: Sequence[FeedbackLoopedFilter],
        folder: str | os.PathLike[str],
        *,
        scaling: Scaling | Literal["auto"] = "auto",
        tol: float = 1e-4,
        memory: int = 2 * 2**30,
        force: bool = False,
    ) -> FilteredFeatures:
        """Filters the features of a graph, as many columns at a time as fit into ``memory`` bytes.

        All responses share one chain of products. The graph and its features may be memory-mapped
        (:meth:`dfnets.Graph.open`): neither has to fit into memory.

        Args:
            scaling: of the rows of X; ``"auto"`` is what DFNetPlus does with features of their kind.
            tol: |h_k - its polynomial| on the interval of the graph.
            force: replace filtered features that are there already.
        """
        if graph.features is None:
            raise ValueError(f"{graph.name} has no features to filter: give the Graph features")
        check_folder(folder, FILES, force=force)
        n, f = graph.features.shape
        kind = sampled_kind(graph.features)
        if scaling == "auto":
            scaling = kind.scaling
        shift = Shift(graph)
        table = _coefficients(filters, shift, tol)
        with replacing_folder(folder, FILES) as place:
            out = np.lib.format.open_memmap(place / ROWS, mode="w+", dtype=np.float32, shape=(n, len(filters) * f))
            moments = np.empty((2, len(filters), f))
            norms = _norms(graph.features, scaling)
            width = max(1, memory // (4 * n * (VECTORS + len(filters))))
            for start in range(0, f, width):
                columns = slice(start, min(start + width, f))
                signal = _dense(graph.features, columns, norms)
                for k, filtered in enumerate(engine.analysis(shift, signal, table, interval=shift.interval)):
                    moments[:, k, columns] = [
                        filtered.mean(axis=0, dtype=np.float64),
                        filtered.var(axis=0, dtype=np.float64),
                    ]
                    out[:, k * f + start : k * f + columns.stop] = filtered
            out.flush()
            del out
            np.save(place / MEAN, moments[0])
            np.save(place / VARIANCE, moments[1])
            header = {
                "format": FORMAT,
                "filters": [_described(one) for one in filters],
                "kind": int(kind),
                "scaling": scaling,
                "tol": tol,
                "graph": fingerprint(graph),
                "sha256": {name: checksums.of_file(place / name) for name in (ROWS, MEAN, VARIANCE)},
            }
            (place / HEADER).write_text(json.dumps(header, indent=1), encoding="utf-8")
        return cls.open(folder)

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, verify: bool = False) -> FilteredFeatures:
        """What :meth:`make` wrote, memory-mapped.

        Args:
            verify: read everything and compare the checksums, which takes as long as reading the files does.
        """
        place = Path(folder)
        if not (place / HEADER).is_file():
            raise FileNotFoundError(f"{place} holds no filtered features: there is no {HEADER}")
        header = read_json(place / HEADER, "the description of filtered features")
        if header.get("format") != FORMAT:
            raise ValueError(f"{place / HEADER} lacks the mark {FORMAT!r}: filter the features again")
        for name, expected in header["sha256"].items() if verify else ():
            if checksums.of_file(place / name) != expected:
                raise ValueError(f"{place / name} is cut off or was changed: filter the features again")
        rows, mean, variance = (_mapped(place / name) for name in (ROWS, MEAN, VARIANCE))
        filters = tuple((tuple(psi), tuple(phi), centre) for psi, phi, centre in header["filters"])
        if (
            rows.ndim != 2
            or mean.shape != variance.shape
            or mean.shape != (len(filters), rows.shape[1] // len(filters))
        ):
            raise ValueError(f"{place}: the files do not fit together: filter the features again")
        words = (
            FeatureKind(header["kind"]),
            header["scaling"],
            float(header["tol"]),
            str(header["graph"]),
            str(header["sha256"][ROWS]),
        )
        return cls(place, rows, np.array(mean), np.array(variance), filters, *words)

    def check(self, graph: Graph) -> None:
        """Refuses a graph that these features were not made from."""
        if fingerprint(graph) != self.graph:
            raise ValueError(
                f"{self.folder} was made from another graph or other features than {graph.name}: make it again"
            )

    def rows(self, nodes: np.ndarray, filters: Sequence[FeedbackLoopedFilter], scaling: Scaling) -> FilteredRows:
        """The rows at some nodes, for some of the filters."""
        wanted = [_described(one) for one in filters]
        missing = [one for one in wanted if one not in self.filters]
        if missing:
            raise ValueError(
                f"{self.folder} has no features filtered by (psi, phi, centre) = {missing[0]}: make them too"
            )
        if scaling != self.scaling:
            raise ValueError(f"{self.folder} has features scaled as {self.scaling!r}; the model wants {scaling!r}")
        return FilteredRows(self, np.asarray(nodes), [self.filters.index(one) for one in wanted])


class FilteredRows:
    """Some rows of :class:`FilteredFeatures`, for some of its responses, read when they are needed."""

    def __init__(self, source: FilteredFeatures, nodes: np.ndarray, responses: Sequence[int]) -> None:
        self.source, self.nodes, self.responses = source, nodes, list(responses)

    def at(self, places: np.ndarray) -> np.ndarray:
        """(t, K, f) rows."""
        rows = self.source.values[self.nodes[places]]
        return rows.reshape(len(places), -1, self.source.num_features)[:, self.responses]

    def dropped(self, places: np.ndarray, seeds: np.ndarray, node_rate: float, entry_rate: float) -> np.ndarray:  # noqa: ARG002
        """(t, S, K, f): entries go back to the mean of their column, others away from it, so that the mean is kept.

        Nodes cannot be dropped: what they gave to their neighbours is mixed into the rows already.
        """
        rows, mean = self.at(places), self.source.mean[self.responses].astype(np.float32)
        gap = (rows - mean) / np.float32(1 - entry_rate)
        drawn = [np.random.default_rng(int(seed)).random(gap.shape, np.float32) >= entry_rate for seed in seeds]
        return np.stack([mean + gap * kept for kept in drawn], axis=1)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """(K, f) means and variances of the columns, over all nodes of the graph."""
        return self.source.mean[self.responses], self.source.variance[self.responses]


def fingerprint(graph: Graph) -> str:
    """What tells two graphs with other edges or features apart; labels and names do not count."""
    matrices = [graph.adjacency, graph.features]
    arrays = [
        part
        for one in matrices
        for part in ((one.indptr, one.indices, one.data) if sp.issparse(one) else (one,))
        if part is not None
    ]
    return checksums.of_parts(
        piece
        for array in arrays
        for piece in (
            f"{array.dtype}{array.shape}".encode(),
            np.ascontiguousarray(array).reshape(-1).view(np.uint8).data,
        )
    )


def _described(filter: FeedbackLoopedFilter) -> tuple[tuple[float, ...], tuple[float, ...], float]:
    return tuple(filter.psi.tolist()), tuple(filter.phi.tolist()), float(filter.centre)


def _coefficients(filters: Sequence[FeedbackLoopedFilter], shift: Shift, tol: float) -> np.ndarray:
    """(K, degree + 1) Chebyshev coefficients of all responses."""
    if not filters:
        raise ValueError("filters is empty: give at least one")
    rows = [one.expansion(tol, one.shift_of(shift).interval).coefficients for one in filters]
    return np.stack([np.pad(row, (0, max(map(len, rows)) - len(row))) for row in rows])


def _norms(features: Any, scaling: Scaling) -> np.ndarray:
    """(n,) what the rows of X are divided by, some rows at a time."""
    norms = np.ones(features.shape[0])
    if scaling != "none":
        for start in range(0, len(norms), BLOCK):
            part = abs(features[start : start + BLOCK])
            part = part if scaling == "row" else part * part
            norms[start : start + BLOCK] = np.asarray(part.sum(axis=1, dtype=np.float64)).ravel()
        norms = norms if scaling == "row" else np.sqrt(norms)
    return np.where(norms > 0, norms, 1)


def _dense(features: Any, columns: slice, norms: np.ndarray) -> np.ndarray:
    """Some columns of X with its rows scaled, (n, k) in single precision, some rows at a time."""
    out = np.empty((len(norms), columns.stop - columns.start), np.float32)
    for start in range(0, len(norms), BLOCK):
        part = features[start : start + BLOCK, columns]
        dense = part.toarray() if sp.issparse(part) else part
        out[start : start + BLOCK] = dense / norms[start : start + BLOCK, None]
    return out


def _mapped(path: Path) -> np.ndarray:
    try:
        return np.load(regular_file(path), mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{path} is missing or damaged: {error}; filter the features again") from None

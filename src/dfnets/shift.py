"""The shift: the operator that every filter here is a function of."""

from __future__ import annotations

import copy
import itertools
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp

from dfnets import spectrum, storage
from dfnets.graph import Graph

if TYPE_CHECKING:
    from dfnets.distributed.halo import HaloExchange

LMax = Literal["bound", "lanczos"] | float
Centre = Literal["middle"] | float

# Entries of a matrix that are worked on at a time where it may not fit into memory.
BLOCK = 2**22


class Shift:
    """L~ = L^ - c I, with L^ = I - D^-1/2 (A + I) D^-1/2 and D the degrees of A + I.

    The eigenvalues of L^ are the graph's *frequencies*. They lie in [0, 2 - 2 / d_max], d_max the largest weighted
    degree with the self-loop counted, because D - (A + I) and D + A - I are both sums of squares. ``interval`` holds
    them all; frequencies are always those of L^, whatever the centre c. Multiplies by ``shift @ x``.

    Args:
        graph: isolated nodes are fine: their frequency is 0.
        centre: c; ``"middle"`` is scaled-normalization, c = lmax / 2.
        lmax: ``"bound"`` (2 - 2 / d_max, proved), ``"lanczos"`` (a Ritz value enlarged so that it fails to bound the
            spectrum with probability ``failure`` at most, and never above the proved bound), or a number.
        failure: that probability.
        steps: Lanczos steps; the process holds that many vectors of n.
        seed: of the Lanczos start.

    Attributes:
        indptr, indices, values: the off-diagonal part of L^ in CSR form, -w_ij / sqrt(d_i d_j). The pattern is the
            graph's own arrays, not a copy, when the graph has no self-loops.
        diagonal: (n,) the diagonal of L^, 1 - (1 + w_ii) / d_i.
        interval: (0, lmax).
        certainty: what is known of the interval: ``"proved"``, ``"given"``, or ``"with probability 1 - 1e-10"``.

    >>> shift = Shift(Graph(np.array([[0, 1], [1, 0]])))
    >>> shift
    Shift(nodes=2, centre=0.5, interval=[0, 1], proved)
    >>> shift @ np.array([1.0, -1.0])  # frequency 1, seen from the centre
    array([ 0.5, -0.5])
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    diagonal: np.ndarray
    centre: float
    interval: tuple[float, float]
    certainty: str
    # Brings the values of bordering nodes where other processes hold them; see :mod:`dfnets.distributed`.
    exchange: HaloExchange | None = None

    def __init__(
        self,
        graph: Graph,
        *,
        centre: Centre = "middle",
        lmax: LMax = "bound",
        failure: float = 1e-10,
        steps: int = 100,
        seed: int = 0,
    ) -> None:
        self.indptr, self.indices, self.values, self.diagonal, largest_degree = _laplacian(graph)
        proved = 2 - 2 / largest_degree
        self.centre, self.interval, self.certainty = 0.0, (0.0, proved), "proved"
        if lmax == "lanczos":
            top = self._lanczos_bound(failure, steps, seed)
            if top < proved:
                self.interval, self.certainty = (0.0, top), f"with probability 1 - {failure:g}"
        elif lmax != "bound":
            top = _number(lmax, "lmax", "'bound' or 'lanczos'")
            self._check_given(top)
            self.interval, self.certainty = (0.0, top), "proved" if top >= proved else "given"
        self.centre = self.interval[1] / 2 if centre == "middle" else _number(centre, "centre", "'middle'")

    def recentred(self, centre: float) -> Shift:
        """The same operator seen from another centre; shares every array."""
        other = copy.copy(self)
        other.centre = _number(centre, "centre", "a number")
        return other

    @property
    def num_nodes(self) -> int:
        """n, the number of nodes of the graph."""
        return len(self.diagonal)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n), as of a matrix."""
        return (self.num_nodes, self.num_nodes)

    @property
    def longest_row(self) -> int:
        """The most entries off the diagonal that any row has: the largest number of neighbours."""
        return int(np.diff(self.indptr).max(initial=0))

    @property
    def diagonal_range(self) -> tuple[float, float]:
        """The smallest and the largest entry on the diagonal of L^."""
        return (float(self.diagonal.min()), float(self.diagonal.max())) if len(self.diagonal) else (0.0, 0.0)

    @property
    def radius(self) -> float:
        """The largest |L~| on the interval: max |frequency - centre|."""
        return max(abs(self.interval[0] - self.centre), abs(self.interval[1] - self.centre))

    def __repr__(self) -> str:
        interval = f"[{self.interval[0]:.6g}, {self.interval[1]:.6g}]"
        return f"Shift(nodes={self.num_nodes}, centre={self.centre:.6g}, interval={interval}, {self.certainty})"

    def _repr_html_(self) -> str:
        from dfnets.filters.show import shift_html

        return shift_html(self)

    def __matmul__(self, x: Any) -> Any:
        """L~ x for (n,) or (n, k) arrays; the product itself is the engine's."""
        from dfnets import engine

        return engine.step(self, x)

    def tocsr(self) -> sp.csr_array:
        """L~ as a SciPy matrix."""
        off = sp.csr_array((self.values, self.indices, self.indptr), shape=self.shape)
        return sp.csr_array(off + sp.diags_array(self.diagonal - self.centre))

    def density(self, *, probes: int = 8, steps: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Frequencies and weights (they sum to 1) that stand for the spectrum of L^; see :func:`spectrum.density`."""
        return spectrum.density(self.recentred(0.0).__matmul__, self.num_nodes, probes=probes, steps=steps, seed=seed)

    def _lanczos_bound(self, failure: float, steps: int, seed: int) -> float:
        if not 0 < failure < 1:
            raise ValueError(f"failure={failure} is not a probability between 0 and 1")
        if steps < 2:
            raise ValueError(f"steps={steps}: Lanczos needs at least 2 steps")
        return spectrum.largest_eigenvalue(self.__matmul__, self.num_nodes, steps=steps, failure=failure, seed=seed)[1]

    def _check_given(self, lmax: float) -> None:
        if not 0 <= lmax <= 2:
            raise ValueError(f"lmax={lmax:g}: the largest frequency is between 0 and 2; or pass 'bound' or 'lanczos'")
        if lmax < self.interval[1]:
            # A Ritz value is never above the largest eigenvalue: a few steps can refute the claim, though not prove it.
            ritz, _ = spectrum.largest_eigenvalue(self.__matmul__, self.num_nodes, steps=30, failure=0.5)
            if ritz > lmax * (1 + 1e-12):
                raise ValueError(
                    f"lmax={lmax:g}, but this graph has a frequency of at least {ritz:.6g}; pass 'lanczos'"
                )


def _laplacian(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    adjacency = graph.adjacency
    loops = adjacency.diagonal()
    degrees = graph.degrees + 1
    if loops.any():
        adjacency = sp.csr_array(adjacency - sp.diags_array(loops))
        adjacency.eliminate_zeros()
    values = _scaled(adjacency, 1 / np.sqrt(degrees))
    return adjacency.indptr, adjacency.indices, values, 1 - (1 + loops) / degrees, float(degrees.max())


def _scaled(adjacency: sp.csr_array, root: np.ndarray) -> np.ndarray:
    """-w_ij root_i root_j for every entry, some rows at a time: the matrix may be larger than memory."""
    indptr, indices, weights = adjacency.indptr, adjacency.indices, adjacency.data
    values = storage.like(weights)
    starts = np.unique(np.searchsorted(indptr, np.arange(0, len(indices), BLOCK), side="right") - 1)
    for start, end in itertools.pairwise([*starts.tolist(), len(root)]):
        entries = slice(int(indptr[start]), int(indptr[end]))
        rows = np.repeat(root[start:end], np.diff(indptr[start : end + 1]))
        values[entries] = -weights[entries] * rows * root[indices[entries]]
    return values


def _number(value: Any, name: str, words: str) -> float:
    if isinstance(value, str) or not np.isscalar(value) or not np.isfinite(value):
        raise ValueError(f"{name}={value!r}: it takes {words} or a finite number")
    return float(value)  # type: ignore[arg-type]

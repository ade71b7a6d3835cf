"""H M X for a few sparse rows of H, with nodes and entries of X dropped: what one step of mini-batch training reads.

A node is dropped, or an entry of X, where a hash of (seed, node, column) is below a threshold. So an entry is dropped
for all rows of a batch or for none, as if X had been thinned out beforehand, and yet only what the rows name is looked
at: no mask of the size of the graph is ever drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dfnets.compiled import njit

# Of 2^16: decisions are taken from 16 random bits, so that rates are multiples of 2^-16, as in dfnets.nn.batched.
STEPS = 1 << 16


def sampled_rows(
    rows: sp.csr_array,
    features: np.ndarray | sp.csr_array,
    places: np.ndarray,
    *,
    seeds: np.ndarray | None = None,
    node_rate: float = 0.0,
    entry_rate: float = 0.0,
) -> np.ndarray:
    """(B, S, f) sums_j h_ij M_s X_j for B rows i of H, once for each seed; float32.

    What is left of X is divided by (1 - node_rate) (1 - entry_rate), so that the mean over seeds is H X.

    Args:
        rows: (m, u), H.
        features: (u, f), X, dense or sparse, float32.
        places: (B,) numbers of rows of H.
        seeds: (S,) integers, 64 bits; None is one draw without dropping anything.
    """
    seeds = np.zeros(1, np.uint64) if seeds is None else np.asarray(seeds).astype(np.uint64)
    dropped = np.uint64(round(node_rate * STEPS)), np.uint64(round(entry_rate * STEPS))
    out = np.zeros((len(places), len(seeds), features.shape[1]), np.float32)
    pattern = rows.indptr, rows.indices, rows.data.astype(np.float32, copy=False), np.asarray(places, np.int64)
    if isinstance(features, sp.csr_array):
        _gather_sparse(*pattern, features.indptr, features.indices, features.data, seeds, *dropped, out)
    else:
        _gather_dense(*pattern, features, seeds, *dropped, out)
    out /= np.float32((1 - node_rate) * (1 - entry_rate))
    return out


@njit(cache=True, nogil=True)
def _mixed(x: Any) -> Any:
    """64 bits that look random for numbers that follow each other: the end of SplitMix64 (Steele et al., 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def _state(seed: Any, node: int) -> Any:
    """What the decisions about one node come from."""
    return _mixed(seed + np.uint64(node + 1) * np.uint64(0x9E3779B97F4A7C15))


@njit(cache=True, nogil=True)
def _gather_dense(
    indptr: Any,
    columns: Any,
    values: Any,
    places: Any,
    x: Any,
    seeds: Any,
    node_threshold: Any,
    entry_threshold: Any,
    out: Any,
) -> None:
    low = np.uint64(STEPS - 1)
    f = x.shape[1]
    for b in range(len(places)):
        for s in range(len(seeds)):
            sums = out[b, s]
            for place in range(indptr[places[b]], indptr[places[b] + 1]):
                node, value = columns[place], values[place]
                state = _state(seeds[s], node)
                if (state & low) < node_threshold:
                    continue
                if entry_threshold == 0:
                    for c in range(f):
                        sums[c] += value * x[node, c]
                    continue
                # Four decisions from every 64 bits.
                for start in range(0, f, 4):
                    bits = _mixed(state + np.uint64(start + 1))
                    for c in range(start, min(start + 4, f)):
                        if (bits & low) >= entry_threshold:
                            sums[c] += value * x[node, c]
                        bits >>= np.uint64(16)


@njit(cache=True, nogil=True)
def _gather_sparse(
    indptr: Any,
    columns: Any,
    values: Any,
    places: Any,
    x_indptr: Any,
    x_columns: Any,
    x_values: Any,
    seeds: Any,
    node_threshold: Any,
    entry_threshold: Any,
    out: Any,
) -> None:
    low = np.uint64(STEPS - 1)
    for b in range(len(places)):
        for s in range(len(seeds)):
            sums = out[b, s]
            for place in range(indptr[places[b]], indptr[places[b] + 1]):
                node, value = columns[place], values[place]
                state = _state(seeds[s], node)
                if (state & low) < node_threshold:
                    continue
                for entry in range(x_indptr[node], x_indptr[node + 1]):
                    c = x_columns[entry]
                    if entry_threshold == 0 or (_mixed(state + np.uint64(c + 1)) & low) >= entry_threshold:
                        sums[c] += value * x_values[entry]

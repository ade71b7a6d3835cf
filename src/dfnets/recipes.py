"""Two things that people do with a signal on a graph: take noise off, and fill in what is missing."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dfnets import responses
from dfnets.filters import LanczosFilter, frames
from dfnets.filters.checks import checked_number, checked_signal
from dfnets.graph import Graph

__all__ = ["denoise", "inpaint"]


def denoise(
    graph: Graph,
    x: Any,
    strength: float = 5.0,
    *,
    method: Literal["tikhonov", "heat", "wavelet"] = "tikhonov",
    tol: float = 1e-6,
) -> np.ndarray:
    """A smoother signal that is still close to the one that was measured.

    Args:
        x: (n,) or (n, k).
        strength: how much smoothness weighs; 0 leaves the signal as it is.
        method: one of

            * ``"tikhonov"``: the minimiser of norm(y - x)^2 + strength y' L^ y, that is (I + strength L^)^-1 x;
            * ``"heat"``: diffusion for the time ``strength``;
            * ``"wavelet"``: Meyer wavelet coefficients are drawn towards zero by ``strength`` times the noise level,
              which is read off the finest scale. It keeps edges that the other two blur; 2 to 3 is usual.
        tol: norm of the error of the filtering relative to that of x.

    >>> from dfnets import builders
    >>> denoise(builders.path(3), [1.0, 0.0, 1.0], strength=0.0).round(6).tolist()
    [1.0, 0.0, 1.0]
    """
    strength = checked_number(strength, "strength", least=0.0)
    signal = checked_signal(x, graph.num_nodes)
    if method == "tikhonov":
        # 1 / (1 + s f) is a / (a + (1 - a) f) with a = 1 / (1 + s).
        return LanczosFilter(responses.pagerank(1 / (1 + strength))).apply(graph, signal, tol=tol)
    if method == "heat":
        return LanczosFilter(responses.heat(strength)).apply(graph, signal, tol=tol)
    if method != "wavelet":
        raise ValueError(f"method={method!r} is not one of 'tikhonov', 'heat', 'wavelet'")
    frame = frames.meyer()
    parts = frame.analyse(graph, signal)
    # The median of |noise| is 0.6745 of its standard deviation; the finest scale is nearly all noise.
    gain = np.sqrt(np.mean(frame.response(np.linspace(*frame.interval, 501))[-1] ** 2))
    level = np.median(np.abs(parts[-1]), axis=0) / (0.6745 * gain)
    bands = parts[1:]
    parts[1:] = np.sign(bands) * np.maximum(np.abs(bands) - strength * level * gain, 0)
    return frame.invert(graph, parts).astype(signal.dtype)


def inpaint(graph: Graph, x: Any, known: Any, *, tol: float = 1e-8) -> np.ndarray:
    """The smoothest signal that has the given values where they are known.

    It minimises sum_ij w_ij (y_i - y_j)^2, so that every unknown value is the weighted mean of its neighbours. The
    signal is not touched where it is known.

    Args:
        x: (n,) or (n, k); what it holds at unknown nodes does not matter, and may be NaN.
        known: (n,) booleans, True where x is to be kept.
        tol: of the residual of the linear system, relative to its right-hand side.

    >>> from dfnets import builders
    >>> inpaint(builders.path(4), [0.0, np.nan, np.nan, 3.0], [True, False, False, True]).round(6).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    mask = np.asarray(known)
    n = graph.num_nodes
    if mask.shape != (n,) or mask.dtype != bool:
        raise ValueError(f"known has shape {mask.shape} and type {mask.dtype}: it must be ({n},) of bool")
    values = np.array(x, dtype=np.float64)
    if values.ndim not in (1, 2) or len(values) != n:
        raise ValueError(f"x has shape {values.shape}, but the graph has {n} nodes; it must be ({n},) or ({n}, k)")
    values[~mask] = 0
    columns = checked_signal(values, n).reshape(n, -1)
    count, component = sp.csgraph.connected_components(graph.adjacency, directed=False)
    reached = np.zeros(count, dtype=bool)
    reached[component[mask]] = True
    if not reached[component].all():
        lost = int((~reached[component]).sum())
        raise ValueError(f"{lost} nodes are not joined to any known one, so nothing says what they should be")
    if not mask.all():
        columns[~mask] = _harmonic(graph, columns, mask, tol)
    return columns.reshape(values.shape)


def _harmonic(graph: Graph, columns: np.ndarray, mask: np.ndarray, tol: float) -> np.ndarray:
    """(D - A)_uu y = A_uk x, by conjugate gradients with the diagonal as preconditioner."""
    from scipy.sparse.linalg import LinearOperator, cg

    adjacency = sp.csr_array(graph.adjacency - sp.diags_array(graph.adjacency.diagonal()))
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()[~mask]
    inner = sp.csr_array(sp.diags_array(degrees) - adjacency[~mask][:, ~mask])
    right = adjacency[~mask][:, mask] @ columns[mask]
    precondition = LinearOperator(inner.shape, matvec=lambda v: v.ravel() / degrees)
    found = np.empty_like(right)
    for k in range(right.shape[1]):
        found[:, k], status = cg(inner, right[:, k], rtol=tol, M=precondition, maxiter=20 * len(degrees) + 100)
        if status:
            raise ArithmeticError(f"the smoothest signal was not found to tol={tol:g}: try a larger one")
    return found

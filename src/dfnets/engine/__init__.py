"""The engine: y = L~ x + c, fused, on what hardware there is."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dfnets.shift import Shift


def step(
    shift: Shift,
    x: np.ndarray,
    *,
    scale: float = 1.0,
    y: np.ndarray | None = None,
    beta: float = 1.0,
    z: np.ndarray | None = None,
    delta: float = 1.0,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """out = scale L~ x + beta y + delta z, in one pass; x, y, z, out are (n,) or (n, k) and of one dtype.

    ``out`` may be y or z (row i of the result reads only row i of them), never x.
    """
    off = sp.csr_array((shift.values.astype(x.dtype, copy=False), shift.indices, shift.indptr), shape=shift.shape)
    diagonal = (shift.diagonal - shift.centre).astype(x.dtype, copy=False)
    result = scale * (off @ x + (diagonal * x if x.ndim == 1 else diagonal[:, None] * x))
    if y is not None:
        result += beta * y
    if z is not None:
        result += delta * z
    result = result.astype(x.dtype, copy=False)
    if out is None:
        return result
    out[...] = result
    return out

"""Scaling of feature rows."""

from __future__ import annotations

from typing import Literal, TypeVar

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

Scaling = Literal["row", "unit", "none"]
Features = TypeVar("Features", np.ndarray, sp.csr_array)

_ORDERS = {"row": 1, "unit": 2}


def normalise(features: Features, how: Scaling) -> Features:
    """x_i / |x_i|, row by row; a row of zeros stays as it is.

    Args:
        features: (n, f), dense or sparse; the result is of the same kind, and of the same floating type.
        how: ``"row"`` divides by the sum of absolute values, ``"unit"`` by the 2-norm, ``"none"`` by nothing.

    >>> normalise(np.array([[3.0, 1.0], [0.0, 0.0]]), "row")
    array([[0.75, 0.25], [0. , 0. ]])
    """
    if how == "none":
        return features
    if how not in _ORDERS:
        raise ValueError(f"how={how!r} is not one of 'row', 'unit', 'none'")
    dtype = features.dtype if features.dtype.kind == "f" else np.dtype(np.float64)
    # In double precision: squares of small single-precision features underflow.
    if not sp.issparse(features):
        norms = np.linalg.norm(features.astype(np.float64, copy=False), ord=_ORDERS[how], axis=1)
        return (features / np.where(norms > 0, norms, 1)[:, None]).astype(dtype, copy=False)
    matrix = sp.csr_array(features)
    norms = scipy.sparse.linalg.norm(matrix.astype(np.float64), ord=_ORDERS[how], axis=1)
    values = matrix.data / np.repeat(np.where(norms > 0, norms, 1), np.diff(matrix.indptr))
    return sp.csr_array((values.astype(dtype, copy=False), matrix.indices, matrix.indptr), shape=matrix.shape)

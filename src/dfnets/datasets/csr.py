"""Sparse matrices from arrays that a stranger wrote: checked before SciPy sees them.

SciPy's compiled routines trust the pattern of a matrix; a wrong one makes them read and write outside their arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def csr_array(data: Any, indices: Any, indptr: Any, shape: Any, name: str) -> sp.csr_array:
    """The CSR matrix of four arrays, or a ValueError that says what is wrong with which of them.

    Args:
        data: (nnz,) numbers.
        indices: (nnz,) whole numbers, the column of each entry.
        indptr: (rows + 1,) whole numbers, where each row starts.
        shape: (rows, columns).
        name: of the matrix, for messages.
    """
    data, indices, indptr = (np.asarray(array) for array in (data, indices, indptr))
    sizes = np.asarray(shape)
    if sizes.shape != (2,) or sizes.dtype.kind not in "iu" or (sizes < 0).any():
        raise ValueError(
            f"{name}: its shape {np.array2string(sizes, threshold=4)} is not a number of rows and one of columns"
        )
    rows, columns = (int(size) for size in sizes)
    for part, array, kinds in (("data", data, "fiub"), ("indices", indices, "iu"), ("indptr", indptr, "iu")):
        if array.ndim != 1 or array.dtype.kind not in kinds:
            wanted = "numbers" if part == "data" else "whole numbers"
            raise ValueError(
                f"{name}: its {part} has shape {array.shape} and type {array.dtype}, not one row of {wanted}"
            )
    if len(indptr) != rows + 1 or len(data) != len(indices):
        raise ValueError(
            f"{name}: its index pointer has {len(indptr)} entries for {rows} rows, and there are {len(data)} values "
            f"for {len(indices)} columns; it takes one more than rows, and as many values as columns"
        )
    pointer = indptr.astype(np.int64)
    if pointer[0] != 0 or pointer[-1] != len(indices) or (np.diff(pointer) < 0).any():
        raise ValueError(f"{name}: its index pointer does not rise from 0 to {len(indices)}, the number of entries")
    if len(indices) and not (int(indices.min()) >= 0 and int(indices.max()) < columns):
        raise ValueError(f"{name}: it has an entry in column {int(indices.max())} or below 0, but {columns} columns")
    return sp.csr_array((data, indices, indptr), shape=(rows, columns))

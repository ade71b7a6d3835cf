"""Pickles of the Planetoid files, read without running anything that they name."""

from __future__ import annotations

import collections
import io
import pickle
from typing import Any

import numpy as np
import scipy.sparse as sp

_RECONSTRUCT = np.empty(0).__reduce__()[0]

# All that those files need, under the names of the Python 2 that wrote them and of today.
_ALLOWED: dict[tuple[str, str], Any] = {
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
    ("collections", "defaultdict"): collections.defaultdict,
    ("numpy", "dtype"): np.dtype,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy.core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy._core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("scipy.sparse.csr", "csr_matrix"): sp.csr_matrix,
    ("scipy.sparse._csr", "csr_matrix"): sp.csr_matrix,
}


class RefusedPickle(pickle.UnpicklingError):
    """The pickle names something that is not on the allow-list; nothing of it was called."""


class _AllowListUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        # Looked up in the table, never imported: an import runs code too.
        if (module, name) not in _ALLOWED:
            raise RefusedPickle(f"it asks for {module}.{name}, which no dataset needs")
        return _ALLOWED[module, name]


def loads(data: bytes, file: str) -> Any:
    """The arrays, sparse matrix or neighbour lists in a pickle; ``file`` is its name for messages.

    Raises:
        RefusedPickle: when it names any other class or function.
    """
    try:
        # Python 2 strings hold the bytes of the arrays; latin1 keeps each byte as it is.
        return _AllowListUnpickler(io.BytesIO(data), encoding="latin1").load()
    except RefusedPickle as error:
        raise RefusedPickle(f"{file} is refused: {error}") from None

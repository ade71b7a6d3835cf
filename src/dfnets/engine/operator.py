"""A shift as the arrays a back end multiplies with: one dtype, one device, converted once."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dfnets.shift import Shift

if TYPE_CHECKING:
    import torch


class Operator(NamedTuple):
    """L~ = A + diag(d - centre): A (n, n) in CSR form (``indptr``, ``indices``, ``values``), d (n,) the ``diagonal``.

    NumPy arrays or torch tensors, all on one device; ``values`` and ``diagonal`` of one dtype.
    """

    indptr: Any
    indices: Any
    values: Any
    diagonal: Any
    centre: float


def arrays(shift: Shift, dtype: np.dtype) -> Operator:
    """The shift for NumPy: its own arrays, or copies in ``dtype`` that live as long as they do."""
    values, diagonal = shift.values, shift.diagonal
    if dtype != values.dtype:
        values, diagonal = _kept(shift.values, dtype, lambda: (values.astype(dtype), diagonal.astype(dtype)))
    return Operator(shift.indptr, shift.indices, values, diagonal, shift.centre)


def tensors(shift: Shift, device: torch.device, dtype: torch.dtype) -> Operator:
    """The shift for torch: the arrays of the CPU shared, those of another device copied once."""
    import torch

    if device.type == "cpu":
        shared = arrays(shift, torch.empty(0, dtype=dtype).numpy().dtype)
        indptr, indices, values, diagonal = (torch.from_numpy(array) for array in shared[:4])
        return Operator(indptr, indices, values, diagonal, shift.centre)
    parts = (shift.indptr, shift.indices, shift.values, shift.diagonal)

    def copy() -> tuple[torch.Tensor, ...]:
        # tensor(), not from_numpy(): what is kept must not hold on to the shift's arrays.
        return tuple(torch.tensor(p, device=device, dtype=dtype if p.dtype.kind == "f" else None) for p in parts)

    indptr, indices, values, diagonal = _kept(shift.values, (device, dtype), copy)
    return Operator(indptr, indices, values, diagonal, shift.centre)


# Copies by the id of the values that they are copies of. Recentred shifts share their arrays, hence their copies.
_COPIES: dict[int, dict[Hashable, Any]] = {}


def _kept(owner: np.ndarray, key: Hashable, make: Callable[[], Any]) -> Any:
    """make(), once a key, for as long as ``owner`` lives; arrays have no hash, so a finaliser stands for a weak key."""
    if id(owner) not in _COPIES:
        _COPIES[id(owner)] = {}
        weakref.finalize(owner, _COPIES.pop, id(owner), None).atexit = False
    kept = _COPIES[id(owner)]
    if key not in kept:
        kept[key] = make()
    return kept[key]

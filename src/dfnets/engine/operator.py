"""A shift as the arrays a back end multiplies with: one dtype, one device, converted once."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dfnets.engine import schedules
from dfnets.shift import Shift

if TYPE_CHECKING:
    import torch


class Operator(NamedTuple):
    """L~ = A + diag(d - centre): A (n, n) in CSR form (``indptr``, ``indices``, ``values``), d (n,) the ``diagonal``.

    NumPy arrays or torch tensors, all on one device; ``values`` and ``diagonal`` of one dtype. The ``schedule`` says
    how the device's kernels share out the rows (:mod:`dfnets.engine.schedules`); without one, as they come.
    """

    indptr: Any
    indices: Any
    values: Any
    diagonal: Any
    centre: float
    schedule: tuple[Any, ...] = ()

    @classmethod
    def of(cls, parts: Sequence[Any], centre: float) -> Operator:
        """The operator whose :meth:`parts` these are."""
        indptr, indices, values, diagonal, *schedule = parts
        return cls(indptr, indices, values, diagonal, centre, tuple(schedule))

    def parts(self) -> list[Any]:
        """All arrays, in the order in which the torch operators take them."""
        return [*self[:4], *self.schedule]


def arrays(shift: Shift, dtype: np.dtype) -> Operator:
    """The shift for NumPy: its own arrays, or copies in ``dtype`` that live as long as they do."""
    kept = _COPIES.get(id(shift.values), _NOTHING).get(dtype)
    if kept is None:
        kept = _kept(shift.values, dtype, lambda: _converted(shift, dtype))
    values, diagonal, schedule = kept
    if values is None:
        # Its own: what is kept must not hold on to them.
        values, diagonal = shift.values, shift.diagonal
    return Operator(shift.indptr, shift.indices, values, diagonal, shift.centre, schedule)


def _converted(shift: Shift, dtype: np.dtype) -> tuple[Any, ...]:
    schedule = _kept(shift.values, "rows by length", lambda: schedules.rows_by_length(shift.indptr))
    if dtype == shift.values.dtype:
        return None, None, schedule
    return shift.values.astype(dtype), shift.diagonal.astype(dtype), schedule


def recalled(shift: Shift, x: np.ndarray) -> Any:
    """What :func:`recall` keeps for signals like x: a step of a small graph that needs no more checks; None without."""
    return _COPIES.get(id(shift.values), _NOTHING).get((x.dtype, x.shape, shift.centre))


def recall(shift: Shift, x: np.ndarray, backend: Any) -> None:
    """Keep what a back end can prepare for steps on signals of the dtype and shape of x, which has been checked.

    One signal of a small graph takes a few microseconds, and checks would take as many at every call.
    """
    prepare = getattr(backend, "small_step", None)
    if prepare is not None:
        values, diagonal, schedule = _kept(shift.values, x.dtype, lambda: _converted(shift, x.dtype))
        step = prepare(len(shift.indices), values, diagonal, shift.centre, schedule, x.shape, x.dtype)
        _kept(shift.values, (x.dtype, x.shape, shift.centre), lambda: step)


def tensors(shift: Shift, device: torch.device, dtype: torch.dtype) -> Operator:
    """The shift for torch: the arrays of the CPU shared, those of another device copied once."""
    import torch

    if device.type == "cpu":
        shared = arrays(shift, torch.empty(0, dtype=dtype).numpy().dtype)
        indptr, indices, values, diagonal = (torch.from_numpy(array) for array in shared[:4])
        schedule = tuple(torch.from_numpy(array) for array in shared.schedule)
        return Operator(indptr, indices, values, diagonal, shift.centre, schedule)

    def copy(*parts: np.ndarray) -> tuple[torch.Tensor, ...]:
        # tensor(), not from_numpy(): what is kept must not hold on to the shift's arrays.
        return tuple(torch.tensor(p, device=device, dtype=dtype if p.dtype.kind == "f" else None) for p in parts)

    owner = shift.values
    indptr, indices = _kept(owner, device, lambda: copy(shift.indptr, shift.indices))
    values, diagonal = _kept(owner, (device, dtype), lambda: copy(shift.values, shift.diagonal))
    schedule = _kept(owner, (device, "levels"), lambda: on_device(schedules.levels(shift.indptr), device))
    return Operator(indptr, indices, values, diagonal, shift.centre, schedule)


def on_device(levels: tuple[np.ndarray, ...], device: torch.device) -> tuple[torch.Tensor, ...]:
    """A GPU's schedule as tensors; the counts stay on the host, which sizes memory by them."""
    import torch

    counts, *others = levels
    return torch.from_numpy(counts), *(torch.from_numpy(level).to(device) for level in others)


# Copies by the id of the values that they are copies of. Recentred shifts share their arrays, hence their copies.
_COPIES: dict[int, dict[Hashable, Any]] = {}
_NOTHING: dict[Hashable, Any] = {}


def _kept(owner: np.ndarray, key: Hashable, make: Callable[[], Any]) -> Any:
    """make(), once a key, for as long as ``owner`` lives; arrays have no hash, so a finaliser stands for a weak key."""
    if id(owner) not in _COPIES:
        _COPIES[id(owner)] = {}
        weakref.finalize(owner, _COPIES.pop, id(owner), None).atexit = False
    kept = _COPIES[id(owner)]
    if key not in kept:
        kept[key] = make()
    return kept[key]

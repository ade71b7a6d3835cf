"""Copies of a shift are made once, shared by its recentred kin, and gone with it."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import torch

from dfnets import Graph, Shift
from dfnets.engine import operator


def ring(n: int = 6) -> Shift:
    return Shift(Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n))


def test_the_shifts_own_arrays_are_used_where_the_dtype_is_theirs():
    shift = ring()
    mine = operator.arrays(shift, np.dtype(np.float64))
    assert mine.values is shift.values
    assert mine.indices is shift.indices
    assert operator.tensors(shift, torch.device("cpu"), torch.float64).values.data_ptr() == shift.values.ctypes.data


def test_a_copy_is_made_once_and_shared_across_centres():
    shift = ring()
    first, second = (operator.arrays(s, np.dtype(np.float32)) for s in (shift, shift.recentred(0.3)))
    assert first.values is second.values
    assert first.diagonal is second.diagonal
    assert (first.centre, second.centre) == (shift.centre, 0.3)
    tensor = operator.tensors(shift, torch.device("cpu"), torch.float32).values
    assert tensor.data_ptr() == first.values.ctypes.data


def test_copies_die_with_the_last_shift_that_has_the_arrays():
    shift = ring()
    copy = weakref.ref(operator.arrays(shift, np.dtype(np.float32)).values)
    kin = shift.recentred(0.1)
    del shift
    gc.collect()
    assert copy() is not None
    del kin
    gc.collect()
    assert copy() is None


def test_nothing_is_kept_of_many_shifts():
    gc.collect()
    before = len(operator._COPIES)
    for _ in range(20):
        operator.arrays(ring(), np.dtype(np.float32))
    gc.collect()
    assert len(operator._COPIES) == before

"""What ``torch.compile`` needs of the engine, imported only while it compiles: its compiler takes seconds to load."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from dfnets.engine import operator
from dfnets.shift import Shift


@torch.compiler.assume_constant_result
def constant_graph(address: int, device: torch.device, dtype: torch.dtype) -> list[Tensor]:
    """The graph's tensors as constants of a compiled function, which is compiled again when it meets another shift.

    The compiler would trace the shift's arrays as data of the call. It takes an id() for a constant and guards it, so
    that is what it is given; while it traces, the caller holds the shift, and the address is good.
    """
    shift: Shift = ctypes.cast(address, ctypes.py_object).value
    return operator.tensors(shift, device, dtype).parts()

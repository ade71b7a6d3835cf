"""Whether R networks trained together are, to the last bit, R networks trained alone; asked of the machine itself.

On a CPU the products of :mod:`dfnets.nn.batched` go through the BLAS that torch was built with. Replica r of (n, R, c)
activations has the same numbers as a network alone, but its rows lie R c apart in memory, and a BLAS may choose its
kernel, and so the order of its sums, by that distance. Intel's MKL does so on some CPUs unless its reproducibility
mode is on, which ``import dfnets`` asks for (``MKL_CBWR=AUTO,STRICT``; without ``STRICT`` the bits of a tall product
follow the number of threads on CPUs of Intel). That comes too late where torch has multiplied before, and says nothing
to another BLAS, so what holds is found out by trying.
"""

from __future__ import annotations

import os
import warnings
from functools import cache

import torch

from dfnets.nn import batched

# (rows, inner size, columns): tall and short, even and odd, products of layers and of their gradients.
SHAPES = [(2708, 16, 7), (2708, 7, 5), (16, 2708, 7), (7, 2708, 5), (15, 5, 7), (300, 64, 64), (64, 300, 16)]


@cache
def replicas_are_exact() -> bool:
    """Whether the products of a replica have the same bits with others beside it as alone, on this CPU and this BLAS.

    Tried on a few products, once per process; it takes milliseconds.
    """
    stream = torch.Generator().manual_seed(0)
    for rows, inner, columns in SHAPES:
        x = torch.randn(rows, 3, inner, generator=stream)
        weight = batched.empty_weight(3, inner, columns).copy_(torch.randn(3, inner, columns, generator=stream))
        together = batched.products(x.transpose(0, 1), weight)
        for r in range(3):
            alone = batched.products(x[None, :, r].contiguous(), weight[r : r + 1].contiguous())
            if not torch.equal(together[:, r], alone[:, 0]):
                return False
    return True


def warn_unless_exact() -> None:
    """Warns, before several replicas are trained on a CPU, where they equal single runs to rounding only."""
    if replicas_are_exact():
        return
    mode = os.environ.get("MKL_CBWR")
    warnings.warn(
        f"with MKL_CBWR={mode!r} the matrix products of this CPU depend on where their operands lie in memory, so "
        "replicas trained together equal single runs to rounding only, not to the last bit; to have the same bits, "
        "set MKL_CBWR=AUTO,STRICT before Python starts, or import dfnets before torch computes anything",
        RuntimeWarning,
        stacklevel=3,
    )

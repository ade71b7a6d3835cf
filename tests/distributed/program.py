"""What each process of a test runs under torchrun: ``program.py FOLDER``; rank 0 writes what came out."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import torch

import dfnets
from dfnets import filters
from dfnets.distributed import RowBlockShift, apply_columns, processes
from dfnets.distributed.group import gather_tensors


def main() -> None:
    folder = Path(sys.argv[1])
    f = filters.load(folder / "filter.json")
    x = np.load(folder / "x.npy", mmap_mode="r")
    with processes() as (rank, world):
        found = {"columns": apply_columns(f, dfnets.Graph.open(folder / "graph"), x, tol=1e-8)}
        shift = RowBlockShift(folder / f"parts-{world}")
        own = np.ascontiguousarray(x[shift.nodes])
        for method in ("chebyshev", "recursion"):
            # Once without overlap: the numbers must be the same to the bit.
            shift.exchange.overlap = False
            waited = f.apply(shift, own, tol=1e-8, method=method)
            shift.exchange.overlap, shift.exchange.values_sent = True, 0
            done = f.apply(shift, own, tol=1e-8, method=method, details=True)
            np.testing.assert_array_equal(done.signal, waited)
            sent = shift.exchange.values_sent / (done.products * x.shape[1])
            found[method] = shift.gather(done.signal)
            found[f"{method}_sent"] = np.array(
                [float(one["sent"]) for one in gather_tensors({"sent": torch.tensor(sent)})]
            )
        if rank == 0:
            np.savez(folder / f"out-{world}.npz", **found)


if __name__ == "__main__":
    main()
    # Seldom, a thread of torch aborts the interpreter when it ends, and all work is done by then.
    sys.stdout.flush()
    os._exit(0)

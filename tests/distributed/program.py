"""What each process of a test runs under torchrun: ``program.py FOLDER WAY``; rank 0 writes what came out."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

import dfnets
from dfnets import filters
from dfnets.distributed import RowBlockShift, apply_columns
from dfnets.distributed.processes import gather_tensors


def main() -> None:
    folder, way = Path(sys.argv[1]), sys.argv[2]
    dist.init_process_group("gloo")
    f = filters.load(folder / "filter.json")
    x = np.load(folder / "x.npy", mmap_mode="r")
    sent = 0.0
    if way == "columns":
        y = apply_columns(f, dfnets.Graph.open(folder / "graph"), x, tol=1e-8)
    else:
        shift = RowBlockShift(folder / "parts")
        # Once without overlap: the numbers must be the same to the bit.
        shift.exchange.overlap = False
        waited = f.apply(shift, np.ascontiguousarray(x[shift.nodes]), tol=1e-8, method=way)
        shift.exchange.overlap, shift.exchange.values_sent = True, 0
        own = f.apply(shift, np.ascontiguousarray(x[shift.nodes]), tol=1e-8, method=way, details=True)
        np.testing.assert_array_equal(own.signal, waited)
        y, sent = shift.gather(own.signal), shift.exchange.values_sent / (own.products * x.shape[1])
    volumes = [float(one["sent"]) for one in gather_tensors({"sent": torch.tensor(sent)})]
    if dist.get_rank() == 0:
        np.savez(folder / "out.npz", y=y, sent=volumes)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

"""What each process of a test runs under torchrun: ``program.py FOLDER WAY``; rank 0 writes what came out."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch.distributed as dist

import dfnets
from dfnets import filters
from dfnets.distributed import RowBlockShift, apply_columns


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
        own = f.apply(shift, np.ascontiguousarray(x[shift.nodes]), tol=1e-8, method=way, details=True)
        y, sent = shift.gather(own.signal), shift.exchange.values_sent / (own.products * x.shape[1])
    volumes: list[float] = [0.0] * dist.get_world_size()
    dist.all_gather_object(volumes, sent)
    if dist.get_rank() == 0:
        np.savez(folder / "out.npz", y=y, sent=volumes)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

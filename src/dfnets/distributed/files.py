"""Results of many processes in one file."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

from dfnets.atomic import replacing
from dfnets.distributed.group import gather_tensors
from dfnets.distributed.row_blocks import RowBlockShift


def write_rows(path: Path, shift: RowBlockShift, own: np.ndarray) -> None:
    """Writes (n,) or (n, k) values into one .npy, each process the rows of its nodes; all must see the same disk.

    The file appears when it is complete. No process holds more than its own rows.
    """
    first = dist.get_rank() == 0
    shape = (shift.total_nodes, *own.shape[1:])
    with replacing(path) if first else nullcontext(Path()) as temporary:
        if first:
            np.lib.format.open_memmap(temporary, mode="w+", dtype=own.dtype, shape=shape).flush()
        name = np.frombuffer(str(temporary).encode(), dtype=np.uint8).copy()
        place = bytes(gather_tensors({"name": torch.from_numpy(name)})[0]["name"].numpy()).decode()
        file = np.lib.format.open_memmap(place, mode="r+")
        file[shift.nodes] = own
        file.flush()
        # The file gets its name when every process has written its rows.
        dist.barrier()

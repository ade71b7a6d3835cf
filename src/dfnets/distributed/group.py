"""The processes that torchrun started: joining them, and what they tell each other beside the halo."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import safetensors.torch
import torch
import torch.distributed as dist
from torch import Tensor

# How long a process waits for another: one may read a large part of a graph meanwhile.
PATIENCE = timedelta(minutes=30)
# Numbers that are summed at a time, so that a copy from each process takes little memory.
BLOCK = 1 << 20
# Groups that this process has joined, one after the other; each has a place of its own to meet.
_GROUPS = itertools.count()


class NotDistributedError(RuntimeError):
    """There is one process only: torchrun has not started this one."""


@contextmanager
def processes() -> Iterator[tuple[int, int]]:
    """Joins the processes that ``torchrun`` started, for the time of a ``with`` block: (own number, how many).

    Where the script has called ``init_process_group`` itself, that group is used, and left as it is.

    Raises:
        NotDistributedError: where torchrun has not started this process.
    """
    if dist.is_initialized():
        yield dist.get_rank(), dist.get_world_size()
        return
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        raise NotDistributedError(
            "there is one process only; start with `torchrun --nproc-per-node 2 SCRIPT`, or `torchrun ... -m dfnets`"
        )
    dist.init_process_group("gloo", timeout=PATIENCE, **_meeting_place())
    try:
        yield dist.get_rank(), dist.get_world_size()
        # None leaves while another may still read from it.
        dist.barrier()
    finally:
        dist.destroy_process_group()


def _meeting_place() -> dict[str, Any]:
    """Where the processes of this attempt find each other, where torchrun would send them to those of the last one.

    On one machine torchrun keeps one store for all attempts, with the addresses of processes that are dead. On several
    it does so, too, and the number of the attempt is not the same on all of them: set
    ``TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1`` before ``torchrun`` there.
    """
    env = os.environ
    shared = env.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    if not shared or env.get("LOCAL_WORLD_SIZE") != env["WORLD_SIZE"]:
        return {}
    rank, count = int(env["RANK"]), int(env["WORLD_SIZE"])
    store = dist.TCPStore(env["MASTER_ADDR"], int(env["MASTER_PORT"]), count, is_master=False, timeout=PATIENCE)
    attempt = f"attempt {env.get('TORCHELASTIC_RESTART_COUNT', '0')}, group {next(_GROUPS)}"
    return {"store": dist.PrefixStore(attempt, store), "rank": rank, "world_size": count}


def ordered_sum(values: Tensor) -> Tensor:
    """The sum over all processes, in the order of their numbers: the same bits on each of them, and in every run."""
    flat = values.detach().contiguous().flatten()
    total = torch.empty_like(flat)
    for start in range(0, len(flat), BLOCK):
        own = flat[start : start + BLOCK]
        pieces = [torch.empty_like(own) for _ in range(dist.get_world_size())]
        dist.all_gather(pieces, own)
        block = total[start : start + BLOCK]
        block.copy_(pieces[0])
        for piece in pieces[1:]:
            block.add_(piece)
    return total.view(values.shape)


def gather_tensors(tensors: Mapping[str, Tensor]) -> list[dict[str, Tensor]]:
    """What each process passed, in the order of their numbers; every process gets all of it."""
    packed = safetensors.torch.save({name: tensor.contiguous() for name, tensor in tensors.items()})
    own = torch.frombuffer(bytearray(packed), dtype=torch.uint8)
    lengths = [torch.zeros(1, dtype=torch.int64) for _ in range(dist.get_world_size())]
    dist.all_gather(lengths, torch.tensor([len(own)]))
    found = []
    for source, length in enumerate(lengths):
        piece = own if source == dist.get_rank() else torch.empty(int(length), dtype=torch.uint8)
        dist.broadcast(piece, source)
        found.append(safetensors.torch.load(piece.numpy().tobytes()))
    return found

"""Networks shared out among processes that all hold the graph: nothing is sent while they train."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from dfnets.datasets.splits import Split
from dfnets.distributed.group import gather_tensors
from dfnets.graph import Graph
from dfnets.models import Model
from dfnets.training import CrossValidated, fit, train
from dfnets.training.fitting import Result, chosen_splits
from dfnets.training.history import History
from dfnets.training.loop import Trainer
from dfnets.training.networks import Share


class ProcessShare(Share):
    """Each process trains some of the networks, and all see what the others' make of held-out nodes."""

    def own(self, count: int) -> range:
        """Numbers of the networks that this process trains, out of ``count``; neighbours, as even as can be."""
        world, rank = dist.get_world_size(), dist.get_rank()
        if count < world:
            raise ValueError(f"there are {count} networks and {world} processes: start at most {count} processes")
        ends = np.linspace(0, count, world + 1).round().astype(int)
        return range(int(ends[rank]), int(ends[rank + 1]))

    def merged(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Those of all processes, which have different names."""
        return {name: tensor for piece in gather_tensors(tensors) for name, tensor in piece.items()}

    def joined(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """(R, ...) tensors of all networks, from those of each process's own."""
        pieces = gather_tensors(tensors)
        return {name: torch.cat([piece[name] for piece in pieces]) for name in pieces[0]}


@dataclass
class AllNetworks:
    """The networks of all processes after training, as :class:`dfnets.training.Result` reads them of a trainer."""

    model: Model
    device: torch.device
    best_epoch: np.ndarray
    best: dict[str, Tensor]
    final: dict[str, Tensor]

    def weights(self, rule: str) -> dict[str, Tensor]:
        """The (R, ...) tensors of the rule ``"final"`` or ``"validation"``."""
        return self.best if rule == "validation" else self.final


def fit_replicas(
    model: str,
    graph: Graph,
    *,
    protocol: str | Split | Sequence[Split] = "planetoid",
    replicas: int = 10,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = True,
    **options: Any,
) -> Result:
    """:func:`dfnets.fit` with the replicas shared out: every process gets the result of all, equal to one's to the bit.

    Args:
        graph: the same on every process.
        checkpoint: of the replicas of one process; its number is added to the name of the file.
        progress: of process 0.
        protocol, replicas, seed, options: as in :func:`dfnets.fit`.
    """
    share = ProcessShare()
    own = share.own(replicas)
    chosen = chosen_splits(graph, protocol, replicas, seed)
    mine, given = graph, cast(Any, [chosen[r] for r in own])
    if isinstance(protocol, str) and protocol in graph.splits:
        # By its name, because published splits are taken as they are; the first is that of the first own replica.
        draws = graph.splits[protocol]
        first = own.start % len(draws)
        mine, given = graph.with_(splits={**graph.splits, protocol: draws[first:] + draws[:first]}), protocol
    result = fit(
        model,
        mine,
        protocol=given,
        replicas=len(own),
        seed=seed + own.start,
        checkpoint=None if checkpoint is None else f"{os.fspath(checkpoint)}.{dist.get_rank()}",
        progress=progress and dist.get_rank() == 0,
        **options,
    )
    networks = _all_networks(result, share)
    seeds = tuple(range(seed, seed + replicas))
    return replace(
        result,
        graph=graph,
        splits=tuple(chosen),
        seeds=seeds,
        history=_joined_history(result.history),
        _trainer=cast(Trainer, networks),
    )


def train_folds(graph: Graph, *, progress: bool = True, **options: Any) -> CrossValidated:
    """:func:`dfnets.train` with the networks of all folds shared out: the same on every process, to the bit.

    Args:
        graph: the same on every process.
        progress: of process 0.
        options: as in :func:`dfnets.train`.
    """
    return train(graph, share=ProcessShare(), progress=progress and dist.get_rank() == 0, **options)


def _all_networks(result: Result, share: ProcessShare) -> AllNetworks:
    trainer = result._trainer
    own: dict[str, Tensor] = {"best_epoch": torch.as_tensor(trainer.best_epoch)}
    for rule in ("validation", "final"):
        own |= {f"{rule}.{name}": tensor.detach().cpu() for name, tensor in trainer.weights(rule).items()}
    found = share.joined(own)

    def of(rule: str) -> dict[str, Tensor]:
        start = f"{rule}."
        return {name.removeprefix(start): value for name, value in found.items() if name.startswith(start)}

    return AllNetworks(trainer.model, torch.device("cpu"), found["best_epoch"].numpy(), of("validation"), of("final"))


def _joined_history(history: History) -> History:
    """Of all replicas; those of a process that stopped earlier than others have no numbers after that."""
    own = {name: torch.as_tensor(array) for name, array in history.arrays().items()}
    pieces = gather_tensors(own)
    epochs = max((piece["epochs"].numpy() for piece in pieces), key=len)
    tables = []
    for piece in pieces:
        table = piece["table"].numpy()
        tables.append(np.full((len(epochs), *table.shape[1:]), np.nan))
        tables[-1][: len(table)] = table
    return History.from_arrays({"epochs": epochs, "table": np.concatenate(tables, axis=2)})

"""``dfnets.fit`` on many processes: row blocks of a graph that none of them holds, or networks shared out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from dfnets import checksums, models
from dfnets.datasets.splits import Split
from dfnets.distributed.folder import PartitionFolder
from dfnets.distributed.group import ordered_sum
from dfnets.distributed.row_blocks import RowBlockShift
from dfnets.distributed.training import RowBlockTrainer
from dfnets.graph import Graph
from dfnets.models import Sizes
from dfnets.models.plus import DFNetPlus
from dfnets.models.plus_config import without_ensemble
from dfnets.training.checkpoint import Checkpoint
from dfnets.training.fitting import Result, chosen_splits, selection_rule
from dfnets.training.loop import Trainer
from dfnets.training.objective import Nodes
from dfnets.training.predictions import Predictions
from dfnets.training.progress import epochs_bar
from dfnets.training.selection import preset_words

# Models that read the graph through the shift alone. The others normalise over all nodes (dfnet), attend to neighbours
# (gat), or need the whole graph before they start.
MODELS: tuple[str, ...] = ("dfnet-plus", "mlp", "sgc", "chebyshev", "gcn", "gcn-dense", "arma", "appnp", "gcnii")
MODELS += ("gprgnn", "bernnet", "chebnet2", "jacobiconv")


@dataclass(frozen=True)
class RowBlockResult(Result):
    """What :func:`fit_row_blocks` trained: accuracies and weights are the same on every process.

    Attributes:
        graph: this process's nodes, without edges.
    """

    shift: RowBlockShift | None = field(default=None, repr=False)

    def predict(self, graph: Graph | None = None, *, rule: str | None = None) -> Predictions:
        """Probabilities for the nodes of this process, which ``shift.nodes`` names; all processes call it together."""
        if graph is not None:
            raise ValueError("graph is given: load the saved model to predict for another graph, on one process")
        assert self.shift is not None
        found = self.trained(rule).predict(self.graph, device="cpu", shift=self.shift)
        return replace(found, ids=self.shift.nodes)

    def save(self, folder: str | os.PathLike[str], *, rule: str | None = None) -> None:
        """Writes a model folder once, by process 0; see :meth:`dfnets.training.TrainedModel.save`."""
        if dist.get_rank() == 0:
            super().save(folder, rule=rule)


def fit_row_blocks(
    model: str,
    folder: str | os.PathLike[str] | PartitionFolder,
    *,
    protocol: str | Split | Sequence[Split] = "planetoid",
    replicas: int = 1,
    preset: str | None = None,
    epochs: int | None = None,
    seed: int = 0,
    select: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 30.0,
    progress: bool = True,
    after_epoch: Callable[[Trainer], None] | None = None,
    **overrides: Any,
) -> RowBlockResult:
    """:func:`dfnets.fit` on a partitioned graph: each process holds one part, and all call this together.

    The networks are those that one process trains on the whole graph, up to rounding: what is drawn does not depend on
    the number of processes. Of ``dfnet-plus`` it is the network itself, ``ensemble=False``. All processes must see the
    same folder, and the same checkpoint, which process 0 writes.

    Args:
        model: one of :data:`MODELS`.
        folder: with as many parts as there are processes, features and labels.
        checkpoint, checkpoint_every: as in :func:`dfnets.fit`; restarted by ``torchrun``, training goes on from there.
        protocol, replicas, preset, epochs, seed, select, progress, after_epoch, overrides: as in :func:`dfnets.fit`.
    """
    if model not in MODELS:
        raise ValueError(f"model={model!r} cannot be trained on row blocks: it can be one of {', '.join(MODELS)}")
    if replicas < 1:
        raise ValueError(f"replicas={replicas}: at least 1 is needed")
    shift = RowBlockShift(folder)
    whole, own, about = shift.folder.without_edges(), shift.own_graph(), shift.folder.about
    if whole.labels is None or own.features is None:
        missing = "labels" if whole.labels is None else "features"
        raise ValueError(f"{shift.folder.folder} has no {missing}: partition a graph that has them")
    changed = overrides | ({} if epochs is None else {"epochs": epochs})
    config = without_ensemble(models.config(model, preset, **changed))
    chosen = chosen_splits(whole, protocol, replicas, seed)
    rule, seeds = selection_rule(select, chosen), range(seed, seed + replicas)
    network = models.get(model)(
        config, Sizes(about["features"], about["classes"], shift.total_nodes), replicas=replicas
    )
    if isinstance(network, DFNetPlus):
        # That of all features, which decides how they are scaled.
        network.kind.fill_(about["feature_kind"])
    inputs = network.prepare(own, torch.device("cpu"), shift=shift)
    nodes = [Nodes(split.train, split.validation, split.test) for split in chosen]
    trainer = RowBlockTrainer(shift, network, inputs, np.asarray(whole.labels), nodes, seeds)
    identity = {
        "model": model,
        "partition": checksums.of_json(about),
        "splits": [split.fingerprint for split in chosen],
        "seeds": list(seeds),
        **config.model_dump(mode="json"),
    }
    saved = None if checkpoint is None else Checkpoint(checkpoint, identity, every=checkpoint_every)
    if saved is not None:
        saved.restore(trainer)
        _check_alike(trainer.epoch, f"checkpoint={str(checkpoint)!r}")
    first = dist.get_rank() == 0
    with epochs_bar(f"{model} on {own.name}, {replicas} replicas", trainer, show=progress and first) as move:

        def each_epoch(trainer: Trainer) -> None:
            move(trainer)
            if saved is not None and first:
                saved.maybe_write(trainer)
            if after_epoch is not None:
                after_epoch(trainer)

        trainer.run(each_epoch)
    words = preset_words(preset, changed)
    return RowBlockResult(
        model, config, own, None, tuple(chosen), tuple(seeds), rule, trainer.history, trainer, words, shift
    )


def _check_alike(epoch: int, name: str) -> None:
    """Refuses to go on where some processes have found a checkpoint and others have not."""
    count = dist.get_world_size()
    mine: Tensor = torch.zeros(count)
    mine[dist.get_rank()] = epoch
    epochs = ordered_sum(mine).tolist()
    if len(set(epochs)) > 1:
        raise ValueError(f"{name}: the processes are at epochs {epochs}; put it where all of them can read it")

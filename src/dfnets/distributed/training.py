"""Training on row blocks: the loop of one process, with losses, gradients and scores of all of them.

The loss is the mean of what the processes compute, as in torch's ``DistributedDataParallel``: a model that looks at all
nodes leaves each process the sum over its own labelled nodes, times the number of processes; one that draws a batch
computes the loss of that batch on every process. Weights and optimiser are the same everywhere, to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

from dfnets.distributed.group import ordered_sum
from dfnets.distributed.picking import own_places
from dfnets.distributed.row_blocks import RowBlockShift
from dfnets.models import Model
from dfnets.nn import batched
from dfnets.training.loop import Trainer
from dfnets.training.objective import Nodes, Objective, Scores


class RowBlockObjective(Objective):
    """The loss of :class:`dfnets.training.objective.Objective` when each process has the logits of its own nodes.

    Args:
        shift: says which nodes those are.
        labels, nodes: of the whole graph.
    """

    def __init__(
        self, shift: RowBlockShift, labels: np.ndarray, nodes: Sequence[np.ndarray], *more: Any, **options: Any
    ):
        super().__init__(labels, nodes, *more, **options)
        self._own = [own_places(shift, own.nodes) for own in self.examples]

    def __call__(self, logits: Tensor) -> Tensor:
        """(R,) this process's share of the losses: of (own nodes, R, classes) logits."""
        losses = []
        for r, (examples, (mine, places)) in enumerate(zip(self.examples, self._own, strict=True)):
            entropy = functional.cross_entropy(logits[places, r], examples.targets[mine], reduction="none")
            losses.append((entropy * examples.weights[mine]).sum() * (dist.get_world_size() / len(mine)))
        return torch.stack(losses)


class RowBlockTrainer(Trainer):
    """R networks in training on a graph whose rows many processes share; every process has all weights.

    Args:
        shift: of this process.
        model, inputs, seeds: as for :class:`dfnets.training.loop.Trainer`; ``inputs`` of this process's nodes.
        labels, nodes: of the whole graph.
    """

    def __init__(
        self,
        shift: RowBlockShift,
        model: Model,
        inputs: Any,
        labels: np.ndarray,
        nodes: Sequence[Nodes],
        seeds: Sequence[int],
    ) -> None:
        self.shift = shift
        entries = shift.feature_entries()
        self._rows = batched.OwnRows(
            torch.from_numpy(shift.nodes),
            shift.total_nodes,
            None if entries is None else torch.from_numpy(entries),
            shift.folder.about["feature_entries"],
        )
        parts = ("train", "validation", "test")
        numbers = [[torch.tensor(getattr(own, part)) for part in parts] for own in nodes]
        self._places = [[own_places(shift, part) for part in each] for each in numbers]
        super().__init__(model, inputs, labels, nodes, seeds, torch.device("cpu"))

    def step(self) -> np.ndarray:
        with batched.drawing_for(self._rows):
            return super().step()

    def evaluate(self) -> Scores:
        self.model.eval()
        with torch.no_grad():
            logits = self.model(self.inputs)
        count = len(self.nodes)
        right, losses = np.zeros((3, count)), np.zeros(count)
        for r, (own, places) in enumerate(zip(self.nodes, self._places, strict=True)):
            for p, (part, (mine, rows)) in enumerate(zip((own.train, own.validation, own.test), places, strict=True)):
                picked = logits[rows, r].double()
                wanted = torch.as_tensor(self.labels[part[mine.numpy()]])
                right[p, r] = (picked.argmax(dim=-1) == wanted).sum()
                if p == 1:
                    losses[r] = functional.cross_entropy(picked, wanted, reduction="sum")
        table = ordered_sum(torch.from_numpy(np.vstack([right, losses[None]]))).numpy()
        sizes = np.array([[len(own.train), len(own.validation), len(own.test)] for own in self.nodes], dtype=float).T
        with np.errstate(invalid="ignore"):
            percent = 100 * (table[:3] / sizes)
            return Scores(percent[0], percent[1], percent[2], table[3] / sizes[1])

    def _objective(self) -> Objective:
        config = self.model.config
        return RowBlockObjective(
            self.shift,
            self.labels,
            [own.train for own in self.nodes],
            self.model.sizes.classes,
            factor=config.loss_factor,
            weighting=config.class_weights,
        )

    def _over_processes(self, losses: Tensor) -> Tensor:
        world = dist.get_world_size()
        gradients = [parameter.grad for parameter in self.model.parameters() if parameter.grad is not None]
        # All in one message, in the order of the parameters, and the losses behind them.
        flat = torch.cat([part.flatten() for part in (*gradients, losses)])
        mean = ordered_sum(flat) / world
        for gradient, part in zip(gradients, mean.split([len(g.flatten()) for g in gradients] + [len(losses)])):  # noqa: B905
            gradient.copy_(part.view(gradient.shape))
        return mean[len(mean) - len(losses) :]

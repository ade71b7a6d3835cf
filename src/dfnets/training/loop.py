"""The training loop: full-batch Adam on all replicas at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dfnets.models import Model
from dfnets.nn import batched
from dfnets.training.class_offsets import class_offsets
from dfnets.training.history import History
from dfnets.training.objective import Nodes, Objective, Scores, scores
from dfnets.training.selection import better, last_record
from dfnets.training.thread_choice import ThreadChoice
from dfnets.training.weighing import member_weights


class DivergedError(ArithmeticError):
    """The loss is no longer a number."""


class Trainer:
    """R networks in training: everything that a step reads or writes, and so all that a checkpoint must hold.

    Args:
        model: its weights are drawn here, replica r's from ``seeds[r]``.
        inputs: what ``model.prepare`` gave.
        labels: (n,) classes.
        nodes: one set per replica.
        seeds: one per replica.
        device: where ``model`` and ``inputs`` are.

    Attributes:
        epoch: steps done.
        history: of every epoch.
        best: the weights at the epoch that is best on validation so far, (R, ...) tensors by name.
        final: the weights of replicas that have stopped early; those still running are in ``model``.
        running: (R,) which replicas are still trained.
        members: networks of an ensemble that are trained before the model itself, each with its inputs.
    """

    def __init__(
        self,
        model: Model,
        inputs: Any,
        labels: np.ndarray,
        nodes: Sequence[Nodes],
        seeds: Sequence[int],
        device: torch.device,
    ) -> None:
        config = model.config
        self.model, self.inputs, self.nodes = model, inputs, nodes
        self.labels, self.device = labels, device
        self.objective = self._objective()
        model.reset_parameters(batched.generators(seeds))
        # Streams of their own, so that dropout does not depend on how many weights were drawn before it.
        self.streams = batched.generators([seed + DROPOUT for seed in seeds], device)
        model.use_streams(self.streams)
        model.begin(inputs, [(own.train, labels[own.train]) for own in nodes])
        self.seeds = list(seeds)
        self.members = model.use_validation(inputs) if all(len(own.validation) for own in nodes) else []
        self.optimiser = _adam(model, config.learning_rate)
        self.epoch = 0
        self.history = History(len(seeds))
        self.running = np.ones(len(seeds), dtype=bool)
        self.best_accuracy = np.full(len(seeds), -np.inf)
        self.best_loss = np.full(len(seeds), np.inf)
        self.best_epoch = np.zeros(len(seeds), dtype=np.int64)
        self.best: dict[str, Tensor] = {}
        self.final: dict[str, Tensor] = {}

    @property
    def done(self) -> bool:
        """Whether the last epoch was reached, or every replica has stopped."""
        return self.epoch >= self.model.config.epochs or not self.running.any()

    def run(self, after_epoch: Callable[[Trainer], None], before: Callable[[str], None] = lambda _: None) -> None:
        """Trains to the end; ``after_epoch`` is for progress and checkpoints.

        Args:
            before: told now and then what is trained before the first epoch, if anything is.
        """
        if self.epoch == 0:
            self._train_members(before)
        if self.model.config.epochs == 0 and not len(self.history):
            self._record(np.full(len(self.nodes), np.nan))
        with ThreadChoice(self.device) as threads:
            while not self.done:
                loss = threads.timed(self.step)
                self.epoch += 1
                self._check(loss)
                if self.epoch % self.model.config.every == 0 or self.done:
                    self._record(loss)
                after_epoch(self)

    def step(self) -> np.ndarray:
        """One step of Adam; the (R,) losses before it."""
        self.model.train()
        self.optimiser.zero_grad(set_to_none=True)
        losses = self.model.losses(self.inputs, self.objective)
        # Replicas share no weight, so the gradient of the sum is each one's own.
        losses.sum().backward()
        losses = self._over_processes(losses.detach())
        for parameters, longest in self.model.gradient_limits():
            _clip(parameters, longest)
        self.optimiser.step()
        self.model.project_()
        return losses.cpu().double().numpy()

    def _train_members(self, before: Callable[[str], None]) -> None:
        """Trains each network of an ensemble by itself; it stays at the epoch that is best by its own validation."""
        for m, (member, inputs) in enumerate(self.members, start=1):
            seeds = [seed + m * MEMBER for seed in self.seeds]
            trainer = Trainer(member, inputs, self.labels, self.nodes, seeds, self.device)

            def after_epoch(trainer: Trainer, m: int = m) -> None:
                before(f"network {m} of {len(self.members) + 1}, epoch {trainer.epoch}")

            trainer.run(after_epoch)
            if trainer.best:
                member.load_state_dict(trainer.best)

    def evaluate(self) -> Scores:
        """The scores of the weights as they are; the members of an ensemble are weighed by validation nodes first.

        Validation scores are those before classes are shifted, so that the epoch does not depend on by how much.
        """
        self.model.eval()
        with torch.no_grad():
            members = self.model.member_logits(self.inputs)
            if not members:
                return scores(self.model(self.inputs), self.labels, self.nodes)
            self.model.weigh_(*member_weights(members, self.labels, self.nodes))
            mixed = self.model.mixed(members)
            result = scores(mixed, self.labels, self.nodes)
            if not self.model.shifts_classes:
                return result
            offsets = class_offsets(mixed, self.labels, self.nodes)
            self.model.shift_classes_(offsets)
            shifted = mixed + torch.as_tensor(offsets, dtype=mixed.dtype, device=mixed.device)
            return replace(result, test=scores(shifted, self.labels, self.nodes).test)

    def weights(self, rule: str) -> dict[str, Tensor]:
        """The (R, ...) tensors of the rule ``"final"`` or ``"validation"``."""
        if rule == "validation":
            return self.best
        now = dict(self.model.state_dict())
        stopped = np.flatnonzero(~self.running)
        if not len(stopped):
            return now
        now = {name: tensor.clone() for name, tensor in now.items()}
        _copy_replicas(self.final, now, stopped)
        return now

    def _objective(self) -> Objective:
        config = self.model.config
        return Objective(
            self.labels,
            [own.train for own in self.nodes],
            self.model.sizes.classes,
            factor=config.loss_factor,
            weighting=config.class_weights,
            device=self.device,
        )

    def _over_processes(self, losses: Tensor) -> Tensor:
        """The (R,) losses, and gradients in place: those of all processes, where there are several."""
        return losses

    def _record(self, loss: np.ndarray) -> None:
        result = self.evaluate()
        self.history.append(self.epoch, loss, result, self.running)
        config = self.model.config
        ahead = self.running & better(
            config.select_by, result.validation, result.validation_loss, self.best_accuracy, self.best_loss
        )
        self._keep(self.best, ahead)
        if config.select_by == "both":
            # The two records may be of different epochs.
            self.best_accuracy = np.fmax(self.best_accuracy, result.validation)
            self.best_loss = np.fmin(self.best_loss, result.validation_loss)
        else:
            self.best_accuracy[ahead], self.best_loss[ahead] = result.validation[ahead], result.validation_loss[ahead]
        self.best_epoch[ahead] = self.epoch
        if config.patience is not None:
            since = self.best_epoch
            if config.patience_from == "either":
                since = last_record(self.history.epochs, self.history.validation, self.history.validation_loss)
            stops = self.running & (self.epoch - since >= config.patience)
            self._keep(self.final, stops)
            self.running &= ~stops

    def _keep(self, store: dict[str, Tensor], which: np.ndarray) -> None:
        now = self.model.state_dict()
        if which.any() and not store:
            store.update({name: tensor.clone() for name, tensor in now.items()})
        _copy_replicas(now, store, np.flatnonzero(which))

    def _check(self, loss: np.ndarray) -> None:
        lost = np.flatnonzero(self.running & ~np.isfinite(loss))
        if len(lost):
            raise DivergedError(
                f"the loss of replica {lost[0]} is {loss[lost[0]]} at epoch {self.epoch} ({len(lost)} of {len(loss)} "
                f"replicas): lower learning_rate={self.model.config.learning_rate:g}, or check how features are scaled"
            )


# Far from the seeds that a person writes, so that no replica's dropout stream is another one's stream of weights.
DROPOUT = 1 << 32
# Between the seeds of two networks of an ensemble, for the same reason.
MEMBER = 1 << 40


def _adam(model: Model, learning_rate: float) -> torch.optim.Adam:
    """Adam; a penalty l2 norm(theta)^2 has the gradient 2 l2 theta, which is what its weight_decay adds."""
    groups: list[dict[str, Any]] = [
        {"params": parameters, "weight_decay": 2 * l2} for parameters, l2 in model.penalties()
    ]
    penalised = {id(parameter) for group in groups for parameter in group["params"]}
    groups.append({"params": [p for p in model.parameters() if id(p) not in penalised]})
    # The fused step of the CPU rounds the last entries of a tensor otherwise than the rest, and which those are depends
    # on the number of replicas.
    on_cpu = next(model.parameters(), torch.empty(0)).device.type == "cpu"
    return torch.optim.Adam(groups, lr=learning_rate, fused=not on_cpu, foreach=False)


def _clip(parameters: list[torch.nn.Parameter], longest: float) -> None:
    """Shortens the gradient of each replica, over all of these parameters, to the longest that is allowed."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    # A loop, because a replica's sum must not depend on the others.
    squares = [torch.stack([part[r].square().sum() for part in gradients]).sum() for r in range(len(gradients[0]))]
    factors = (longest / torch.stack(squares).sqrt()).clamp_max(1)
    for part in gradients:
        part.mul_(factors.view(-1, *[1] * (part.ndim - 1)))


def _copy_replicas(source: dict[str, Tensor], target: dict[str, Tensor], which: np.ndarray) -> None:
    for name, tensor in target.items():
        for r in which:
            tensor[r].copy_(source[name][r])

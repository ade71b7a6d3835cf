"""Networks of all folds trained as one problem, together with networks that train on every label."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dfnets.filters import FeedbackLoopedFilter
from dfnets.graph import Graph
from dfnets.models import Config, Sizes
from dfnets.training.calibration import penalised, tempered_losses
from dfnets.training.choice import Candidate
from dfnets.training.fitting import make_trainer
from dfnets.training.folds import FOLDS_THAT_TELL, Folds
from dfnets.training.loop import Trainer
from dfnets.training.objective import Nodes

NONE = np.zeros(0, dtype=np.int64)
# Training stops when the held-out nodes have seen nothing better for this share of the epochs.
PATIENCE = 0.4


@dataclass(frozen=True)
class Trained:
    """Networks of one model, and what they make of held-out nodes.

    Attributes:
        candidate: held-out predictions of every version.
        weights: for each version that may be chosen, (R, ...) tensors by name: the networks of the folds first, then
            those that train on every label; of a model without epochs the latter only.
        configs: the settings of each version, or one for all.
    """

    name: str
    sizes: Sizes
    filter: FeedbackLoopedFilter | None
    candidate: Candidate
    weights: Mapping[int, Mapping[str, Tensor]]
    configs: Sequence[Config]

    @property
    def epochs(self) -> int:
        """0 for a model that is not trained by gradients."""
        return self.configs[0].epochs


class Share:
    """Which networks this process trains: all of them, unless a subclass shares them out among processes."""

    def own(self, count: int) -> range:
        """Numbers of the networks that this process trains, out of ``count``."""
        return range(count)

    def merged(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Those of all processes, which have different names."""
        return dict(tensors)

    def joined(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """(R, ...) tensors of all networks, from those of each process's own."""
        return dict(tensors)


ALONE = Share()


def train_networks(
    name: str,
    config: Config,
    graph: Graph,
    folds: Folds,
    whole: int,
    *,
    every: int,
    seed: int,
    device: torch.device,
    after_epoch: Callable[[int, str], None],
    share: Share = ALONE,
    called: str | None = None,
) -> Trained:
    """Trains the networks of all folds, and ``whole`` more on every label; versions are epochs.

    The epoch is one for all networks, the one at which the held-out nodes of all folds together have the least
    cross-entropy: the few nodes of a single fold would choose by luck, and networks on every label have none. With few
    folds it is the last one.

    Args:
        called: what a person is told of it; None is the name of the model.
    """
    watch = _Watch(graph, folds, whole, every, after_epoch, share)
    config = config.model_copy(update={"every": max(1, config.epochs), "patience": None})
    own = slice(watch.own.start, watch.own.stop)
    nodes, seeds = _nodes(folds, whole)[own], _seeds(folds, whole, seed)[own]
    trainer, filter = make_trainer(name, config, graph, nodes, seeds, device)
    trainer.run(watch)
    sizes = trainer.model.sizes
    weights = share.joined(watch.weights)
    return Trained(name, sizes, filter, watch.candidate(called or name), {watch.best: weights}, [config])


def fit_settings(
    name: str, configs: Sequence[Config], graph: Graph, folds: Folds, *, seed: int, device: torch.device
) -> Trained:
    """A model that needs no epochs, on all folds and on every label, under several settings; versions are these."""
    assert graph.labels is not None
    held, weights = [], {}
    for version, config in enumerate(configs):
        trainer, filter = make_trainer(name, config, graph, _nodes(folds, 1), _seeds(folds, 1, seed), device)
        held.append(held_out_probabilities(trainer, folds))
        # Nothing is drawn, so the one fit to every label is the predictor; those of the folds have told what they can.
        weights[version] = {key: tensor[-1:].cpu().clone() for key, tensor in trainer.model.state_dict().items()}
    candidate = Candidate(name, [_short(config) for config in configs], np.stack(held), graph.labels[folds.held])
    return Trained(name, trainer.model.sizes, filter, candidate, weights, configs)


def held_out_probabilities(
    trainer: Trainer, folds: Folds, own: range | None = None, share: Share = ALONE
) -> np.ndarray:
    """(H, classes) the mean of what the networks that did not see a held-out node make of it.

    Args:
        own: the numbers of the networks in the trainer, first those of the folds; None is all.
    """
    own = range(len(trainer.nodes)) if own is None else own
    found: dict[str, Tensor] = {}
    trainer.model.eval()
    with torch.no_grad():
        logits = trainer.model(trainer.inputs)
        for r, (_, out) in enumerate(folds):
            if r in own:
                rows = logits[torch.as_tensor(folds.held[out], device=logits.device), r - own.start]
                found[str(r)] = torch.softmax(rows.double(), dim=-1).cpu()
    found = share.merged(found)
    total = np.zeros((len(folds.held), logits.shape[2]))
    for r, (_, out) in enumerate(folds):
        total[out] += found[str(r)].numpy()
    return total / folds.times[:, None]


class _Watch:
    """Looks at the held-out nodes every few epochs, keeps the best networks, and stops when nothing improves."""

    def __init__(
        self,
        graph: Graph,
        folds: Folds,
        whole: int,
        every: int,
        after_epoch: Callable[[int, str], None],
        share: Share,
    ) -> None:
        assert graph.labels is not None
        self.own, self.share = share.own(len(folds) + whole), share
        self.folds, self.every, self.after_epoch = folds, every, after_epoch
        self.labels = graph.labels[folds.held]
        self.epochs: list[int] = []
        self.held: list[np.ndarray] = []
        self.losses: list[float] = []
        self.best, self.weights = 0, dict[str, Tensor]()
        self.note = ""

    def __call__(self, trainer: Trainer) -> None:
        if trainer.done or (trainer.epoch % self.every == 0 and self.folds.count >= FOLDS_THAT_TELL):
            self._look(trainer)
        self.after_epoch(trainer.epoch, self.note)

    def _look(self, trainer: Trainer) -> None:
        held = held_out_probabilities(trainer, self.folds, self.own, self.share)
        self.epochs.append(trainer.epoch)
        self.held.append(held)
        self.losses.append(float(penalised(tempered_losses(held, self.labels)).min()))
        self.note = f"held-out nodes: {100 * np.mean(held.argmax(axis=1) == self.labels):.1f} % right"
        self.best = int(np.argmin(self.losses))
        if self.best == len(self.losses) - 1:
            self.weights = {key: tensor.detach().clone() for key, tensor in trainer.model.state_dict().items()}
        if trainer.epoch - self.epochs[self.best] > PATIENCE * trainer.model.config.epochs:
            trainer.running[:] = False

    def candidate(self, name: str) -> Candidate:
        return Candidate(name, [f"epoch {epoch}" for epoch in self.epochs], np.stack(self.held), self.labels)


def _nodes(folds: Folds, whole: int) -> list[Nodes]:
    parts = [train for train, _ in folds] + [folds.labelled] * whole
    return [Nodes(part, NONE, NONE) for part in parts]


def _seeds(folds: Folds, whole: int, seed: int) -> range:
    return range(seed, seed + len(folds) + whole)


def _short(config: Config) -> str:
    """The settings that differ from the defaults, in words."""
    fields = type(config).model_fields
    changed = {key: value for key, value in config.model_dump().items() if value != fields[key].default}
    return ", ".join(f"{key}={value}" for key, value in changed.items()) or "default"

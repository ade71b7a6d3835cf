"""``dfnets.fit``: train a model on a graph, several seeds at once, under a protocol."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from dfnets import models
from dfnets.datasets import splits
from dfnets.datasets.splits import Split
from dfnets.filters import FeedbackLoopedFilter
from dfnets.graph import Graph
from dfnets.models import Config, Sizes
from dfnets.models.plus_config import without_ensemble
from dfnets.nn.reproducibility import warn_unless_exact
from dfnets.training.checkpoint import Checkpoint
from dfnets.training.devices import choose_device
from dfnets.training.history import History
from dfnets.training.loop import Trainer
from dfnets.training.mini_batch import MiniBatch, make_mini_batch_trainer
from dfnets.training.objective import Nodes
from dfnets.training.progress import epochs_bar
from dfnets.training.selection import RULES, Accuracy, check_rule, preset_words
from dfnets.training.trained import Predictions, TrainedModel, class_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def fit(
    model: str,
    graph: Graph,
    *,
    protocol: str | Split | Sequence[Split] = "planetoid",
    replicas: int = 10,
    preset: str | None = None,
    epochs: int | None = None,
    seed: int = 0,
    select: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 30.0,
    device: str | torch.device | None = None,
    progress: bool = True,
    mini_batch: bool | MiniBatch = False,
    after_epoch: Callable[[Trainer], None] | None = None,
    **overrides: Any,
) -> Result:
    """Trains ``replicas`` networks that differ in their seed, as one wide problem.

    Args:
        model: see :func:`dfnets.models.names`.
        graph: with features and labels.
        protocol: how nodes are split, see :func:`dfnets.datasets.splits.make`; or a split; or several, which the
            replicas take in turn.
        replicas: how many; replica r has the seed ``seed + r`` and equals a single run with it.
        preset: hyper-parameters by name, see :func:`dfnets.models.presets`; None is ``"default"``.
        epochs: instead of the preset's.
        select: the rule by which weights are taken to predict and to save: ``"validation"`` (the default where there
            are validation nodes) or ``"final"``.
        checkpoint: a file that training goes on from when it is there, and is written to now and then.
        checkpoint_every: seconds between two writes; 0 writes after every epoch.
        device: a CUDA device when there is one, unless said otherwise.
        progress: show a bar, if in a terminal.
        mini_batch: train on the filtered rows of a batch of nodes instead of the whole graph, ``dfnet-plus`` only; a
            step then costs the same on graphs of every size, see :mod:`dfnets.training.mini_batch`.
        after_epoch: called with the trainer after every epoch; an exception that it raises ends the training.
        overrides: hyper-parameters by name, see ``dfnets.models.get(model).Config``.

    Returns:
        the trained networks, their history, and their test accuracy by each selection rule.
    """
    if replicas < 1:
        raise ValueError(f"replicas={replicas}: at least 1 is needed")
    reads = models.get(model).reads_features
    if graph.labels is None or (reads and graph.features is None):
        missing = "labels" if graph.labels is None else "features"
        raise ValueError(f"{graph.name} has no {missing}: {model} needs them; make the Graph with {missing}=")
    changed = overrides | ({} if epochs is None else {"epochs": epochs})
    config = models.config(model, preset, **changed)
    chosen = chosen_splits(graph, protocol, replicas, seed)
    rule = selection_rule(select, chosen)
    seeds = range(seed, seed + replicas)
    nodes = [Nodes(s.train, s.validation, s.test) for s in chosen]
    filter: FeedbackLoopedFilter | None = None
    if mini_batch is False:
        trainer, filter = make_trainer(model, config, graph, nodes, seeds, device)
    else:
        how, config = MiniBatch() if mini_batch is True else mini_batch, without_ensemble(config)
        trainer = make_mini_batch_trainer(model, config, graph, nodes, seeds, how, device)
    saved = None
    if checkpoint is not None:
        identity = {
            "model": model,
            "graph": splits.fingerprint(graph),
            "splits": [split.fingerprint for split in chosen],
            "seeds": list(seeds),
            **config.model_dump(mode="json"),
        }
        saved = Checkpoint(checkpoint, identity, every=checkpoint_every)
        saved.restore(trainer)
    with epochs_bar(f"{model} on {graph.name}, {replicas} replicas", trainer, show=progress) as move:

        def each_epoch(trainer: Trainer) -> None:
            move(trainer)
            if saved is not None:
                saved.maybe_write(trainer)
            if after_epoch is not None:
                after_epoch(trainer)

        trainer.run(each_epoch, before=move.before)
    words = preset_words(preset, changed)
    return Result(model, config, graph, filter, tuple(chosen), tuple(seeds), rule, trainer.history, trainer, words)


def make_trainer(
    model: str,
    config: Config,
    graph: Graph,
    nodes: Sequence[Nodes],
    seeds: Sequence[int],
    device: str | torch.device | None = None,
) -> tuple[Trainer, FeedbackLoopedFilter | None]:
    """The networks of a model before their first step, and the filter that was designed for them."""
    assert graph.labels is not None
    place = choose_device(device)
    if len(seeds) > 1 and place.type == "cpu":
        warn_unless_exact()
    kind = models.get(model)
    filter = kind.design(config, graph)
    width = 0 if graph.features is None else graph.features.shape[1]
    sizes = Sizes(width, graph.num_classes, graph.num_nodes)
    network = kind(config, sizes, filter=filter, replicas=len(seeds)).to(place)
    return Trainer(network, network.prepare(graph, place), graph.labels, nodes, seeds, place), filter


@dataclass(frozen=True)
class Result:
    """What :func:`fit` trained.

    Attributes:
        splits: the split of each replica.
        select: the rule by which weights are taken to predict and to save.
        history: loss and scores of every epoch.
        preset: of the hyper-parameters, with what was changed of it.
    """

    model: str
    config: Config
    graph: Graph
    filter: FeedbackLoopedFilter | None
    splits: tuple[Split, ...]
    seeds: tuple[int, ...]
    select: str
    history: History
    _trainer: Trainer = field(repr=False)
    preset: str = models.DEFAULT

    def accuracy(self, rule: str | None = None) -> Accuracy:
        """Test accuracy by a selection rule: ``"final"``, ``"validation"`` or ``"oracle"``; None is ``select``."""
        rule = check_rule(self.select if rule is None else rule)
        if rule == "validation":
            self._needs_validation()
        return Accuracy(
            self.history.test[self._rows(rule), np.arange(len(self.seeds))],
            rule,
            self.model,
            self.graph.name,
            self.splits[0].protocol,
            self.seeds,
            self.preset,
        )

    def trained(self, rule: str | None = None) -> TrainedModel:
        """The networks as the rule ``"final"`` or ``"validation"`` takes them; None is ``select``."""
        rule = check_rule(self.select if rule is None else rule)
        if rule == "oracle":
            raise ValueError(
                "rule='oracle' looks at the test nodes, so no weights are kept by it: 'final' or 'validation'"
            )
        if rule == "validation":
            self._needs_validation()
        accuracy = self.accuracy(rule)
        about = {
            "dataset": self.graph.name,
            "preset": self.preset,
            "protocol": accuracy.protocol,
            "rule": rule,
            "seeds": list(self.seeds),
            "test_accuracy": accuracy.values.tolist(),
        }
        sizes = self._trainer.model.sizes
        weights = self._trainer.weights(rule)
        return TrainedModel(
            self.model,
            self.config,
            sizes,
            self.filter,
            weights,
            class_names(self.graph),
            len(self.seeds),
            about,
            self.graph.feature_names,
            self.graph.encoder,
        )

    def predict(self, graph: Graph | None = None, *, rule: str | None = None) -> Predictions:
        """Probabilities for every node of the training graph, or of another with the same features."""
        device = self._trainer.device
        return self.trained(rule).predict(self.graph if graph is None else graph, device=device)

    def save(self, folder: str | os.PathLike[str], *, rule: str | None = None) -> None:
        """Writes a model folder, see :meth:`TrainedModel.save`."""
        self.trained(rule).save(folder)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Loss and accuracy after each epoch, saved to ``path`` when given."""
        from dfnets import plots

        return plots.training_figure(self, path)

    def plot_confusion(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Which classes are taken for which: the test nodes of the first replica's split, by that replica."""
        from dfnets import plots

        assert self.graph.labels is not None
        test = self.splits[0].test
        guessed = self.predict().per_replica[0].argmax(axis=1)
        return plots.confusion_figure(self.graph.labels[test], guessed[test], class_names(self.graph), path)

    def plot_embedding(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """All nodes in two dimensions: t-SNE of the logarithms of the probabilities, coloured by true class."""
        from dfnets import plots

        scores = np.log(self.predict().probabilities + 1e-6)
        return plots.embedding_figure(scores, self.graph.labels, class_names(self.graph), path)

    def chosen_rows(self) -> np.ndarray:
        """(R,) the row of the history whose weights each replica keeps."""
        return self._rows(self.select)

    def __repr__(self) -> str:
        return f"Result({self.accuracy()!r})"

    def _repr_html_(self) -> str:
        from html import escape

        rows = [("accuracy", str(self.accuracy())), ("graph", repr(self.graph)), ("seeds", f"{len(self.seeds)}")]
        cells = "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in rows)
        return f"<table><caption>{escape(self.model)}</caption>{cells}</table>"

    def _rows(self, rule: str) -> np.ndarray:
        history = self.history
        if rule == "final":
            return history.last()
        if rule == "oracle":
            return np.nanargmax(history.test, axis=0)
        return np.searchsorted(history.epochs, self._trainer.best_epoch)

    def _needs_validation(self) -> None:
        if any(not len(split.validation) for split in self.splits):
            raise ValueError(
                f"rule='validation', but protocol {self.splits[0].protocol!r} has no validation nodes; use 'final'"
            )


def chosen_splits(graph: Graph, protocol: str | Split | Sequence[Split], replicas: int, seed: int) -> list[Split]:
    """The split of each replica, as ``protocol`` of :func:`fit` says, checked."""
    if isinstance(protocol, str):
        drawn = protocol not in graph.splits
        made = splits.make(graph, protocol, draws=replicas if drawn else None, seed=seed)
    else:
        made = [protocol] if isinstance(protocol, Split) else list(protocol)
    if not made:
        raise ValueError("protocol is an empty list of splits: give at least one")
    assert graph.labels is not None
    # Published splits are taken as they are: some leave the only node of a rare class out of training.
    published = isinstance(protocol, str) and protocol in graph.splits
    for split in () if published else made:
        # Made again with the labels: that checks the nodes and that every class has one to train on.
        Split(split.train, split.validation, split.test, split.protocol, split.draw, labels=graph.labels)
    return [made[r % len(made)] for r in range(replicas)]


def selection_rule(select: str | None, chosen: Sequence[Split]) -> str:
    """The rule by which weights are taken: the one that is given, or what the splits allow."""
    if select is None:
        return "validation" if all(len(split.validation) for split in chosen) else "final"
    if check_rule(select) == "oracle":
        raise ValueError(f"select='oracle': {RULES['oracle']}; select by 'final' or 'validation'")
    return select

"""A trained model: what predicts, and the folder that it lives in."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from dfnets import checksums, filters, models
from dfnets.atomic import replacing_folder
from dfnets.datasets.encoder import FeatureEncoder
from dfnets.datasets.features import match_features
from dfnets.filters import FeedbackLoopedFilter
from dfnets.graph import Graph
from dfnets.models import Config, Model, Sizes, compatibility
from dfnets.models.mixture import replica_counts
from dfnets.shift import Shift
from dfnets.training.devices import choose_device
from dfnets.training.predictions import Predictions
from dfnets.training.preparation import Preparation
from dfnets.training.stored import CONFIG, FORMAT, WEIGHTS, read_config

FILTER = "filter.json"
CARD, CARD_PAGE = "card.json", "card.html"
FILES = (CONFIG, WEIGHTS, FILTER, CARD, CARD_PAGE)
"""All that a model folder may hold: saving over a folder with anything else in it is refused."""
ATTEMPTS = 50
"""How often a folder is read again that another process replaces while it is read."""


@dataclass(frozen=True)
class TrainedModel:
    """R trained networks that predict together, by the mean of their probabilities.

    Attributes:
        name: the model's, see :func:`dfnets.models.names`.
        weights: (R, ...) tensors by name.
        classes: names of the classes.
        about: how it came about: dataset, protocol, rule, seeds, accuracy.
        feature_names: the columns of features that it was trained on; None where they had no names.
        encoder: how columns of a file become these features, see :func:`dfnets.datasets.files.read`.
        preparation: how features are scaled, or made, before the networks see them; None leaves that to ``config``.
        temperature: of the mean probabilities, fitted on held-out nodes; 1 leaves them as they are.
        class_offsets: one for each class, added to the logarithms of the mean probabilities; None is none.
    """

    name: str
    config: Config
    sizes: Sizes
    filter: FeedbackLoopedFilter | None
    weights: Mapping[str, Tensor] = field(repr=False)
    classes: tuple[str, ...]
    replicas: int
    about: Mapping[str, Any] = field(default_factory=dict)
    feature_names: tuple[str, ...] | None = None
    encoder: FeatureEncoder | None = None
    preparation: Preparation | None = None
    temperature: float = 1.0
    class_offsets: tuple[float, ...] | None = None

    # Networks that are made, by device, and graphs that are prepared: for answers about a few nodes.
    _made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def predict(
        self,
        graph: Graph,
        *,
        nodes: Sequence[int] | np.ndarray | None = None,
        device: str | torch.device | None = None,
        shift: Shift | None = None,
    ) -> Predictions:
        """The classes of the nodes of a graph: the one it was trained on, or one with other nodes and edges.

        Args:
            graph: with the features that the model was trained on. Where they have names, columns are found by name,
                in any order, and missing or unknown ones are refused; without names the order must be the same.
            nodes: numbers of the nodes to predict; None is all. Only what these need is computed, and the graph is kept
                prepared as long as it is in use, so that the next answer takes milliseconds. DFNetPlus and filtered
                logistic regression do so; other models predict all nodes and give these.
            shift: to be used instead of the graph's own.
        """
        place = choose_device(device)
        network = self._network(place)
        ids = np.arange(graph.num_nodes) if graph.node_ids is None else graph.node_ids
        with torch.no_grad():
            if nodes is None:
                logits = network(network.prepare(self._prepared(graph), place, shift=shift))
            else:
                chosen = _node_numbers(nodes, graph)
                ids = ids[chosen]
                inputs = self._inputs(graph, place) if shift is None else None
                if inputs is None:
                    logits = network(network.prepare(self._prepared(graph), place, shift=shift))[chosen]
                else:
                    logits = network.logits_at(inputs, chosen)
            each = torch.softmax(logits.double(), dim=-1).transpose(0, 1)
        offsets = None if self.class_offsets is None else np.array(self.class_offsets)
        return Predictions(each.cpu().numpy(), self.classes, ids, self.temperature, offsets)

    def _prepared(self, graph: Graph) -> Graph:
        graph = match_features(self.feature_names, graph)
        return graph if self.preparation is None else self.preparation.apply(graph)

    def _network(self, place: torch.device) -> Model:
        if place not in self._made:
            make = partial(models.get(self.name), self.config, self.sizes, filter=self.filter, replicas=self.replicas)
            try:
                # Without memory first: a config may claim any size, and only the weights say what there is.
                counts = replica_counts(self.config, self.replicas)
                if {tensor.shape[:1] for tensor in self.weights.values()} != {(count,) for count in counts}:
                    raise RuntimeError(f"it has {sum(counts)} replicas, and the tensors another number")
                with torch.device("meta"):
                    make().load_state_dict(dict(self.weights), assign=True)
                network = make()
                network.load_state_dict(dict(self.weights))
            except RuntimeError as error:
                raise ValueError(f"the weights do not fit the model {self.name!r} of the config: {error}") from None
            self._made[place] = network.to(place).eval()
        return self._made[place]

    def _inputs(self, graph: Graph, place: torch.device) -> Any:
        """What the networks need of a graph, kept as long as the graph is."""
        kept: WeakKeyDictionary[Graph, Any] = self._made.setdefault(("inputs", place), WeakKeyDictionary())
        if graph not in kept:
            kept[graph] = self._network(place).prepare(self._prepared(graph), place)
        return kept[graph]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": {}}

    def save(self, folder: str | os.PathLike[str], *, documents: Mapping[str, str] | None = None) -> None:
        """Writes config.json, model.safetensors and, where the model has a filter, filter.json.

        A model that is there already is replaced all at once: whenever this process is killed, and however many save
        at the same time, the folder holds the old model or the new one. config.json holds the checksums of the others.

        Args:
            documents: texts to write beside them, by name: the model card (``card.json``, ``card.html``).
        """
        with replacing_folder(folder, FILES) as temporary:
            self._write(temporary)
            for name, text in (documents or {}).items():
                (temporary / name).write_text(text, encoding="utf-8")

    def _write(self, folder: Path) -> None:
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in self.weights.items()}
        (folder / WEIGHTS).write_bytes(safetensors.torch.save(weights))
        if self.filter is not None:
            self.filter.save(folder / FILTER)
        parts = [WEIGHTS] + [FILTER] * (self.filter is not None)
        content: dict[str, Any] = {
            "format": FORMAT,
            "model": self.name,
            "config": self.config.model_dump(mode="json"),
            "features": self.sizes.features,
            "nodes": self.sizes.nodes,
            "classes": list(self.classes),
            "replicas": self.replicas,
            "about": dict(self.about),
            "feature_names": None if self.feature_names is None else list(self.feature_names),
            "encoder": None if self.encoder is None else self.encoder.to_json(),
            "preparation": None if self.preparation is None else self.preparation.describe(),
            "temperature": self.temperature,
            "class_offsets": None if self.class_offsets is None else list(self.class_offsets),
            "sha256": {part: checksums.of_file(folder / part) for part in parts},
        }
        content["sha256"][CONFIG] = checksums.of_json(content)
        (folder / CONFIG).write_text(json.dumps(content, indent=2))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> TrainedModel:
        """What :meth:`save` wrote; refused when a file is missing, cut off or changed."""
        folder = Path(folder)
        for _ in range(ATTEMPTS):
            before = _place(folder)
            try:
                found = cls._read(folder)
            except (ValueError, OSError):
                # Its parts do not fit together where another process saves over the folder between two reads.
                if _place(folder) == before:
                    raise
            else:
                if _place(folder) == before:
                    return found
        raise OSError(f"{folder} is replaced again and again while it is read: wait until nobody saves there")

    @classmethod
    def _read(cls, folder: Path) -> TrainedModel:
        stored = read_config(folder / CONFIG)
        for part, expected in stored.sha256.items():
            if not (folder / part).is_file():
                raise ValueError(f"{folder} is not complete: {part} is missing; save the model again")
            if checksums.of_file(folder / part) != expected:
                raise ValueError(
                    f"{folder / part} is cut off or was changed: its checksum differs; save the model again"
                )
        try:
            weights = safetensors.torch.load_file(folder / WEIGHTS)
        except SafetensorError as error:
            raise ValueError(f"{folder / WEIGHTS} cannot be read: {error}") from None
        try:
            config = models.get(stored.model).Config(**compatibility.current_settings(stored.model, stored.config))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{folder / CONFIG} does not describe a model: {error}") from None
        return cls(
            stored.model,
            config,
            Sizes(stored.features, len(stored.classes), stored.nodes),
            filters.FeedbackLoopedFilter.load(folder / FILTER) if FILTER in stored.sha256 else None,
            compatibility.current_tensors(stored.model, weights),
            tuple(stored.classes),
            stored.replicas,
            stored.about,
            None if stored.feature_names is None else tuple(stored.feature_names),
            None if stored.encoder is None else FeatureEncoder.from_json(stored.encoder),
            None if stored.preparation is None else Preparation.from_description(**stored.preparation.model_dump()),
            stored.temperature,
            None if stored.class_offsets is None else tuple(stored.class_offsets),
        )


def class_names(graph: Graph) -> tuple[str, ...]:
    """The names of the classes, or their numbers."""
    return graph.label_names or tuple(map(str, range(graph.num_classes)))


def _node_numbers(nodes: Any, graph: Graph) -> np.ndarray:
    chosen = np.atleast_1d(np.asarray(nodes))
    if chosen.dtype.kind not in "iu" or chosen.ndim != 1:
        raise ValueError(f"nodes={nodes!r}: give node numbers, 0 to {graph.num_nodes - 1}")
    if len(chosen) and not (chosen.min() >= 0 and chosen.max() < graph.num_nodes):
        raise ValueError(f"nodes has {chosen.max()} or less than 0, but the graph has nodes 0 to {graph.num_nodes - 1}")
    return chosen


def _place(folder: Path) -> tuple[int, ...] | None:
    """Which folder has that name now; None when none has."""
    try:
        found = folder.stat()
    except OSError:
        return None
    # The number of a folder that was removed is given to the next one; its times are not.
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns

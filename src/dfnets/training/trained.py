"""A trained model: what predicts, and the folder that it lives in."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from dfnets import checksums, filters, models
from dfnets.atomic import replacing
from dfnets.datasets.encoder import FeatureEncoder
from dfnets.datasets.features import match_features
from dfnets.filters import FeedbackLoopedFilter
from dfnets.graph import Graph
from dfnets.models import Config, Sizes
from dfnets.shift import Shift
from dfnets.training.devices import choose_device

if TYPE_CHECKING:
    import pandas

FORMAT = "dfnets model, version 1"
CONFIG, WEIGHTS, FILTER = "config.json", "model.safetensors", "filter.json"


@dataclass(frozen=True)
class Predictions:
    """Probabilities of the classes for every node of a graph.

    Attributes:
        per_replica: (R, n, classes), of every replica.
        classes: their names.
        ids: (n,) the names of the nodes.
    """

    per_replica: np.ndarray
    classes: tuple[str, ...]
    ids: np.ndarray

    @property
    def probabilities(self) -> np.ndarray:
        """(n, classes) the mean over the replicas."""
        return self.per_replica.mean(axis=0)

    @property
    def labels(self) -> np.ndarray:
        """(n,) the number of the most probable class."""
        return self.probabilities.argmax(axis=1)

    def frame(self) -> pandas.DataFrame:
        """One row per node: id, label, its probability, and the probability of every class."""
        import pandas

        columns = {"id": self.ids, "label": np.asarray(self.classes, dtype=object)[self.labels]}
        columns["probability"] = self.probabilities.max(axis=1)
        every = {f"p({name})": self.probabilities[:, c] for c, name in enumerate(self.classes)}
        return pandas.DataFrame(columns | every)

    def __repr__(self) -> str:
        return f"Predictions(nodes={len(self.ids)}, classes={len(self.classes)})"


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

    def predict(
        self, graph: Graph, *, device: str | torch.device | None = None, shift: Shift | None = None
    ) -> Predictions:
        """The classes of all nodes of a graph: the one it was trained on, or one with other nodes and edges.

        Args:
            graph: with the features that the model was trained on. Where they have names, columns are found by name,
                in any order, and missing or unknown ones are refused; without names the order must be the same.
            shift: to be used instead of the graph's own.
        """
        place = choose_device(device)
        graph = match_features(self.feature_names, graph)
        model = models.get(self.name)(self.config, self.sizes, filter=self.filter, replicas=self.replicas)
        model.load_state_dict(dict(self.weights))
        model.to(place).eval()
        with torch.no_grad():
            each = torch.softmax(model(model.prepare(graph, place, shift=shift)).double(), dim=-1).transpose(0, 1)
        ids = np.arange(graph.num_nodes) if graph.node_ids is None else graph.node_ids
        return Predictions(each.cpu().numpy(), self.classes, ids)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes config.json, model.safetensors and, where the model has a filter, filter.json.

        config.json comes last and holds the checksums of the others, so a folder that is not complete cannot be loaded.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / WEIGHTS) as temporary:
            save_file({name: tensor.detach().cpu().contiguous() for name, tensor in self.weights.items()}, temporary)
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
            "sha256": {part: checksums.of_file(folder / part) for part in parts},
        }
        content["sha256"][CONFIG] = checksums.of_json(content)
        with replacing(folder / CONFIG) as temporary:
            temporary.write_text(json.dumps(content, indent=2))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> TrainedModel:
        """What :meth:`save` wrote; refused when a file is missing, cut off or changed."""
        folder = Path(folder)
        content = _read_config(folder / CONFIG)
        sums = content["sha256"]
        for part in sums.keys() - {CONFIG}:
            if not (folder / part).exists():
                raise ValueError(f"{folder} is not complete: {part} is missing; save the model again")
            if checksums.of_file(folder / part) != sums[part]:
                raise ValueError(
                    f"{folder / part} is cut off or was changed: its checksum differs; save the model again"
                )
        try:
            weights = load_file(folder / WEIGHTS)
        except SafetensorError as error:
            raise ValueError(f"{folder / WEIGHTS} cannot be read: {error}") from None
        return cls(
            content["model"],
            models.get(content["model"]).Config(**content["config"]),
            Sizes(content["features"], len(content["classes"]), content["nodes"]),
            filters.FeedbackLoopedFilter.load(folder / FILTER) if FILTER in sums else None,
            weights,
            tuple(content["classes"]),
            content["replicas"],
            content["about"],
            None if content.get("feature_names") is None else tuple(content["feature_names"]),
            None if content.get("encoder") is None else FeatureEncoder.from_json(content["encoder"]),
        )


def class_names(graph: Graph) -> tuple[str, ...]:
    """The names of the classes, or their numbers."""
    return graph.label_names or tuple(map(str, range(graph.num_classes)))


def _read_config(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise ValueError(f"{path.parent} is not a model folder: it has no {path.name}")
    try:
        content = json.loads(path.read_text())
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is cut off or no JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path} is not of a model folder: it lacks the mark {FORMAT!r}")
    claimed = content["sha256"].pop(CONFIG, None)
    if claimed != checksums.of_json(content):
        raise ValueError(f"{path} was changed after it was saved: its checksum differs; save the model again")
    return content

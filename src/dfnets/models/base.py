"""What the training loop asks of a model; a baseline that answers it is trained, saved and compared like DFNet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from dfnets.datasets.features import Scaling, normalise
from dfnets.filters import FeedbackLoopedFilter
from dfnets.graph import Graph
from dfnets.nn.batched import Generators
from dfnets.nn.dropout import Dropout
from dfnets.nn.features import Features
from dfnets.shift import Shift

if TYPE_CHECKING:
    from dfnets.training.objective import Objective

ClassWeights = Literal["balanced", "shifted", "balanced-if-few"]


class Config(BaseModel):
    """How any model here is trained; a model adds its own fields.

    Attributes:
        features: how feature rows are scaled: to sum 1 (``"row"``), to length 1 (``"unit"``), or not.
        epochs: full-batch steps.
        learning_rate: of Adam.
        loss_factor: what the mean cross-entropy over the training nodes is multiplied by.
        class_weights: ``"balanced"``: inversely to the number of training nodes of a class; ``"shifted"``: as in the
            authors' code, where unlabelled nodes count as a class in front, and every class gets the weight of the one
            before it; ``"balanced-if-few"``: ``"balanced"`` for a replica with fewer than 100 labelled nodes per class.
        clip: the largest norm that the gradient of a replica may have; a longer one is shortened. None lets it be.
        every: epochs from one look at the scores to the next; only there can weights be selected.
        select_by: which validation score chooses the epoch: the highest ``"accuracy"`` (of equals the lowest loss), the
            lowest ``"loss"``, or ``"both"``: the last epoch that had the highest accuracy and the lowest loss so far.
        patience: stop a replica after that many epochs without a better validation score; None never does.
        patience_from: what such a score is: that of the epoch which ``select_by`` has ``"selected"``, or ``"either"``
            of an accuracy and a loss that no epoch before has beaten.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    features: Literal["row", "unit", "none"] = "row"
    epochs: int = Field(200, ge=0)
    learning_rate: float = Field(0.002, gt=0)
    loss_factor: float = Field(1.0, gt=0)
    class_weights: ClassWeights | None = None
    clip: float | None = Field(None, gt=0)
    every: int = Field(1, ge=1)
    select_by: Literal["accuracy", "loss", "both"] = "accuracy"
    patience: int | None = Field(None, ge=1)
    patience_from: Literal["selected", "either"] = "selected"


@dataclass(frozen=True)
class Sizes:
    """What a model must know of the data to make its parameters; only a transductive one reads ``nodes``."""

    features: int
    classes: int
    nodes: int


class Model(nn.Module, ABC):
    """R independent networks with one set of tensors.

    Every parameter and buffer has R as its first dimension, so ``tensor[r]`` is replica r. A baseline supplies
    ``Config``, ``presets``, :meth:`prepare`, :meth:`forward` and :meth:`reset_parameters`; the rest has defaults.

    Attributes:
        Config: the type of its hyper-parameters.
        presets: values that differ from those of ``Config``, by the name of the preset. ``"default"`` comes first and
            is for any graph; ``"paper"`` has the values of the paper that the model is from. What a search found is
            added by :func:`dfnets.models.presets`, as ``"tuned-cora"`` and so on.
        space: what :func:`dfnets.search.search` draws its hyper-parameters from.
        version: raised when a change alters the numbers that the model reaches, so that older runs are known.
        reads_features: whether it needs the features of the nodes at all.
        transductive: whether it knows the nodes of its graph by their number, and so predicts for that graph only.

    Args:
        config: of the class's own ``Config``.
        sizes: of the data.
        filter: what :meth:`design` gave; None for a model without one.
        replicas: R.
    """

    Config: ClassVar[type[Config]]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]]
    space: ClassVar[Mapping[str, Any]] = {}
    reads_features: ClassVar[bool] = True
    version: ClassVar[int] = 1
    transductive: bool = False

    def __init__(
        self, config: Any, sizes: Sizes, *, filter: FeedbackLoopedFilter | None = None, replicas: int = 1
    ) -> None:
        super().__init__()
        self.config, self.sizes, self.filter, self.replicas = config, sizes, filter, replicas
        self._prepared: tuple[Graph, torch.device, Any] | None = None

    @classmethod
    def from_sizes(
        cls,
        in_channels: int,
        out_channels: int,
        *,
        num_nodes: int = 0,
        graph: Graph | None = None,
        preset: str = "default",
        replicas: int = 1,
        **settings: Any,
    ) -> Self:
        """A network to be used like any torch module: called with a graph, trained by a loop of one's own.

        Weights and dropout are drawn from torch's own generator. A model that reads training labels before training
        (label propagation, the choice of a band in DFNetPlus) does so in :meth:`begin`.

        Args:
            in_channels: the number of features of a node.
            out_channels: the number of classes.
            num_nodes: needed by a transductive model only.
            graph: needed only where the filter is designed for one graph (``own_interval``).
            preset: of the hyper-parameters, one of the class's ``presets``.
            replicas: R; with one replica the dimension is left out of what a call gives.
            settings: hyper-parameters that differ from the preset.

        >>> from dfnets.models import DFNet
        >>> network = DFNet.from_sizes(5, 3, units=(4, 8))
        >>> network(Graph(np.ones((4, 4)) - np.eye(4), features=np.ones((4, 5)))).shape
        torch.Size([4, 3])
        """
        if preset not in cls.presets:
            raise ValueError(f"preset={preset!r} is not one of {', '.join(map(repr, cls.presets))}")
        config = cls.Config(**{**cls.presets[preset], **settings})
        if graph is None and getattr(config, "own_interval", False):
            raise ValueError(
                f"preset={preset!r} designs its filter for the interval of one graph: "
                "pass graph=, or own_interval=False"
            )
        # Where nothing is designed for it, the graph is not looked at.
        filter = cls.design(config, Graph(np.zeros((1, 1))) if graph is None else graph)
        network = cls(config, Sizes(in_channels, out_channels, num_nodes), filter=filter, replicas=replicas)
        own: Generators = [None] * replicas
        network.reset_parameters(own)
        network.use_streams(own)
        return network

    def __call__(self, inputs: Any) -> Tensor:
        """Logits: (n, R, classes) for what :meth:`prepare` gave, and for a graph with one replica (n, classes).

        Args:
            inputs: what :meth:`prepare` gave; or a :class:`Graph`, which is prepared once, as it never changes; or a
                PyTorch Geometric ``Data``, which is converted and prepared at every call.
        """
        if not isinstance(inputs, Graph) and not hasattr(inputs, "edge_index"):
            return super().__call__(inputs)
        logits = super().__call__(self._inputs_of(inputs))
        return logits[:, 0] if self.replicas == 1 else logits

    def _inputs_of(self, data: Any) -> Any:
        graph = data if isinstance(data, Graph) else Graph.from_pyg(data)
        device = next((tensor.device for tensor in chain(self.parameters(), self.buffers())), torch.device("cpu"))
        if self._prepared is None or self._prepared[0] is not graph or self._prepared[1] != device:
            self._prepared = graph, device, self.prepare(graph, device)
        return self._prepared[2]

    @classmethod
    def design(cls, config: Any, graph: Graph) -> FeedbackLoopedFilter | None:  # noqa: ARG003
        """The filter that the model uses on graphs like this one, saved with it; None where there is none."""
        return None

    @abstractmethod
    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Any:
        """What :meth:`forward` needs of a graph and does not change while training: operators, scaled features.

        Args:
            shift: to be used instead of the graph's own, to predict only: it need not be symmetric.
        """

    @abstractmethod
    def forward(self, inputs: Any) -> Tensor:
        """(n, R, classes) logits for what :meth:`prepare` gave."""

    def logits_at(self, inputs: Any, nodes: np.ndarray) -> Tensor:
        """(t, R, classes) logits of some nodes: a model that can make them from what these need does so here.

        Args:
            nodes: (t,) node numbers.
        """
        logits = self(inputs)
        return logits[torch.as_tensor(nodes, device=logits.device)]

    @abstractmethod
    def reset_parameters(self, streams: Generators) -> None:
        """The initial weights, each replica from its own stream (on the CPU)."""

    def begin(self, inputs: Any, training_labels: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        """Called once before training, with the training nodes of each replica and their classes.

        A network ignores it; a model that is not trained by gradients (``epochs`` is 0) is made here, and keeps what it
        needs to predict in its buffers.
        """

    def use_validation(self, inputs: Any) -> list[tuple[Model, Any]]:  # noqa: ARG002
        """Called after :meth:`begin` where every replica has validation nodes, so that :meth:`weigh_` will be, too.

        Returns:
            the networks beside this one that are to be trained before it, each with its inputs.
        """
        return []

    def member_logits(self, inputs: Any) -> list[Tensor]:  # noqa: ARG002
        """(n, R, classes) logits of each network that an ensemble is made of; none of a model that is a single one."""
        return []

    def weigh_(self, weights: np.ndarray, temperatures: np.ndarray) -> None:
        """Sets what each member counts for, and what its logits are divided by: (R, members) both."""

    def mixed(self, logits: Sequence[Tensor]) -> Tensor:
        """(n, R, classes) logits of the ensemble, of what :meth:`member_logits` gave, before classes are shifted."""
        raise NotImplementedError(f"{type(self).__name__} has no members, but was given {len(logits)}")

    @property
    def shifts_classes(self) -> bool:
        """Whether an ensemble takes offsets of its classes, see :mod:`dfnets.training.class_offsets`."""
        return False

    def shift_classes_(self, offsets: np.ndarray) -> None:
        """Sets the (R, classes) offsets that are added to the logits of an ensemble wherever it predicts."""

    def losses(self, inputs: Any, objective: Objective) -> Tensor:
        """(R,) what a step of training descends; a model with a term of its own adds it here.

        Args:
            objective: makes (R,) supervised losses of (n, R, classes) logits.
        """
        return objective(self(inputs))

    def penalties(self) -> list[tuple[list[nn.Parameter], float]]:
        """Parameters with the factor l2 of their squared norm in the loss; those left out have none."""
        return []

    def gradient_limits(self) -> list[tuple[list[nn.Parameter], float]]:
        """Parameters whose gradients together are shortened to a norm, for each replica; all of them to ``clip``."""
        return [] if self.config.clip is None else [(list(self.parameters()), self.config.clip)]

    def project_(self) -> None:
        """Restores the constraints on the weights after an optimiser's step."""

    def use_streams(self, streams: Generators) -> None:
        """Sets where dropout and every other draw of a step come from: one stream per replica, on the data's device."""
        self.streams = streams
        for module in self.modules():
            if isinstance(module, Dropout):
                module.streams = streams


def scaled_features(graph: Graph, scaling: Scaling, sizes: Sizes, device: torch.device) -> Features:
    """X with its rows scaled, checked against what the model was made for."""
    if graph.features is None:
        raise ValueError(f"{graph.name} has no features, and the model needs {sizes.features}: give the Graph features")
    if graph.features.shape[1] != sizes.features:
        raise ValueError(
            f"{graph.name} has {graph.features.shape[1]} features, but the model was made for {sizes.features}: "
            "give the same features, in the same order"
        )
    return Features(normalise(graph.features, scaling), device=device)

"""The settings of DFNetPlus, and what a search draws them from."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from dfnets.models.base import ClassWeights, Config

Restart = Annotated[float, Field(gt=0, le=1)]


class DFNetPlusConfig(Config):
    """Settings of DFNetPlus; None and ``"auto"`` are settled by what the graph and the training labels show.

    Attributes:
        ensemble: train small networks beside this one where there are validation nodes, which weigh them; without
            validation nodes, and for False, there is this network alone.
        class_offsets: of an ensemble, shift its predictions so that classes are as frequent in them as where they are
            used, which validation nodes or, where these were drawn class by class, the other nodes show.
        features: how rows of X are scaled. ``"auto"``: not at all where X is dense and real-valued, so that columns of
            different scale are standardised instead; otherwise to length 1.
        low: restart probabilities of the low-pass feedback loops, one response each.
        high: those of the high-pass ones.
        band: which responses are used: the ``"low"`` ones; ``"all"``, X as it is; or ``"high"``, X as it is and the
            high ones. None: the low ones, unless another band predicts the labelled nodes better, each from the others.
        balance_below: mean number of labelled nodes per class; with fewer, the predictions are made to spread evenly
            over the classes. None: 10, and without limit where many columns of X describe a node at once.
        hidden: width of the hidden layer; None leaves it out. ``"auto"``: 64 for more than 10 classes, and for fewer
            where labels alone teach: in another band than the low one, where that says too little of a class to ask for
            agreement, or where agreement counts for nothing. Elsewhere there is none.
        standardise: give every filtered column of X mean 0 and variance 1. None: where X is not sparse.
        gain: a factor for every column of X, decayed like the weights; with standardised columns this drops those that
            do not help. None: where columns are standardised.
        input_dropout: rate at which entries of X are dropped. None: 0.5 of words, and none where a row has so many
            entries that they describe a node together.
        dropout: rate at which entries of the hidden layer are dropped.
        node_dropout: rate at which nodes are dropped before the filter. None: 0.5, and 0.3 where a row has many
            entries.
        augmentations: how often nodes are dropped anew in a step.
        labelled, unlabelled: number of nodes of either kind that a step looks at. None: 50 labelled ones, or 5 for each
            class where that is more, so that a step sees every class; 2 for each class where many columns of X describe
            a node at once. And 600 unlabelled ones, or 100 in mini-batches, where each is a row that has to be read.
        consistency_weight: of the consistency loss, reached after ``ramp`` steps; at half of them it is 0.29 of that.
        temperature: what sharpens the mean prediction.
        confidence: times 1 / classes, the least top probability of a mean prediction that counts.
        divergence: of an augmentation's prediction from the sharpened mean. None: squared, and the Kullback-Leibler
            divergence where many columns of X describe a node at once.
        class_weights: as in every model. By default classes count the same with fewer than 100 labelled nodes per
            class; with more they do so for two of the members only.
        clip: as in every model. None: 0.1 where many columns of X describe a node at once, and no limit elsewhere.
        l2: of the weights and gains. None: 5e-4 for up to 10 classes, and in proportion to 1 / classes for more, as the
            part of a class in the mean cross-entropy is; ten times that for standardised columns, which are larger.
    """

    ensemble: bool = True
    class_offsets: bool = True
    features: Literal["auto", "row", "unit", "none"] = "auto"  # type: ignore[assignment]
    class_weights: ClassWeights | None = "balanced-if-few"
    epochs: int = Field(1000, ge=0)
    learning_rate: float = Field(0.01, gt=0)
    every: int = Field(10, ge=1)
    select_by: Literal["accuracy", "loss"] = "loss"
    patience: int | None = Field(300, ge=1)
    low: tuple[Restart, ...] = Field((0.1, 0.4), min_length=1)
    high: tuple[Restart, ...] = Field((0.4,), min_length=1)
    band: Literal["low", "all", "high"] | None = None
    balance_below: int | None = Field(None, ge=0)
    hidden: Literal["auto"] | Annotated[int, Field(ge=1)] | None = "auto"
    standardise: bool | None = None
    gain: bool | None = None
    input_dropout: float | None = Field(None, ge=0, lt=1)
    dropout: float = Field(0.5, ge=0, lt=1)
    node_dropout: float | None = Field(None, ge=0, lt=1)
    augmentations: int = Field(2, ge=1)
    labelled: int | None = Field(None, ge=1)
    unlabelled: int | None = Field(None, ge=1)
    consistency_weight: float = Field(2.0, ge=0)
    temperature: float = Field(0.2, gt=0, le=1)
    confidence: float = Field(2.0, ge=0)
    ramp: int = Field(300, ge=1)
    divergence: Literal["squared", "kl"] | None = None
    l2: float | None = Field(None, ge=0)


def without_ensemble(config: Config) -> Config:
    """The settings for a training in which only the network itself of DFNetPlus takes part; of others, as they are.

    >>> without_ensemble(DFNetPlusConfig()).ensemble
    False
    """
    return config.model_copy(update={"ensemble": False}) if isinstance(config, DFNetPlusConfig) else config


SPACE: dict[str, Any] = {
    "low": [(0.1,), (0.15,), (0.2,), (0.1, 0.4), (0.05, 0.3)],
    "hidden": ["auto", 16, 64],
    "standardise": [None, True],
    "input_dropout": [0.2, 0.5, 0.7],
    "node_dropout": [0.3, 0.5],
    "augmentations": [2, 4],
    "labelled": [None, 5],
    "unlabelled": [100, 300],
    "balance_below": [10, 100],
    "consistency_weight": [1.0, 1.5, 2.0],
    "temperature": [0.1, 0.2],
    "confidence": [0.0, 2.0],
    "ramp": [150, 300],
    "divergence": ["squared", "kl"],
    "clip": [0.1, None],
    "l2": (2.5e-4, 5e-3, "log"),
    "learning_rate": (5e-3, 2e-2, "log"),
}

"""What the settings of DFNetPlus leave open, settled by the kind of features and the number of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dfnets.datasets.features import Scaling
from dfnets.models.feature_kind import FeatureKind
from dfnets.models.plus_config import DFNetPlusConfig

# Labelled nodes in a step: so many, or so many of each class if that is more.
LABELLED, LABELLED_PER_CLASS = 50, 5
# Where many columns of X describe a node at once, a few labels fix a classifier of too many columns. There a step sees
# so few of each class, and the gradient of the network is no longer than that: noise that keeps it from settling.
PROFILE_PER_CLASS, PROFILE_CLIP = 2, 0.1
# Rates at which entries of X and nodes are dropped. A word says little without the others, but is one of many that say
# the same; the columns of a measurement or a profile are few, and without half of them it is another one.
INPUT_DROPOUT, NODE_DROPOUT = 0.5, 0.5
DENSE_INPUT_DROPOUT, DENSE_NODE_DROPOUT = 0.0, 0.3
# Mean number of labelled nodes per class below which classes are balanced.
BALANCE_BELOW = 10
# The penalty, that of standardised columns, and the classes above which either falls.
L2, STANDARDISED_L2, L2_CLASSES = 5e-4, 5e-3, 10


@dataclass(frozen=True)
class PlusDefaults:
    """The settings as they are used: those that are given, and for the others what suits the features.

    Attributes:
        kind: of the features; None before there is a graph.
        classes: how many there are.
    """

    config: DFNetPlusConfig
    kind: FeatureKind | None
    classes: int

    @property
    def profile(self) -> bool:
        """Whether many columns of X describe a node at once."""
        return self.kind is FeatureKind.PROFILE

    @property
    def scaling(self) -> Scaling:
        """How rows of X are scaled."""
        if self.config.features != "auto":
            return self.config.features
        assert self.kind is not None
        return self.kind.scaling

    @property
    def dense(self) -> bool:
        """Whether a row of X has so many entries that they describe a node together."""
        return self.kind in (FeatureKind.PROFILE, FeatureKind.MEASURED)

    @property
    def standardise(self) -> bool:
        """Whether filtered columns are standardised."""
        return self.dense if self.config.standardise is None else self.config.standardise

    @property
    def input_dropout(self) -> float:
        """The rate at which entries of X are dropped."""
        usual = DENSE_INPUT_DROPOUT if self.dense else INPUT_DROPOUT
        return usual if self.config.input_dropout is None else self.config.input_dropout

    @property
    def node_dropout(self) -> float:
        """The rate at which nodes are dropped before the filter."""
        usual = DENSE_NODE_DROPOUT if self.dense else NODE_DROPOUT
        return usual if self.config.node_dropout is None else self.config.node_dropout

    @property
    def l2(self) -> float:
        """The penalty of the weights and gains of the network."""
        own = (STANDARDISED_L2 if self.standardise else L2) * min(1.0, L2_CLASSES / self.classes)
        return own if self.config.l2 is None else self.config.l2

    @property
    def labelled(self) -> int:
        """Labelled nodes in a step."""
        usual = max(LABELLED, LABELLED_PER_CLASS * self.classes)
        return self.config.labelled or (PROFILE_PER_CLASS * self.classes if self.profile else usual)

    @property
    def divergence(self) -> Literal["squared", "kl"]:
        """Of an augmentation's prediction from the sharpened mean."""
        return self.config.divergence or ("kl" if self.profile else "squared")

    @property
    def clip(self) -> float | None:
        """The longest gradient of the network."""
        return PROFILE_CLIP if self.config.clip is None and self.profile else self.config.clip

    @property
    def few(self) -> int:
        """With fewer labelled nodes than that, labels are few: classes are balanced."""
        below = BALANCE_BELOW if self.config.balance_below is None else self.config.balance_below
        return below * self.classes

    @property
    def always_balance(self) -> bool:
        """Whether classes are balanced however many labelled nodes there are."""
        return self.config.balance_below is None and self.profile

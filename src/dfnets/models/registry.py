"""Which models there are, and their named presets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from dfnets.models.adalnet import AdaLNet
from dfnets.models.appnp import APPNP
from dfnets.models.arma import ARMA
from dfnets.models.base import Config, Model
from dfnets.models.bernnet import BernNet
from dfnets.models.cayleynet import CayleyNet
from dfnets.models.chebnet2 import ChebNetII
from dfnets.models.chebyshev import Chebyshev
from dfnets.models.deepwalk import DeepWalk
from dfnets.models.dfnet import DFATT, DFNet, DFNetATT
from dfnets.models.feedback_looped import FeedbackLooped
from dfnets.models.gat import GAT, GATDense
from dfnets.models.gcn import GCN, GCNDense
from dfnets.models.gcnii import GCNII
from dfnets.models.gprgnn import GPRGNN
from dfnets.models.grand import GRAND
from dfnets.models.ica import ICA
from dfnets.models.jacobiconv import JacobiConv
from dfnets.models.label_propagation import LabelPropagation
from dfnets.models.lnet import LNet
from dfnets.models.logistic_regression import LogisticRegression
from dfnets.models.mlp import MLP
from dfnets.models.planetoid import Planetoid
from dfnets.models.plus import DFNetPlus
from dfnets.models.semiemb import SemiEmb
from dfnets.models.sgc import SGC
from dfnets.models.small_network import SmallNetwork
from dfnets.models.tuned import tuned

# The preset that is taken where none is named.
DEFAULT = "default"
# What :func:`dfnets.train` makes of several models: not among those that can be asked for.
MIXTURE = "mixture"

MODELS: dict[str, type[Model]] = {
    "dfnet": DFNet,
    "dfnet-att": DFNetATT,
    "df-att": DFATT,
    "dfnet-plus": DFNetPlus,
    "small-network": SmallNetwork,
    "lp": LabelPropagation,
    "logistic": LogisticRegression,
    "ica": ICA,
    "deepwalk": DeepWalk,
    "semiemb": SemiEmb,
    "planetoid": Planetoid,
    "mlp": MLP,
    "sgc": SGC,
    "chebyshev": Chebyshev,
    "gcn": GCN,
    "lnet": LNet,
    "adalnet": AdaLNet,
    "cayleynet": CayleyNet,
    "arma": ARMA,
    "gat": GAT,
    "gcn-dense": GCNDense,
    "gat-dense": GATDense,
    "feedback-looped": FeedbackLooped,
    "appnp": APPNP,
    "gcnii": GCNII,
    "gprgnn": GPRGNN,
    "bernnet": BernNet,
    "chebnet2": ChebNetII,
    "jacobiconv": JacobiConv,
    "grand": GRAND,
}


def names() -> list[str]:
    """The names that :func:`dfnets.fit` takes.

    >>> names()[:3]
    ['dfnet', 'dfnet-att', 'df-att']
    """
    return list(MODELS)


def get(name: str) -> type[Model]:
    """The class of a model; ``"mixture"``, which is made of trained models and not trained itself, is known too."""
    if name == MIXTURE:
        from dfnets.models.mixture import Mixture

        return Mixture
    if name not in MODELS:
        raise ValueError(f"model={name!r} is not one of {', '.join(map(repr, MODELS))}")
    return MODELS[name]


def presets(name: str) -> list[str]:
    """The names of a model's presets.

    ``default`` comes first: it is for any graph. ``paper`` has the values of the paper that the model is from, for a
    dataset with values of its own in, for example, ``paper-nell``. ``tuned-cora`` and the like are what a search found
    on the validation nodes of that dataset. Nothing is ever chosen by the name of a graph.

    >>> presets("gcn")[:4]
    ['default', 'paper', 'paper-nell', 'tuned-citeseer']
    """
    return list(_settings_by_preset(name))


def config(name: str, preset: str | None = None, **overrides: Any) -> Config:
    """The hyper-parameters of a preset (None: ``"default"``), with changes.

    >>> config("gcn", "paper", dropout=0.6).dropout
    0.6
    """
    model, known = get(name), _settings_by_preset(name)
    preset = DEFAULT if preset is None else preset
    if preset not in known:
        raise ValueError(f"preset={preset!r} is not one of {', '.join(map(repr, known))}, the presets of {name}")
    values = {**known[preset], **overrides}
    unknown = [key for key in overrides if key not in model.Config.model_fields]
    if unknown:
        raise ValueError(f"{name} has no setting {unknown[0]!r}; it has {', '.join(sorted(model.Config.model_fields))}")
    try:
        return model.Config(**values)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}={first['input']!r}: {first['msg'].lower()}") from None


def _settings_by_preset(name: str) -> dict[str, Mapping[str, Any]]:
    """What every preset of a model changes of its ``Config``."""
    found = {f"tuned-{dataset}": settings for dataset, settings in tuned(name).items()}
    return {**get(name).presets, **found}

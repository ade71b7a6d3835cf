"""What a study is made of: groups of runs, which are data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dfnets import models
from dfnets.store import canonical
from dfnets.studies import code

if TYPE_CHECKING:
    from dfnets.studies.results import Results
    from dfnets.studies.shown import Part

SEEDS = 10
QUICK_SEEDS = 2
QUICK_EPOCHS = 100
CITATION = ("cora", "citeseer", "pubmed")
PAPER_DATASETS = (*CITATION, "nell")
# From the cheapest to the dearest, with the time of an epoch of one network, in units of Cora's.
DATASETS = {
    "texas": 0.2,
    "digits": 0.5,
    "chameleon_filtered": 0.6,
    "cora": 1.0,
    "citeseer": 1.5,
    "actor": 3.0,
    "amazon_computers": 8.0,
    "pubmed": 6.0,
    "nell": 40.0,
}
# The models that the paper's authors published settings for.
AUTHORS = frozenset({"dfnet", "dfnet-att", "df-att"})
ATTENTION = frozenset({"gat", "gat-dense", "dfnet-att", "df-att"})
# Models that take more or less time than most, beside those with attention.
COSTS = {"lp": 0.2, "ica": 0.2, "mlp": 0.2, "sgc": 0.2, "gcn": 0.3, "gcnii": 8.0, "dfnet-plus": 3.0}
# These are not trained by gradients, and gain nothing from a GPU.
ON_CPU = frozenset({"lp", "deepwalk", "ica"})


@dataclass(frozen=True)
class Group:
    """Runs that differ in their seed only, and are trained as one problem.

    Attributes:
        model: by name; of a measurement, what is measured.
        dataset, protocol: by name; ``options`` are the protocol's. Seed s takes draw s of a protocol that has draws.
        preset, overrides: hyper-parameters, see :func:`dfnets.models.config`. A preset of None is what the search found
            for the dataset, where it was searched; for the paper's models the authors' settings; else the default.
        seeds: how many, from 0.
        most_epochs: train no longer than that.
        measure: the name of a module of :mod:`dfnets.studies.measures` that is run instead of a training.
    """

    model: str
    dataset: str
    protocol: str = "planetoid"
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    preset: str | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict, hash=False)
    seeds: int = SEEDS
    most_epochs: int | None = None
    measure: str | None = None

    @property
    def trains(self) -> bool:
        """Whether a model is trained, be it to be measured."""
        return self.measure in (None, "embedding")

    @property
    def registered(self) -> bool:
        """Whether the model is there; what a measurement without a training is about needs not be a model."""
        return self.model in models.names() or not self.trains

    @cached_property
    def preset_name(self) -> str:
        """The preset of its runs, by name."""
        if self.preset is not None:
            return self.preset
        # GCN with dense blocks has settings for NELL, by that name, that no search found.
        others = [f"published-{self.dataset}", "published"] if self.model in AUTHORS else [self.dataset]
        known = models.presets(self.model)
        return next((name for name in [f"tuned-{self.dataset}", *others] if name in known), models.DEFAULT)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What :func:`dfnets.fit` or the measure is given."""
        given = dict(self.overrides)
        if self.trains and self.most_epochs is not None:
            epochs = models.config(self.model, self.preset_name, **given).epochs
            if epochs > self.most_epochs:
                given["epochs"] = self.most_epochs
        return given

    @cached_property
    def config(self) -> str:
        """The hyper-parameters of a run that are not defaults, as canonical JSON: a new one changes no other run's."""
        values = self.all_settings(exclude_defaults=True)
        return canonical(values if self.measure is None else {"measure": self.measure, **values})

    def all_settings(self, *, exclude_defaults: bool = False) -> dict[str, Any]:
        """The hyper-parameters of a run, or the arguments of a measurement."""
        if not self.trains:
            return self.settings
        made = models.config(self.model, self.preset_name, **self.settings)
        return made.model_dump(mode="json", exclude_defaults=exclude_defaults)

    @property
    def code(self) -> str:
        if self.measure is None:
            return code.of_model(self.model)
        roots: tuple[str, ...] = (f"dfnets.studies.measures.{self.measure}",)
        if self.trains:
            roots += ("dfnets.training.fit", models.get(self.model).__module__)
        return code.version(roots)

    @property
    def protocol_name(self) -> str:
        """The protocol with its options, as a run has it.

        >>> Group("gcn", "cora", "low-label", {"rate": 0.01}).protocol_name
        'low-label rate=0.01'
        """
        return " ".join([self.protocol, *(f"{name}={value:g}" for name, value in self.options.items())])

    @property
    def cost(self) -> float:
        """A guess of the time of one run, to put cheap ones first and to tell the time left."""
        base = DATASETS.get(self.dataset, 1.0)
        if self.measure is not None:
            return 0.3 * base
        return base * COSTS.get(self.model, 4.0 if self.model in ATTENTION else 1.0)

    @property
    def at_once(self) -> int:
        """How many replicas fit into some 4 GiB, and are little to lose when killed."""
        if self.measure is not None:
            return 1
        room = {"pubmed": 10, "amazon_computers": 5, "nell": 2}.get(self.dataset, 20)
        return max(1, room // 5 if self.model in ATTENTION else room)

    def __str__(self) -> str:
        return f"{self.model} on {self.dataset}, {self.protocol_name}"


@dataclass(frozen=True)
class Study:
    """A table or figure of the paper: what is to be run, and what is made of the runs.

    Attributes:
        plan: the groups, with few seeds and points for a first look when its argument is true.
        show: tables and figures from the runs that there are.
        quick: what the first look leaves out, in words.
    """

    name: str
    title: str
    plan: Callable[[bool], list[Group]]
    show: Callable[[Results], list[Part]]
    quick: str = f"{QUICK_SEEDS} seeds instead of {SEEDS}, at most {QUICK_EPOCHS} epochs"


def training(quick: bool, seeds: int = SEEDS) -> dict[str, Any]:
    """The arguments of a group that a first look changes."""
    return {"seeds": QUICK_SEEDS, "most_epochs": QUICK_EPOCHS} if quick else {"seeds": seeds}

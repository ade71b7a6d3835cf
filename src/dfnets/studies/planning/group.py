"""A group of runs that differ in their seed only: the unit in which studies are planned, run and compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dfnets import models
from dfnets.store import canonical
from dfnets.studies.planning.budget import searched_trials

SEEDS = 10
CITATION = ("cora", "citeseer", "pubmed")
PAPER_DATASETS = (*CITATION, "nell")
# From the cheapest to the dearest, with the time of one epoch of one network in units of Cora's.
DATASETS = {
    "texas": 0.2,
    "digits": 0.5,
    "chameleon_filtered": 0.6,
    "cora": 1.0,
    "citeseer": 1.5,
    "kanji": 2.0,
    "actor": 3.0,
    "amazon_computers": 8.0,
    "pubmed": 6.0,
    "nell": 40.0,
    "debian_packages": 40.0,
    "wordnet": 40.0,
}
ATTENTION = frozenset({"gat", "gat-dense", "dfnet-att", "df-att"})
# Models that take more or less time than most, beside those with attention.
COSTS = {"lp": 0.2, "ica": 0.2, "mlp": 0.2, "sgc": 0.2, "gcn": 0.3, "gcnii": 8.0, "dfnet-plus": 3.0}
# How many replicas of a model without attention are trained together on a large graph; 20 on the others.
REPLICAS_AT_ONCE = {"pubmed": 10, "amazon_computers": 5, "nell": 2, "debian_packages": 1, "wordnet": 1}
# Where settings come from. The paper's authors published theirs for the paper's three networks.
DEFAULT, PUBLISHED, TUNED = "default", "published", "tuned"
# What DFNetPlus reaches with settings that took more trials than any baseline had; never compared with one.
LONGER = "longer search"
PAPER_MODELS = ("dfnet", "dfnet-att", "df-att")


@dataclass(frozen=True)
class Group:
    """Runs that differ in their seed only, and are trained as one problem.

    Attributes:
        model: the name of the model; of a measurement, what is measured.
        dataset, protocol: by name; ``options`` are the protocol's. Seed s takes draw s of a protocol that has draws.
        preset, overrides: hyper-parameters, see :func:`dfnets.models.config`.
        tuning: where the settings come from: the model's own for any graph (``"default"``), the authors' code
            (``"published"``, the paper's networks only), or a search on validation nodes (``"tuned"``, and DFNetPlus's
            ``"longer search"``).
        seeds: the number of runs, with seeds from 0.
        max_epochs: train for at most that many epochs; None leaves the preset's.
        measure: the name of a module of :mod:`dfnets.studies.running.measures` that is run instead of a training.
    """

    model: str
    dataset: str
    protocol: str = "planetoid"
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    preset: str | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict, hash=False)
    tuning: str = DEFAULT
    seeds: int = SEEDS
    max_epochs: int | None = None
    measure: str | None = None

    @property
    def trains(self) -> bool:
        """Whether a model is trained, even if only to be measured."""
        return self.measure in (None, "embedding")

    @property
    def registered(self) -> bool:
        """Whether the model exists; the subject of a measurement without a training need not be a model."""
        return self.model in models.names() or not self.trains

    @property
    def trials(self) -> int:
        """The number of search trials behind the settings: 0 for those that were not searched."""
        if self.tuning == LONGER:
            return searched_trials(f"{self.model} {LONGER}", self.dataset)
        return searched_trials(self.model, self.dataset) if self.tuning == TUNED else 0

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The arguments that :func:`dfnets.fit` or the measurement is given."""
        given = dict(self.overrides)
        if self.trains and self.max_epochs is not None:
            epochs = models.config(self.model, self.preset, **given).epochs
            if epochs > self.max_epochs:
                given["epochs"] = self.max_epochs
        return given

    @cached_property
    def config(self) -> str:
        """The hyper-parameters that differ from their defaults, as canonical JSON; adding a new one changes no run."""
        values = self.all_settings(exclude_defaults=True)
        return canonical(values if self.measure is None else {"measure": self.measure, **values})

    def all_settings(self, *, exclude_defaults: bool = False) -> dict[str, Any]:
        """The hyper-parameters of a run, or the arguments of a measurement."""
        if not self.trains:
            return self.settings
        made = models.config(self.model, self.preset, **self.settings)
        return made.model_dump(mode="json", exclude_defaults=exclude_defaults)

    @property
    def protocol_name(self) -> str:
        """The protocol with its options, as a run records it.

        >>> Group("gcn", "cora", "low-label", {"rate": 0.01}).protocol_name
        'low-label rate=0.01'
        """
        return " ".join([self.protocol, *(f"{name}={value:g}" for name, value in self.options.items())])

    @property
    def cost(self) -> float:
        """An estimate of the time of one run, used to start cheap ones first and to show the time left."""
        base = DATASETS.get(self.dataset, 1.0)
        if self.measure is not None:
            return 0.3 * base
        return base * COSTS.get(self.model, 4.0 if self.model in ATTENTION else 1.0)

    @property
    def replicas_at_once(self) -> int:
        """The number of replicas that fit into about 4 GiB, and whose loss costs little if the process is killed."""
        if self.measure is not None:
            return 1
        replicas = REPLICAS_AT_ONCE.get(self.dataset, 20)
        return max(1, replicas // 5 if self.model in ATTENTION else replicas)

    def __str__(self) -> str:
        return f"{self.model} on {self.dataset}, {self.protocol_name}"

"""The paper's main table: every model on the four datasets, on the split it names and on the one its code uses."""

from __future__ import annotations

from typing import ClassVar

from dfnets.studies.planning import paper_tables
from dfnets.studies.planning.group import ATTENTION, CITATION, DEFAULT, PAPER_DATASETS, Group
from dfnets.studies.planning.plan import StudyPlan, tunings

SINCE_THE_PAPER = ("gprgnn", "bernnet", "chebnet2", "jacobiconv", "grand")
MODELS = (*paper_tables.MODELS.values(), "mlp", "sgc", "appnp", "gcnii", *SINCE_THE_PAPER, "dfnet-plus")
# Where the paper has a figure for NELL, and what is quick there.
ON_NELL = (*(m for m in MODELS if paper_tables.baseline(m, "nell") is not None), "mlp", "sgc", "appnp", "dfnet-plus")
# What a first look has time for.
QUICK = {
    ("cora", "planetoid"): MODELS,
    ("citeseer", "planetoid"): tuple(
        m for m in MODELS if m not in ATTENTION | {"deepwalk", "planetoid", "semiemb", "gcnii", "grand"}
    ),
    ("pubmed", "planetoid"): ("gcn", "sgc", "mlp", "lp", "dfnet"),
    ("cora", "authors"): ("gcn", "dfnet"),
}
# (model, dataset, protocol, tuning)
Case = tuple[str, str, str, str]


class BaselinesPlan(StudyPlan):
    """Every model with its default settings, and with tuned ones where a search ran."""

    name: ClassVar = "baselines"
    title: ClassVar = "Comparison with baseline methods (table 4 of the paper)"
    left_out: ClassVar = (
        "2 seeds and at most 100 epochs; Citeseer without the slowest models, five models on Pubmed, nothing on NELL, "
        "protocol authors for GCN and DFNet on Cora only"
    )

    def group(self, model: str, dataset: str, protocol: str = "planetoid", tuning: str = DEFAULT) -> Group:
        """The runs of a model that is compared with others; several studies share them."""
        return self.trained(model, dataset, protocol, tuning=tuning)

    def cases(self) -> list[Case]:
        """(model, dataset, protocol, tuning) of everything that is run."""
        if self.quick:
            cases = [(m, d, p) for (d, p), names in QUICK.items() for m in names]
        else:
            cases = [(m, d, "planetoid") for d in PAPER_DATASETS for m in MODELS if d != "nell" or m in ON_NELL]
            cases += [(m, d, "authors") for d in CITATION for m in MODELS]
        return [(m, d, p, tuning) for m, d, p in cases for tuning in tunings(m, d)]

    def groups(self) -> list[Group]:
        """Everything that the study runs."""
        return [self.group(*case) for case in self.cases()]

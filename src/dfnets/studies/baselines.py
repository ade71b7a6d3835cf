"""The paper's main table: every model on the four datasets, on the split it names and on the one its code uses."""

from __future__ import annotations

from dfnets import models
from dfnets.studies import published, tables
from dfnets.studies.plan import ATTENTION, CITATION, PAPER_DATASETS, Group, Study, training
from dfnets.studies.results import Results
from dfnets.studies.shown import Figure, Panel, Part, Series, Table, Text, cell

MODELS = (*published.MODELS.values(), "mlp", "sgc", "appnp", "gcnii", "dfnet-plus")
OURS = ("dfnet", "dfnet-att", "df-att")
# Where the paper has a figure for NELL, and what is quick there.
ON_NELL = (*(m for m in MODELS if published.baseline(m, "nell") is not None), "mlp", "sgc", "appnp", "dfnet-plus")
# The columns of the paper's table of hyper-parameters, and what they are called here.
HYPERPARAMETERS = {
    "l2": "l2",
    "units": "units",
    "dropout": "dropout",
    "p": "p",
    "q": "q",
    "lambda_cut": "cut",
    "heads": "heads",
    "attention_dropout": "attention_dropout",
}
# What a first look has time for.
QUICK = {
    ("cora", "planetoid"): MODELS,
    ("citeseer", "planetoid"): tuple(
        m for m in MODELS if m not in ATTENTION | {"deepwalk", "planetoid", "semiemb", "gcnii"}
    ),
    ("pubmed", "planetoid"): ("gcn", "sgc", "mlp", "lp", "dfnet"),
    ("cora", "authors"): ("gcn", "dfnet"),
}


def group(model: str, dataset: str, protocol: str = "planetoid", *, quick: bool = False) -> Group:
    """The runs of a model that is compared with others; several studies share them."""
    return Group(model, dataset, protocol, **training(quick))


def cases(quick: bool) -> list[tuple[str, str, str]]:
    """(model, dataset, protocol) of all that is run."""
    if quick:
        return [(m, d, p) for (d, p), names in QUICK.items() for m in names]
    standard = [(m, d, "planetoid") for d in PAPER_DATASETS for m in MODELS if d != "nell" or m in ON_NELL]
    return standard + [(m, d, "authors") for d in CITATION for m in MODELS]


def plan(quick: bool) -> list[Group]:
    return [group(*case, quick=quick) for case in cases(quick)]


def show(results: Results) -> list[Part]:
    quick, planned = results.quick, cases(results.quick)
    columns, rows = ["model"], []
    for dataset in PAPER_DATASETS:
        columns += [f"{dataset}: paper", "planetoid", *(["authors"] if dataset in CITATION else [])]
    for model in MODELS:
        row: list[object] = [model]
        for dataset in PAPER_DATASETS:
            row.append(published.baseline(model, dataset))
            for protocol in ("planetoid", "authors") if dataset in CITATION else ("planetoid",):
                case = (model, dataset, protocol)
                row.append(results.of(group(*case, quick=quick)).text() if case in planned else "not planned")
        rows.append(row)
    entries = [(m, group(m, d, p, quick=quick), published.baseline(m, d)) for m, d, p in planned]
    pairs = [
        (group(ours, d, p, quick=quick), group(m, d, p, quick=quick))
        for ours in OURS
        for m, d, p in planned
        if m != ours and (ours, d, p) in planned
    ]
    return [
        Text(
            "planetoid is the split of Yang et al., which the paper names; authors is the one that its code uses (the "
            "first 20 nodes a class to train, nodes 1000 to 1999 to test). NELL's validation nodes are the 128 that "
            "could be recovered; models run there where the paper has a figure, and four more. The paper took "
            "most figures of others from their papers; here every model is trained."
        ),
        Table(
            "baselines",
            "Accuracy of every model",
            columns,
            rows,
            "Test accuracy in percent, rule validation, mean ± standard deviation over the runs. In the paper's "
            "Planetoid* row Cora and Citeseer are swapped (Yang et al. print 75.7, 64.7, 77.2); its CayleyNet figure "
            "is of another split.",
        ),
        _figure(results),
        tables.accuracies(results, "baselines-runs", "Every selection rule, beside the paper", entries),
        tables.differences(results, "baselines-pairs", "The paper's models against each other one", pairs),
        _hyperparameters(),
    ]


def _hyperparameters() -> Table:
    """The paper's settings beside those of the runs."""
    rows = []
    for printed in published.table("hyperparameters"):
        ours = models.config(published.MODELS[printed["model"]], "published").model_dump()
        for name, own in HYPERPARAMETERS.items():
            value = ours[own]
            words = " ".join(f"{each:g}" for each in value) if isinstance(value, tuple) else cell(value)
            rows.append([printed["model"], name, printed[name], words])
    return Table(
        "hyperparameters",
        "Hyper-parameters (table 3 of the paper)",
        ["model", "setting", "paper", "here"],
        rows,
        "Here: the preset published, which follows the authors' code where it differs from the text.",
    )


def _figure(results: Results) -> Figure:
    panels = []
    for dataset in PAPER_DATASETS:
        names, means, errors, printed = [], [], [], []
        for model in MODELS:
            estimate = results.of(group(model, dataset, quick=results.quick)).estimate()
            if estimate is not None:
                names.append(model)
                means.append(estimate.mean)
                errors.append(estimate.std if estimate.count > 1 else 0.0)
            if published.baseline(model, dataset) is not None:
                printed.append((model, published.baseline(model, dataset)))
        series = [
            Series("here, planetoid", names, means, errors, "points"),
            Series("the paper", [m for m, _ in printed], [float(v or 0) for _, v in printed], kind="points"),
        ]
        panels.append(Panel(dataset, series, y="test accuracy, %"))
    return Figure(
        "baselines",
        "Accuracy here and in the paper",
        panels,
        "Mean with one standard deviation; rule validation.",
    )


STUDY = Study(
    "baselines",
    "Comparison with baseline methods (table 4 of the paper)",
    plan,
    show,
    "2 seeds and at most 100 epochs; Citeseer without the slowest models, five models on Pubmed, nothing on NELL, "
    "protocol authors for GCN and DFNet on Cora only",
)

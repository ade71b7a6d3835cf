"""The paper's main table: every model on the four datasets, on the split it names and on the one its code uses."""

from __future__ import annotations

from dfnets import models
from dfnets.studies.analysing.results import Results
from dfnets.studies.planning import paper_tables
from dfnets.studies.planning.baselines import MODELS
from dfnets.studies.planning.group import CITATION, DEFAULT, PAPER_DATASETS, PAPER_MODELS, PUBLISHED, TUNED
from dfnets.studies.planning.plan import tunings
from dfnets.studies.showing import tables
from dfnets.studies.showing.document import Figure, Panel, Part, Series, Table, Text, cell

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


def show(results: Results) -> list[Part]:
    """The table, a figure of it, every selection rule, and the paper's models against all others."""
    plan = results.plan.baselines
    planned = plan.cases()
    entries = [(m, plan.group(m, d, p, t), paper_tables.baseline(m, d)) for m, d, p, t in planned]
    pairs = [
        (plan.group(ours, d, p, t), plan.group(m, d, p, t))
        for ours in PAPER_MODELS
        for m, d, p, t in planned
        if m != ours and (ours, d, p, t) in planned
    ]
    return [
        Text(
            "planetoid is the split of Yang et al., which the paper names; authors is the one that its code uses (the "
            "first 20 nodes of each class to train, nodes 1000 to 1999 to test). NELL's validation nodes are the 128 "
            "that could be recovered; models run there where the paper has a figure, and four more. The paper took "
            "most figures of others from their papers; here every model is trained."
        ),
        *(_table(results, tuning) for tuning in (DEFAULT, PUBLISHED, TUNED)),
        _figure(results),
        tables.accuracies(results, "baselines-runs", "Every selection rule, beside the paper", entries),
        tables.differences(results, "baselines-pairs", "The paper's models against each other one", pairs),
        _hyperparameters(),
    ]


def _table(results: Results, tuning: str) -> Table:
    """One row per model, with one kind of settings."""
    plan = results.plan.baselines
    columns, rows, planned = ["model"], [], set(plan.cases())
    for dataset in PAPER_DATASETS:
        protocols = ("paper", "planetoid", *(["authors"] if dataset in CITATION else []))
        columns += [f"{dataset}: {name}" for name in protocols]
    for model in PAPER_MODELS if tuning == PUBLISHED else MODELS:
        row: list[object] = [model]
        for dataset in PAPER_DATASETS:
            row.append(paper_tables.baseline(model, dataset))
            for protocol in ("planetoid", "authors") if dataset in CITATION else ("planetoid",):
                case = (model, dataset, protocol, tuning)
                missing = "not planned" if tuning in tunings(model, dataset) else "not searched"
                row.append(results.of(plan.group(*case)).text() if case in planned else missing)
        rows.append(row)
    note = (
        " In the paper's Planetoid* row Cora and Citeseer are swapped (Yang et al. print 75.7, 64.7, 77.2); its "
        "CayleyNet figure is of another split."
    )
    return Table(
        f"baselines-{tuning}", f"Accuracy of every model, {tuning} settings", columns, rows, tables.CELLS + note
    )


def _hyperparameters() -> Table:
    """The paper's settings beside those of the runs."""
    rows = []
    for printed in paper_tables.table("hyperparameters"):
        ours = models.config(paper_tables.MODELS[printed["model"]], "published").model_dump()
        for name, own in HYPERPARAMETERS.items():
            value = ours[own]
            words = " ".join(f"{part:g}" for part in value) if isinstance(value, tuple) else cell(value)
            rows.append([printed["model"], name, printed[name], words])
    return Table(
        "hyperparameters",
        "Hyper-parameters (table 3 of the paper)",
        ["model", "setting", "paper", "here"],
        rows,
        "Here: the preset published, which follows the authors' code where it differs from the text.",
    )


def _figure(results: Results) -> Figure:
    plan, panels = results.plan.baselines, []
    for dataset in PAPER_DATASETS:
        series = []
        for tuning in (DEFAULT, PUBLISHED, TUNED):
            names = [m for m in MODELS if tuning in tunings(m, dataset)]
            found = [(m, results.of(plan.group(m, dataset, tuning=tuning)).estimate()) for m in names]
            present = [(m, e) for m, e in found if e is not None]
            errors = [e.std if e.count > 1 else 0.0 for _, e in present]
            label = f"here, {tuning} settings"
            series.append(Series(label, [m for m, _ in present], [e.mean for _, e in present], errors, "points"))
        printed = [(m, figure) for m in MODELS if (figure := paper_tables.baseline(m, dataset)) is not None]
        series.append(Series("the paper", [m for m, _ in printed], [figure for _, figure in printed], kind="points"))
        panels.append(Panel(dataset, series, y="test accuracy, %"))
    note = "Mean with one standard deviation; protocol planetoid, rule validation."
    return Figure("baselines", "Accuracy here and in the paper", panels, note)

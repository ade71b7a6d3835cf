"""The table of the README: the paper's models and a few others, on the four datasets of the paper."""

from __future__ import annotations

from dfnets.studies.analysing.results import Results, trial_words
from dfnets.studies.planning import paper_tables
from dfnets.studies.planning.accuracy import MODEL
from dfnets.studies.planning.group import (
    CITATION,
    DEFAULT,
    LONGER,
    PAPER_DATASETS,
    PAPER_MODELS,
    PUBLISHED,
    TUNED,
    Group,
)
from dfnets.studies.planning.plan import tunings
from dfnets.studies.showing.document import Part, Table

# What a row is called, its model, and its protocol.
ROWS = (
    ("DFNet", "dfnet", "planetoid"),
    ("DFNet", "dfnet", "authors"),
    ("DFNet-ATT", "dfnet-att", "planetoid"),
    ("DF-ATT", "df-att", "planetoid"),
    ("DFNetPlus", MODEL, "planetoid"),
    ("GCN", "gcn", "planetoid"),
    ("GAT", "gat", "planetoid"),
    ("GCNII", "gcnii", "planetoid"),
)
NOTE = (
    "Test accuracy in percent: mean ± standard deviation (runs, search trials behind the settings), the epoch chosen "
    "on validation nodes; in brackets what the paper prints. Settings: the model's own default, those of the "
    "authors' code (published), or found by a search (tuned, or a longer one that no other model had); rows are to be "
    "compared within each kind."
)


def show(results: Results) -> list[Part]:
    """Default settings first, then those of the authors' code, then tuned ones."""
    rows = [
        [title, tuning, protocol, *(_cell(results, model, dataset, protocol, tuning) for dataset in PAPER_DATASETS)]
        for tuning in (DEFAULT, PUBLISHED, TUNED, LONGER)
        for title, model, protocol in ROWS
        if (tuning != PUBLISHED or model in PAPER_MODELS) and (tuning != LONGER or model == MODEL)
    ]
    columns = ["model", "settings", "protocol", *PAPER_DATASETS]
    # A reader has no use for a row without a figure, unless there is nothing else.
    measured = [row for row in rows if any(cell[0].isdigit() for cell in row[3:])]
    return [Table("summary", "In short", columns, measured or rows, NOTE)]


def _cell(results: Results, model: str, dataset: str, protocol: str, tuning: str) -> str:
    printed = paper_tables.baseline(model, dataset)
    paper = "" if printed is None else f" [{printed:.1f}]"
    if protocol == "authors" and dataset not in CITATION:
        return "no such split"
    if tuning not in (*tunings(model, dataset), LONGER):
        return "not searched" + paper
    plan = results.plan
    group: Group = (
        plan.accuracy.standard(dataset, tuning)
        if model == MODEL
        else plan.baselines.group(model, dataset, protocol, tuning)
    )
    found = results.of(group).estimate()
    if found is None:
        planned = group in plan.baselines.groups() or model == MODEL
        return ("not run" if planned else "not planned") + paper
    spread = f" ± {found.std:.1f}" if found.count > 1 else ""
    return f"{found.mean:.1f}{spread} ({found.count} runs, {trial_words(group.trials)}){paper}"

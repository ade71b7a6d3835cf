"""`dfnets reproduce` and `dfnets report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dfnets.cli.common import console, say

if TYPE_CHECKING:
    from dfnets.studies.planning import Group

StoreFile = Annotated[Path, typer.Option(help="The SQLite file of the runs; one that exists is continued.")]
STORE = Path("reports/studies.db")


def reproduce_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="baselines, accuracy, orders, ablation, embeddings, filters, low-labels, complexity, stability, "
            "claims (decided by the others); all by default.",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="2 seeds, fewer points and epochs: a first look.")] = False,
    workers: Annotated[
        int | None, typer.Option(help="Processes. Default: one per core, up to 4, or 6 that share a GPU.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda. Default: cuda where there is one.")] = None,
    store: StoreFile = STORE,
    known: Annotated[
        Path | None, typer.Option(help="Add the runs of this file first, such as results/runs.jsonl.gz.")
    ] = None,
    datasets: Annotated[list[str] | None, typer.Option(help="Only these; may be repeated.")] = None,
    models: Annotated[list[str] | None, typer.Option(help="Only these; may be repeated.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Start nothing new after that time.")] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Run again also what diverged; what failed otherwise always is.")
    ] = False,
) -> None:
    """Run the paper's tables and figures again. It may be stopped at any moment; the same command continues.

    Example: dfnets reproduce baselines claims --quick; then dfnets report
    """
    from dfnets import studies
    from dfnets.run_file import read_runs
    from dfnets.store import Store
    from dfnets.studies.analysing.claims import findings
    from dfnets.studies.analysing.results import Results
    from dfnets.studies.running import run

    if known is not None:
        with Store(store) as opened:
            opened.add(read_runs(known))
    plan = studies.Plan(quick=quick)
    groups = studies.select_groups(plan, names or [], datasets=datasets, models=models)
    run(groups, store, workers=workers, device=device, minutes=minutes, retry=retry)
    with Store(store) as opened:
        results = Results(opened, plan)
    if not names or {"all", studies.CLAIMS} & set(names):
        for claim, found in findings(results):
            console.print(f"{found.verdict}: {claim.text}", highlight=False, soft_wrap=True)
    share = results.share(groups)
    say(f"{share:.0%} of the planned runs are in {store}; dfnets report shows them")
    _report_failures(store, groups)


def _report_failures(store: Path, groups: Sequence[Group]) -> None:
    """Raises when planned runs failed: they are in the store with their reason, but they are no results."""
    from dfnets.store import Store

    planned = {(group.dataset, group.model) for group in groups}
    with Store(store) as opened:
        failed = [run for run in opened.runs(status="failed") if (run.dataset, run.model) in planned]
    diverged = [run for run in failed if run.reason.startswith("DivergedError")]
    if diverged:
        say(f"{len(diverged)} runs diverged, which is a result; --retry runs them again")
    failed = [run for run in failed if run not in diverged]
    if failed:
        first = failed[0]
        raise ArithmeticError(
            f"{len(failed)} runs failed, first {first.model} on {first.dataset}, seed {first.seed}: "
            f"{first.reason.strip().splitlines()[-1] if first.reason.strip() else 'no reason given'}; the same command "
            "runs them again"
        )


def report_command(
    store: StoreFile = STORE,
    out: Annotated[Path, typer.Option(help="The folder that gets index.html, figures/ and tables/.")] = Path(
        "reports/study"
    ),
    quick: Annotated[
        bool | None, typer.Option("--quick/--full", help="Which plan. Default: the one of which more was run.")
    ] = None,
    tables: Annotated[Path | None, typer.Option(help="Also write the tables as CSV here, with about.json.")] = None,
    pages: Annotated[
        list[Path] | None, typer.Option(help="Fill the tables in this Markdown page; may be repeated.")
    ] = None,
    from_tables: Annotated[
        Path | None, typer.Option(help="Take no store but this folder of tables, and only fill the --pages.")
    ] = None,
) -> None:
    """One page with every table and figure beside the paper's, and which of its claims hold.

    Examples: dfnets report --tables results --pages README.md --pages docs/findings.md
    dfnets report --from-tables results --pages README.md
    """
    from dfnets.report import blocks
    from dfnets.report.study import StudyReport

    if from_tables is not None:
        shown = blocks.read_tables(from_tables)
    else:
        report = StudyReport(store, quick=quick)
        page = report.write(out)
        shown = report.tables
        if tables is not None:
            report.write_tables(tables)
            # With what the folder has of earlier runs.
            shown = blocks.read_tables(tables)
        console.print(f"report: {page.resolve()}", highlight=False, soft_wrap=True)
    for name in pages or []:
        count = blocks.update(name, shown)
        console.print(f"{count} tables written to {name}", highlight=False, soft_wrap=True)

"""`dfnets reproduce` and `dfnets report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dfnets.cli.common import console

StoreFile = Annotated[Path, typer.Option(help="The SQLite file of the runs; one that is there is gone on with.")]
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
        int | None, typer.Option(help="Processes. Default: one a core, up to 4, or 6 that share a GPU.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda. Default: cuda where there is one.")] = None,
    store: StoreFile = STORE,
    datasets: Annotated[list[str] | None, typer.Option(help="Only these; may be repeated.")] = None,
    models: Annotated[list[str] | None, typer.Option(help="Only these; may be repeated.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Start nothing new after that time.")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Try failed runs again.")] = False,
) -> None:
    """Run the paper's tables and figures again. Stopped at any moment, the same command goes on where it was.

    Example: dfnets reproduce baselines claims --quick; then dfnets report
    """
    from dfnets import studies
    from dfnets.store import Store
    from dfnets.studies import claims
    from dfnets.studies.results import Results
    from dfnets.studies.run import run

    wanted = studies.chosen(names or [])
    groups = studies.groups_of(wanted, quick=quick, datasets=datasets, models=models)
    run(groups, store, workers=workers, device=device, minutes=minutes, retry=retry)
    results = Results(Store(store), quick=quick)
    if claims.STUDY in wanted:
        for claim, found in claims.findings(results):
            console.print(f"{found.verdict}: {claim.text}", highlight=False, soft_wrap=True)
    share = results.share(groups)
    console.print(f"{share:.0%} of the planned runs are in {store}; dfnets report shows them", highlight=False)


def report_command(
    store: StoreFile = STORE,
    out: Annotated[Path, typer.Option(help="The folder that gets index.html, figures/ and tables/.")] = Path(
        "reports/study"
    ),
    quick: Annotated[
        bool | None, typer.Option("--quick/--full", help="Which plan. Default: the one of which more is there.")
    ] = None,
    tables: Annotated[Path | None, typer.Option(help="Also write the tables as CSV here, with about.json.")] = None,
    readme: Annotated[
        Path | None, typer.Option(help="Put the table of results between the marks of this README, from --tables.")
    ] = None,
) -> None:
    """One page with every table and figure beside the paper's, and which of its claims hold.

    Example: dfnets report --tables results --readme README.md
    """
    from dfnets.report import study
    from dfnets.studies import readme as readme_table

    page = study.write(store, out, quick=quick, results_folder=tables)
    console.print(f"report: {page.resolve()}", highlight=False, soft_wrap=True)
    if readme is not None:
        readme_table.update(readme, tables or "results")
        console.print(f"results written to {readme}", highlight=False, soft_wrap=True)

"""`dfnets search`: hyper-parameters, judged on validation nodes only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dfnets.cli.common import say, show
from dfnets.cli.file_options import FileOptions, takes_files
from dfnets.cli.train import Dataset, Edges, FeatureFile, ModelName, _graph

FOLDER = Path("reports/search")


@takes_files
def search_command(
    file: Annotated[
        Path | None,
        typer.Argument(help="The SQLite file of the search, which is continued if it exists; with --all a folder."),
    ] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Every model on every dataset of the studies, with one budget.")
    ] = False,
    dataset: Dataset = None,
    edges: Edges = None,
    features: FeatureFile = None,
    labels: Annotated[Path | None, typer.Option(help="Labels of their nodes; nodes left out are unlabelled.")] = None,
    model: ModelName = "dfnet",
    preset: Annotated[str | None, typer.Option(help="Named hyper-parameters for what is not searched.")] = None,
    trials: Annotated[
        int | None, typer.Option(help="How many in all, those already in the file included. Default: 50; --all: 20.")
    ] = None,
    replicas: Annotated[int, typer.Option(help="Networks per trial; it is judged by their mean.")] = 3,
    epochs: Annotated[int | None, typer.Option(help="Instead of the preset's; --all: at most, default 2000.")] = None,
    workers: Annotated[
        int, typer.Option(help="Processes that train at the same time; --all: one for each search.")
    ] = 1,
    seed: Annotated[int, typer.Option(help="Of what is drawn, and of the first replica.")] = 0,
    device: Annotated[str | None, typer.Option(help="cpu or cuda. Default: cuda where there is one.")] = None,
    models: Annotated[list[str] | None, typer.Option(help="With --all: only these; may be repeated.")] = None,
    datasets: Annotated[list[str] | None, typer.Option(help="With --all: only these; may be repeated.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Start no trial after that time.")] = None,
    table: Annotated[Path | None, typer.Option(help="With --all: write every trial as CSV here.")] = None,
    known: Annotated[
        Path | None,
        typer.Option(help="With --all: do not repeat the trials of this table, such as results/search.csv."),
    ] = None,
    adopt: Annotated[
        Path | None, typer.Option(help="With --all: write the best settings into the sources in this folder.")
    ] = None,
    *,
    files: FileOptions,
) -> None:
    """Search hyper-parameters at random, judged on validation nodes only.

    Examples: dfnets search search.db --dataset cora --trials 50 --workers 2
    dfnets search --all --known results/search.csv --table results/search.csv --adopt src/dfnets
    """
    if all_:
        folder = file or FOLDER
        _search_all(folder, trials, replicas, epochs, workers, device, models, datasets, minutes, table, known, adopt)
        return
    from dfnets.search import search

    if file is None:
        raise typer.BadParameter("give the file of the search, or --all")
    graph = _graph(files, dataset, edges, features, labels)
    found = search(
        model,
        graph,
        file,
        trials=50 if trials is None else trials,
        workers=workers,
        seed=seed,
        protocol="planetoid" if "planetoid" in graph.splits else "random",
        replicas=replicas,
        preset=preset,
        epochs=epochs,
        device=device,
        minutes=minutes,
    )
    show(found.trials, rows=10)
    say(repr(found))


def _search_all(
    folder: Path,
    trials: int | None,
    replicas: int,
    epochs: int | None,
    workers: int,
    device: str | None,
    models: list[str] | None,
    datasets: list[str] | None,
    minutes: float | None,
    table: Path | None,
    known: Path | None,
    adopt: Path | None,
) -> None:
    from dfnets.atomic import replacing
    from dfnets.report.tables import as_csv, read_csv
    from dfnets.studies.planning.budget import Budget
    from dfnets.studies.planning.searches import search_cells
    from dfnets.studies.running import search_all as searches
    from dfnets.studies.showing.searches import trials_table

    standard = Budget()
    budget = Budget(trials or standard.trials, replicas, epochs or standard.epochs, standard.patience)
    cells = search_cells(models, datasets)
    earlier = None if known is None else read_csv(known)
    rows = [] if earlier is None else earlier.find()
    found = searches.search_all(cells, folder, budget, workers=workers, device=device, minutes=minutes, known=rows)
    if table is not None:
        with replacing(table) as temporary:
            text = as_csv(trials_table(found, budget, earlier))
            temporary.write_text(text, encoding="utf-8", newline="")
    if adopt is not None:
        searches.adopt(found, budget, adopt)
    complete = sum(own.tried >= budget.trials for own in found.values())
    say(f"{complete} of {len(cells)} searches are complete, {budget.trials} trials each: {folder}")

"""``dfnets data``: what datasets there are, fetching them, describing one, checking one's own files."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from dfnets.cli.common import Force, check_outputs, console, say
from dfnets.cli.file_options import FileOptions, takes_files
from dfnets.terminal import cell

app = typer.Typer(
    help="Datasets: list them, fetch them, describe one or your own graph, check your own files.", no_args_is_help=True
)
Edges = Annotated[Path | None, typer.Option(help="Your own edges (.csv, .tsv, .parquet, .graphml, .npz, ...).")]
Features = Annotated[Path | None, typer.Option(help="Features of their nodes.")]
Labels = Annotated[Path | None, typer.Option(help="Labels of their nodes.")]


@app.command("list")
def list_command() -> None:
    """The datasets that have a name here, their size in the paper, and where each would be read from."""
    from rich.table import Table

    from dfnets.datasets import cache, library
    from dfnets.datasets.catalogue import ENTRIES

    table = Table("name", "nodes", "classes", "features", "read from")
    for name, entry in ENTRIES.items():
        found = library.find(name)
        if found is None and cache.read(library.cached(name)) is not None:
            found = library.cached(name)
        paper = entry.paper
        place = str(found) if found else f"not here yet: dfnets data fetch {name}"
        table.add_row(name, str(paper.nodes), str(paper.classes), str(paper.features), cell(place))
    table.add_row("digits", "1797", "10", "64", "scikit-learn (needs no network)")
    console.print(table)


@app.command()
def fetch(
    names: Annotated[list[str], typer.Argument(help="Datasets, or 'all'.")],
    force: Annotated[bool, typer.Option(help="Fetch again what is already there.")] = False,
) -> None:
    """Put datasets into the cache folder, each verified by its checksum."""
    from dfnets.datasets import library
    from dfnets.datasets.catalogue import ENTRIES

    for name in ENTRIES if names == ["all"] else names:
        say(f"{name}: {library.fetch(name, force=force)}")


@app.command("check")
@takes_files
def check_command(
    edges: Annotated[Path, typer.Option(help="Your edges (.csv, .tsv, .txt, .parquet, .jsonl, .graphml, .npz, ...).")],
    features: Features = None,
    labels: Labels = None,
    json: Annotated[bool, typer.Option("--json", help="For a program: one JSON object.")] = False,
    *,
    files: FileOptions,
) -> None:
    """Tell what was understood of your files, and everything that is odd about them, before training.

    The exit status is 1 if something stands in the way of training, else 0.

    Example: dfnets data check --edges edges.csv --features features.csv --labels labels.csv
    """
    import json as writer

    from dfnets.datasets.check import check

    report = check(edges, features, labels, **files.arguments())
    if json:
        say(writer.dumps(report.to_json(), indent=2))
    else:
        if report.reading is not None:
            say(dataclasses.replace(report.reading, left_out=()))  # these are among the findings
        for finding in report.findings:
            say(f"{'PROBLEM' if finding.severity == 'problem' else 'odd'}, {finding.about}: {finding.text}")
        if not report.findings:
            say("nothing odd")
    if not report.ok:
        raise typer.Exit(1)


@app.command("save")
@takes_files
def save_command(
    out: Annotated[Path, typer.Argument(help="The folder that gets the graph.")],
    edges: Annotated[Path, typer.Option(help="Your edges (.csv, .tsv, .txt, .parquet, .jsonl, .graphml, .npz, ...).")],
    features: Features = None,
    labels: Labels = None,
    force: Force = False,
    *,
    files: FileOptions,
) -> None:
    """Write your files as a folder that opens at once, however large the graph: give it as --edges afterwards.

    Example: dfnets data save graph/ --edges edges.csv --features features.csv --labels labels.csv
    """
    from dfnets import atomic, storage

    atomic.check_folder(out, storage.FILES, force=force)
    reading = files.read(edges, features, labels)
    reading.graph.save(out, force=force)
    say(reading)
    say(f"graph: {out}")


@app.command()
@takes_files
def describe(
    name: Annotated[str | None, typer.Argument(help="A dataset, or an .npz file.")] = None,
    edges: Edges = None,
    features: Features = None,
    labels: Labels = None,
    figure: Annotated[Path | None, typer.Option(help="Also draw it, into this file.")] = None,
    force: Force = False,
    *,
    files: FileOptions,
) -> None:
    """Counts, degrees, classes, homophily and spectrum of a graph, and the paper's counts beside ours."""
    from dfnets import datasets

    if (name is None) == (edges is None):
        raise typer.BadParameter("give either the name of a dataset or --edges")
    if name is not None and (features is not None or labels is not None):
        raise typer.BadParameter("--features and --labels belong to --edges; a dataset has its own")
    check_outputs(figure=figure, force=force)
    if edges is not None:
        reading = files.read(edges, features, labels)
        say(reading)
        graph = reading.graph
    else:
        graph = datasets.load(name or "")
    description = datasets.describe(graph)
    if figure is not None:
        description.figure(figure)
    console.print(description.table())

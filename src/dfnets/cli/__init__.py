"""The command line: one file per group of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from dfnets import __version__
from dfnets.cli import apply, bench, data, demo, errors, filters, partition, reproduce, search, studio, train

app = typer.Typer(
    name="dfnets",
    help="Feedback-looped graph filters: design them, certify them, apply them to big graphs, learn with them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dfnets {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Feedback-looped graph filters: design them, certify them, apply them to big graphs, learn with them."""


app.command("demo")(demo.demo_command)
app.command("design")(filters.design_command)
app.command("filter")(apply.filter_command)
app.command("partition")(partition.partition_command)
app.command("studio")(studio.studio_command)
app.command("train")(train.train_command)
app.command("predict")(train.predict_command)
app.command("search")(search.search_command)
app.add_typer(data.app, name="data")
app.command("bench")(bench.bench_command)
app.command("reproduce")(reproduce.reproduce_command)
app.command("report")(reproduce.report_command)


def main() -> None:
    """Run the command line; bad input ends in one line that says what to do, not in a traceback."""
    errors.guarded(app)

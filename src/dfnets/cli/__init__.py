"""The command line: one file a group of commands."""

from __future__ import annotations

import typer

from dfnets.cli import filters

app = typer.Typer(
    name="dfnets",
    help="Feedback-looped graph filters: design them, certify them, apply them to large graphs, learn with them.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)
app.command("design")(filters.design_command)
app.command("filter")(filters.filter_command)


def main() -> None:
    app()

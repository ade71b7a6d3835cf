"""`dfnets demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dfnets.cli.common import console


def demo_command(
    out: Annotated[Path, typer.Option(help="The folder that gets demo.html.")] = Path("reports"),
    replicas: Annotated[int, typer.Option(help="Draws of the labelled images.")] = 3,
    epochs: Annotated[int | None, typer.Option(help="Fewer than 300 for a first look.")] = None,
) -> None:
    """A certified filter, then handwritten digits from few labels against two other methods, and a page about it all.

    Needs no network: the images come with scikit-learn. Takes about a minute.
    """
    from dfnets import demo

    accuracies, path = demo.run(out, replicas=replicas, epochs=epochs)
    for name, values in accuracies.items():
        console.print(
            f"{name}: {values.mean():.1f} ± {values.std():.1f} % (digits, protocol random, {demo.LABELS_PER_CLASS} "
            f"labels per class, chosen on validation, {len(values)} draws)",
            highlight=False,
            soft_wrap=True,
        )
    console.print(f"report: {path.resolve()}", highlight=False, soft_wrap=True)

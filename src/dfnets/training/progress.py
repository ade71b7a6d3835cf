"""How far training is, for a person who waits; silent where there is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dfnets.terminal import plain
from dfnets.training.loop import Trainer


@contextmanager
def epochs_bar(title: str, trainer: Trainer, *, show: bool = True) -> Iterator[Callable[[Trainer], None]]:
    """A function to call after every epoch, which moves a bar with the time left and the validation accuracy."""
    console = Console(stderr=True)
    total = trainer.model.config.epochs
    columns = (
        # Not as a format or as markup: the title holds the name of a graph, which may be anything.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console, disable=not (show and console.is_terminal), transient=True) as bar:
        task = bar.add_task(plain(title), total=total, completed=trainer.epoch, note="")

        def move(trainer: Trainer) -> None:
            validation = trainer.history.validation[-1] if len(trainer.history) else np.array([np.nan])
            seen = ~np.isnan(validation)
            note = f"validation {validation[seen].mean():.1f} %" if seen.any() else ""
            bar.update(task, completed=trainer.epoch, note=note)

        yield move

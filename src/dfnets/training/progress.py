"""How far training is, for a person who waits: a bar in a terminal, a line every so often elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dfnets.terminal import plain
from dfnets.training.loop import Trainer

# Seconds between two lines where there is no terminal.
EVERY = 10.0


@contextmanager
def steps_bar(title: str, total: int, *, done: int = 0, show: bool = True, lines: bool = False) -> Iterator[Callable]:
    """A function ``move(done, note)`` for every step, which shows how far it is and the time left.

    Args:
        lines: without a terminal, write a line to the standard error every ten seconds; else nothing.
    """
    console = Console(stderr=True)
    columns = (
        # Not as a format or as markup: the title holds the name of a graph, which may be anything.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console, disable=not (show and console.is_terminal), transient=True) as bar:
        task = bar.add_task(plain(title), total=total, completed=done, note="")
        began = last = time.monotonic()

        def move(done: int, note: str = "") -> None:
            nonlocal last
            bar.update(task, completed=done, note=note)
            now = time.monotonic()
            if show and lines and not console.is_terminal and now - last >= EVERY:
                last = now
                left = (now - began) / max(done, 1) * (total - done)
                print(f"{plain(title)}: {done} of {total}, about {left:.0f} s left. {note}".rstrip(), file=sys.stderr)

        yield move


class EpochsBar:
    """Moves the bar of a training: to be called after every epoch, with the trainer."""

    def __init__(self, move: Callable[[int, str], None]) -> None:
        self._move = move

    def __call__(self, trainer: Trainer) -> None:
        validation = trainer.history.validation[-1] if len(trainer.history) else np.array([np.nan])
        seen = ~np.isnan(validation)
        self._move(trainer.epoch, f"validation {validation[seen].mean():.1f} %" if seen.any() else "")

    def before(self, note: str) -> None:
        """Says what is trained before the first epoch."""
        self._move(0, note)


@contextmanager
def epochs_bar(title: str, trainer: Trainer, *, show: bool = True) -> Iterator[EpochsBar]:
    """A bar with the time left and the validation accuracy, which moves when it is called after an epoch."""
    with steps_bar(title, trainer.model.config.epochs, done=trainer.epoch, show=show) as move:
        yield EpochsBar(move)

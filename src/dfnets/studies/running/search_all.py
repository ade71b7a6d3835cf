"""Searching every cell with the same budget, and adopting what was found."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from dfnets.atomic import replacing
from dfnets.search import Found, search
from dfnets.studies.planning.budget import Budget
from dfnets.studies.planning.searches import SearchCell
from dfnets.studies.running.training import load_graph


def search_cell(
    cell: SearchCell, folder: str | os.PathLike[str], budget: Budget, *, workers: int = 1, device: str | None = None
) -> Found:
    """Searches one model on one dataset, or continues; the trials are in a file of the folder."""
    return search(
        cell.model,
        load_graph(cell.dataset),
        Path(folder) / f"{cell.model}-{cell.dataset}.db",
        trials=budget.trials,
        replicas=budget.replicas,
        space=cell.space,
        start=cell.start,
        prune=cell.trained,
        workers=workers,
        protocol=cell.protocol,
        preset=cell.preset,
        device=device,
        **cell.limits(budget),
    )


def search_all(
    cells: Sequence[SearchCell],
    folder: str | os.PathLike[str],
    budget: Budget,
    *,
    workers: int = 1,
    device: str | None = None,
    minutes: float | None = None,
    console: Console | None = None,
) -> dict[SearchCell, Found]:
    """Searches every cell, one after the other; cells that are complete cost nothing, so it may be stopped at will.

    Args:
        minutes: start no cell after that time.

    Returns:
        what was found, for the cells that are complete.
    """
    console = Console(stderr=True) if console is None else console
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    found: dict[SearchCell, Found] = {}
    for number, cell in enumerate(cells, start=1):
        if deadline is not None and time.monotonic() > deadline:
            break
        try:
            load_graph(cell.dataset)
        except (ValueError, OSError) as error:
            console.print(f"left out, no data: {cell}: {str(error).splitlines()[0]}", highlight=False)
            continue
        try:
            found[cell] = search_cell(cell, folder, budget, workers=workers, device=device)
        except ArithmeticError as error:  # all of its trials diverged
            console.print(f"{number} of {len(cells)}: {cell}: {str(error).splitlines()[0]}", highlight=False)
            continue
        best = f"{found[cell].validation:.2f} % on validation nodes"
        pruned = int((found[cell].trials["state"] == "pruned").sum())
        console.print(f"{number} of {len(cells)}: {cell}: {best}, {pruned} trials pruned", highlight=False)
    return found


def adopt(found: dict[SearchCell, Found], budget: Budget, package: str | os.PathLike[str]) -> None:
    """Writes what was found into the sources of the package: the presets ``tuned-NAME``, and the numbers of trials.

    Args:
        package: the folder that holds ``models/tuned.json`` and ``studies/planning/trials.csv``.
    """
    tuned, counts = Path(package) / "models" / "tuned.json", Path(package) / "studies" / "planning" / "trials.csv"
    settings = json.loads(tuned.read_text(encoding="utf-8"))
    trials = dict(line.rsplit(",", 1) for line in counts.read_text(encoding="utf-8").splitlines()[1:])
    for cell, own in found.items():
        settings.setdefault(cell.model, {})[cell.dataset] = cell.settings(dict(own.settings), budget)
        trials[f"{cell.model},{cell.dataset}"] = str(len(own.trials) + own.diverged)
    with replacing(tuned) as temporary:
        temporary.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    with replacing(counts) as temporary:
        lines = ["model,dataset,trials", *(f"{cell},{count}" for cell, count in sorted(trials.items()))]
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")

"""Searching every cell with the same budget, several at a time, and adopting what was found."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from dfnets import models
from dfnets.atomic import replacing
from dfnets.search import Found, KnownTrial, search
from dfnets.studies.planning.budget import Budget
from dfnets.studies.planning.searches import SearchCell
from dfnets.studies.running.processes import check_options
from dfnets.studies.running.training import ON_CPU, load_graph
from dfnets.workers import started

# A cell, and the trials of it that are known.
_Cell = tuple[SearchCell, Mapping[int, KnownTrial]]


def search_cell(
    cell: SearchCell,
    folder: str | os.PathLike[str],
    budget: Budget,
    *,
    device: str | None = None,
    minutes: float | None = None,
    known: Mapping[int, KnownTrial] | None = None,
) -> Found:
    """Searches one model on one dataset, or continues; the trials are in a file of the folder.

    Args:
        known: trials of an earlier search, see :func:`dfnets.search.search`.
    """
    return search(
        cell.model,
        load_graph(cell.dataset),
        Path(folder) / f"{cell.model}-{cell.dataset}.db",
        trials=budget.trials,
        replicas=budget.replicas,
        space=cell.space,
        start=cell.start,
        prune=cell.trained,
        minutes=minutes,
        known=known,
        protocol=cell.protocol,
        preset=cell.preset,
        device="cpu" if cell.model in ON_CPU else device,
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
    known: Sequence[Mapping[str, Any]] = (),
    console: Console | None = None,
) -> dict[SearchCell, Found]:
    """Searches every cell; finished trials cost nothing when it is started again, so it may be stopped at will.

    Args:
        workers: cells that are searched at the same time, one process each: so the trials that are given up are the
            same for any number of them.
        minutes: start no trial after that time.
        known: trials of an earlier search, rows of :func:`dfnets.studies.showing.searches.trials_table` by the name of
            the column; those of the present versions of the models are not made again.

    Returns:
        what was found. A cell that the time did not suffice for has fewer trials than the budget, or is not there.
    """
    check_options(workers=workers, device=device, minutes=minutes)
    console = Console(stderr=True) if console is None else console
    deadline = None if minutes is None else time.time() + 60 * minutes
    there = [(cell, known_trials(known, cell, budget)) for cell in cells if _has_data(cell, console)]
    count = min(workers, len(there))
    if count > 1:
        queue: Any = multiprocessing.get_context("spawn").Queue()
        for place in [*range(len(there)), *[None] * count]:
            queue.put(place)
        with started(count, _take_cells, queue, there, str(folder), budget, device, deadline) as processes:
            for process in processes:
                process.join()
    # What the processes did is in the files, and they have said it. What they did not do, because one of them was
    # killed or because there are none, is done here.
    told = Console(quiet=True) if count > 1 else console
    found = {
        cell: _searched(there, place, folder, budget, device, deadline, told) for place, (cell, _) in enumerate(there)
    }
    return {cell: own for cell, own in found.items() if own is not None}


def known_trials(rows: Sequence[Mapping[str, Any]], cell: SearchCell, budget: Budget) -> dict[int, KnownTrial]:
    """The trials of a cell by their number: those of the same version of the model, and of as many replicas."""
    wanted = {
        "model": cell.model,
        "dataset": cell.dataset,
        "protocol": cell.protocol,
        "version": str(models.get(cell.model).version),
        "replicas": str(budget.replicas),
    }
    return {
        int(row["trial"]): KnownTrial(json.loads(row["settings"]), float(row["validation"]), row["state"])
        for row in rows
        if all(str(row.get(name)) == value for name, value in wanted.items())
    }


def _has_data(cell: SearchCell, console: Console) -> bool:
    try:
        load_graph(cell.dataset)
    except (ValueError, OSError) as error:
        console.print(f"left out, no data: {cell}: {str(error).splitlines()[0]}", highlight=False)
        return False
    return True


def _take_cells(
    queue: Any, cells: Sequence[_Cell], folder: str, budget: Budget, device: str | None, deadline: float | None
) -> None:
    """Searches cells that no other process has taken until none is left."""
    import torch

    torch.set_num_threads(1)
    for place in iter(queue.get, None):
        _searched(cells, place, folder, budget, device, deadline, Console(stderr=True))


def _searched(
    cells: Sequence[_Cell],
    place: int,
    folder: str | os.PathLike[str],
    budget: Budget,
    device: str | None,
    deadline: float | None,
    console: Console,
) -> Found | None:
    """What was found; None before the first trial has ended, and where all of them diverged."""
    cell, known = cells[place]
    name = f"{place + 1} of {len(cells)}: {cell}"
    left = None if deadline is None else (deadline - time.time()) / 60
    try:
        found = search_cell(cell, folder, budget, device=device, minutes=left, known=known)
    except TimeoutError:
        return None
    except ArithmeticError as error:  # all of its trials diverged
        console.print(f"{name}: {str(error).splitlines()[0]}", highlight=False)
        return None
    pruned = int((found.trials["state"] == "pruned").sum())
    done = "" if found.tried >= budget.trials else f"only {found.tried} of {budget.trials} trials, "
    text = f"{name}: {done}{found.validation:.2f} % on validation nodes, {pruned} trials pruned"
    console.print(text, highlight=False, soft_wrap=True)
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
        trials[f"{cell.model},{cell.dataset}"] = str(own.tried)
    with replacing(tuned) as temporary:
        temporary.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    with replacing(counts) as temporary:
        lines = ["model,dataset,trials", *(f"{cell},{count}" for cell, count in sorted(trials.items()))]
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")

"""The version of the code that a run's numbers depend on.

A run is known by two numbers that are raised by hand whenever a change alters results: ``VERSION`` here, for what all
models share (the training loop, the engine, splits), and ``Model.version`` for one model; measurements have
``VERSION`` in their module. Runs with other numbers are shown as "older code" and are run again by `dfnets reproduce`.
The commit is stored beside them, so a reader can always find the exact sources; it does not identify a run, because
most commits change no number, and a full study takes hours.
"""

from __future__ import annotations

import importlib
import subprocess
from functools import cache
from pathlib import Path

import dfnets
from dfnets import models
from dfnets.studies.planning.group import Group

# Raised when something that all models share changes their numbers.
VERSION = 2


def of_group(group: Group) -> str:
    """The version of the code behind the runs of a group.

    >>> of_group(Group("gcn", "cora")).split()[0]
    'training-2'
    """
    versions = []
    if group.trains:
        versions += [f"training-{VERSION}", f"{group.model}-{models.get(group.model).version}"]
    if group.measure is not None:
        module = importlib.import_module(f"dfnets.studies.running.measures.{group.measure}")
        versions.append(f"{group.measure}-{module.VERSION}")
    return " ".join(versions)


@cache
def commit() -> str:
    """The commit of the working tree, with ``+`` when it has changes; empty where there is no repository."""
    folder = str(Path(dfnets.__file__).parent)
    try:
        head, changes = (
            subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=True).stdout.strip()
            for words in (["rev-parse", "--short=12", "HEAD"], ["status", "--porcelain", "--untracked-files=no", "."])
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head + ("+" if changes else "")

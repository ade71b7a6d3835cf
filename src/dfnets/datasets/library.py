"""Datasets by name: found where they are kept, fetched where they are not."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from dfnets import storage
from dfnets.datasets import cache, layout, sources
from dfnets.datasets.catalogue import ENTRIES, Entry, Recipe
from dfnets.datasets.digits import digits
from dfnets.datasets.splits import authors
from dfnets.graph import Graph


class FetchError(OSError):
    """No source gave the dataset; the message says what was tried and what to do by hand."""


def names() -> tuple[str, ...]:
    """The datasets that :func:`load` knows by name."""
    return (*ENTRIES, "digits")


def load(name: str | os.PathLike[str]) -> Graph:
    """A dataset as a :class:`Graph`, with the splits that come with it.

    ``graph.splits`` has a tuple of draws for each protocol: ``planetoid`` and ``authors`` have one draw, ``masks``
    as many as were published. Features are as published; :func:`features.normalise` scales them.

    Args:
        name: one of :func:`names`, a path to an .npz file in the layout of :mod:`dfnets.datasets.layout`, a folder that
            :meth:`dfnets.Graph.save` wrote (its arrays are then memory-mapped), or the name of an .npz file in
            ``$DFNETS_DATA`` (or its folder ``extra``). A named dataset is looked for in ``$DFNETS_DATA``, then in the
            user's cache folder, and then fetched.
    """
    if name == "digits":
        return digits()
    if (Path(name) / storage.HEADER).is_file():
        return Graph.open(name)
    path = find(name)
    if path is not None:
        return _graph(layout.read(path), path.stem)
    name = str(name)
    if name not in ENTRIES:
        place = os.environ.get("DFNETS_DATA")
        raise ValueError(
            f"name={name!r} is neither a dataset ({', '.join(names())}) nor an .npz file, nor a folder of Graph.save"
            + (f" here or in $DFNETS_DATA ({place})" if place else "; $DFNETS_DATA may name a folder of such files")
        )
    content = cache.read(cached(name)) or _fetched(name)
    return _graph(layout.read(content, str(cached(name))), name)


def fetch(name: str, *, force: bool = False) -> Path:
    """Put a dataset into the user's cache folder, unless it is there and whole; several processes may do so at once.

    Args:
        force: fetch it again even so.
    """
    if name not in ENTRIES:
        raise ValueError(f"name={name!r} cannot be fetched; these can: {', '.join(ENTRIES)} (digits needs no fetching)")
    _fetched(name, force=force)
    return cached(name)


def cached(name: str) -> Path:
    """Where the user's cache folder has the dataset, or would have it."""
    return cache.folder() / f"{name}.npz"


def find(name: str | os.PathLike[str]) -> Path | None:
    """The file of that path, or of that name in ``$DFNETS_DATA``; None when there is none."""
    candidates = [Path(name)] if str(name).endswith(".npz") else []
    if place := os.environ.get("DFNETS_DATA"):
        candidates += [Path(place) / f"{name}.npz", Path(place) / "extra" / f"{name}.npz"]
    return next((path for path in candidates if path.is_file()), None)


def _fetched(name: str, *, force: bool = False) -> bytes:
    path = cached(name)
    with cache.lock(path):
        # Another process may have fetched it while this one waited for the lock.
        content = None if force else cache.read(path)
        return content or cache.store(path, _obtain(ENTRIES[name]))


def _graph(arrays: layout.Arrays, name: str) -> Graph:
    entry = ENTRIES.get(name)
    graph = layout.to_graph(arrays, name, label_names=entry.label_names if entry else None)
    if entry is None or not entry.citation or graph.labels is None:
        return graph
    return graph.with_(splits={**graph.splits, "authors": (authors(graph.labels),)})


def _obtain(entry: Entry) -> dict[str, np.ndarray]:
    recipes = list(entry.recipes)
    if place := os.environ.get("DFNETS_DATA"):
        recipes.insert(0, Recipe(f"the files in {place}", lambda: sources.folder(Path(place)), entry.build))
    failures = []
    for recipe in recipes:
        try:
            with recipe.source() as read:
                arrays = recipe.build(read)
            found = layout.digest(arrays)
        # A damaged file fails in ways that cannot be listed; whichever it was, the next source may be whole.
        except Exception as error:
            failures.append(f"{recipe.where}: {error if isinstance(error, OSError) else repr(error)}")
            continue
        if found == entry.digest:
            return arrays
        failures.append(f"{recipe.where}: what it has is not {entry.name} (SHA-256 {found}, not {entry.digest})")
    tried = "\n".join(f"  - {failure}" for failure in failures)
    raise FetchError(
        f"{entry.name} could not be fetched. Tried:\n{tried}\n"
        f"By hand: put {entry.name}.npz, or Planetoid's ind.* files of it, into a folder and set DFNETS_DATA to that "
        "folder. The dataset 'digits' needs no network."
    )

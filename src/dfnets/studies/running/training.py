"""Training one group: seeds become runs with accuracies, and with the test nodes that each run got right."""

from __future__ import annotations

import datetime
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from dfnets import datasets
from dfnets.datasets.splits import Split
from dfnets.graph import Graph
from dfnets.store import Run, pack_bits
from dfnets.studies.planning.group import Group
from dfnets.studies.running import code_version, measures, provenance

# These are not trained by gradients, and gain nothing from a GPU.
ON_CPU = frozenset({"lp", "deepwalk", "ica"})


def empty_runs(group: Group, graph: Graph | None, splits: dict[int, Split], seeds: Sequence[int]) -> dict[int, Run]:
    """The runs of a group by seed, with everything that identifies them and no numbers yet."""
    common: dict[str, Any] = {
        "code": code_version.of_group(group),
        "dataset": group.dataset,
        "data": "" if graph is None else _fingerprint(group.dataset),
        "protocol": group.protocol_name,
        "model": group.model,
        "config": group.config,
        "machine": provenance.machine(),
        "versions": provenance.versions(),
        "settings": group.all_settings(),
    }
    fingerprints = {seed: splits[seed].fingerprint if seed in splits else "" for seed in seeds}
    return {seed: Run(**common, split=fingerprints[seed], seed=seed) for seed in seeds}


def finish_runs(
    group: Group, graph: Graph | None, splits: dict[int, Split], empty: Sequence[Run], device: str | None
) -> list[Run]:
    """Runs with their numbers. If some diverge or do not fit into memory, the group is halved until they are alone."""
    import torch

    from dfnets.training import DivergedError

    began = time.perf_counter()
    reason, halve = "", False
    try:
        if group.measure is not None:
            done = [replace(empty[0], measures=measures.measure(group, graph, empty[0].seed, splits, device))]
        else:
            assert graph is not None
            done = train(group, graph, [splits[run.seed] for run in empty], empty, device)
    except Exception as error:  # whatever a model does wrong, the study goes on and reports it
        reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        halve = len(empty) > 1 and (isinstance(error, DivergedError | MemoryError) or "memory" in reason.lower())
    # Outside the handler, whose traceback keeps alive what the failed training held.
    if halve:
        torch.cuda.empty_cache()
        half = len(empty) // 2
        return [run for part in (empty[:half], empty[half:]) for run in finish_runs(group, graph, splits, part, device)]
    if reason:
        done = [replace(run, status="failed", reason=reason) for run in empty]
    share = (time.perf_counter() - began) / len(empty)
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return [replace(run, seconds=round(share, 3), together=len(empty), finished=now) for run in done]


def train(group: Group, graph: Graph, splits: Sequence[Split], empty: Sequence[Run], device: str | None) -> list[Run]:
    """Trains the replicas of a group together; every run gets its accuracies and its correct test nodes."""
    import torch

    from dfnets.training import fit

    place = "cpu" if group.model in ON_CPU else device
    gpu = on_gpu(place)
    if gpu:
        torch.cuda.reset_peak_memory_stats()
    # Published splits go by their name: they may leave a rare class out of training (the one node of a class of Texas),
    # which is an error in a split of one's own.
    published = group.protocol in graph.splits
    if published:
        graph = graph.with_(splits={group.protocol: tuple(splits)})
    result = fit(
        group.model,
        graph,
        protocol=group.protocol if published else list(splits),
        replicas=len(empty),
        seed=empty[0].seed,
        preset=group.preset,
        device=place,
        progress=False,
        **group.settings,
    )
    history = result.history
    memory = torch.cuda.max_memory_allocated() if gpu else None
    accuracies = {rule: result.accuracy(rule).values for rule in ("final", "oracle")}
    validated = all(len(split.validation) for split in splits)
    if validated:
        accuracies["validation"] = result.accuracy("validation").values
        accuracies["validation_accuracy"] = np.nanmax(history.validation, axis=0)
    classes = result.predict(rule="validation" if validated else "final").per_replica.argmax(axis=2)
    assert graph.labels is not None
    runs = []
    for r, (run, split) in enumerate(zip(empty, splits, strict=True)):
        numbers: dict[str, Any] = {name: float(values[r]) for name, values in accuracies.items()}
        numbers["epochs"] = int(history.epochs[history.last()[r]])
        correct = classes[r, split.test] == graph.labels[split.test]
        runs.append(replace(run, **numbers, memory=memory, correct=pack_bits(correct), tested=len(correct)))
    return runs


def splits_by_seed(group: Group, graph: Graph, seeds: Sequence[int]) -> dict[int, Split]:
    """The split of each seed: draw s for seed s, or the only one that exists."""
    if group.protocol in graph.splits:
        made = datasets.splits.make(graph, group.protocol, **group.options)
    elif not group.trains:
        return {}
    else:
        made = datasets.splits.make(graph, group.protocol, draws=max(seeds) + 1, seed=0, **group.options)
    return {seed: made[seed % len(made)] for seed in seeds}


@lru_cache(maxsize=2)
def load_graph(name: str) -> Graph:
    """A dataset; the last two stay in memory."""
    return datasets.load(name)


@lru_cache
def _fingerprint(name: str) -> str:
    return datasets.splits.fingerprint(load_graph(name))


def on_gpu(device: str | None) -> bool:
    """Whether a device, by name or None for the best, is a CUDA device."""
    import torch

    return device != "cpu" and torch.cuda.is_available()

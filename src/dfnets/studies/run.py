"""Running a study: processes that take groups one after the other, each group by one of them.

A group is claimed by a lock that the system drops when its holder ends, however it ends; its runs enter the store in
one transaction when they are done. So a study may be killed at any moment and started again, and several processes,
of one command or of several, may work on it at the same time.
"""

from __future__ import annotations

import datetime
import hashlib
import multiprocessing
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import dfnets
from dfnets import datasets
from dfnets.datasets.splits import Split
from dfnets.graph import Graph
from dfnets.store import Run, Store
from dfnets.studies import code, measures
from dfnets.studies.plan import ON_CPU, Group

# Seconds between two looks at what others hold, and between two lines where there is no terminal for a bar.
PAUSE, SPEAK = 0.5, 30.0


@dataclass(frozen=True)
class Job:
    """Some seeds of a group: what one process takes at a time."""

    group: Group
    seeds: tuple[int, ...]

    @property
    def cost(self) -> float:
        return self.group.cost * len(self.seeds)


def jobs_of(groups: Iterable[Group], *, room: int = 1) -> list[Job]:
    """The jobs of groups, cheap ones first, no run in two of them; models that are not there are left out.

    Args:
        room: how many times as many replicas as usual fit into memory.
    """
    jobs, seen = [], set()
    for group in groups:
        if not group.registered:
            continue
        identity = (group.code, group.dataset, group.protocol_name, group.model, group.config)
        new = [seed for seed in range(group.seeds) if (*identity, seed) not in seen]
        seen |= {(*identity, seed) for seed in new}
        size = group.at_once if group.measure else room * group.at_once
        jobs += [Job(group, tuple(new[i : i + size])) for i in range(0, len(new), size)]
    return sorted(jobs, key=lambda job: job.cost)


def run(
    groups: Sequence[Group],
    store: str | os.PathLike[str],
    *,
    workers: int | None = None,
    device: str | None = None,
    minutes: float | None = None,
    retry: bool = False,
    console: Console | None = None,
) -> None:
    """Runs what of the groups is not in the store yet, and returns when it is all there.

    Args:
        workers: processes; None takes as many as there are cores, up to 4 (6 where they share a GPU).
        device: ``"cpu"`` or ``"cuda"``; None is a CUDA device where there is one.
        minutes: start no group after that time.
        retry: try failed runs again.
        console: where to say how far it is.
    """
    console = Console(stderr=True) if console is None else console
    jobs = jobs_of(groups, room=4 if _on_gpu(device) else 1)
    missing = sorted({group.model for group in groups if not group.registered})
    if missing:
        console.print(f"not registered, left out: {', '.join(missing)}", highlight=False)
    deadline = None if minutes is None else time.time() + 60 * minutes
    count = min(_workers(device) if workers is None else workers, len(jobs))
    with Store(store) as opened, _bar(jobs, opened, console) as move:
        if retry:
            opened.forget_failures()
        if count <= 1:
            work(jobs, str(store), device, deadline, after=move)
        else:
            _together(jobs, str(store), device, deadline, count, move)


def work(
    jobs: Sequence[Job],
    path: str,
    device: str | None,
    deadline: float | None,
    *,
    threads: int | None = None,
    parent: int | None = None,
    after: Callable[[], None] = lambda: None,
) -> None:
    """Takes jobs that nobody else has until all are done; waits for those that others have, lest their holder ends.

    Args:
        threads: of torch; None leaves them as they are.
        parent: stop when this process is no longer the parent.
        after: called after each job, and now and then while waiting.
    """
    from filelock import FileLock, Timeout

    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    claims = Path(f"{path}.claims")
    claims.mkdir(exist_ok=True)
    waiting = list(jobs)
    with Store(path) as store:
        while waiting:
            held = []
            for job in waiting:
                if (deadline is not None and time.time() > deadline) or parent not in (None, os.getppid()):
                    return
                try:
                    with FileLock(claims / f"{_name(job)}.lock", timeout=0):
                        _do(job, store, device)
                except Timeout:
                    held.append(job)
                after()
            waiting = held
            if waiting:
                time.sleep(PAUSE)


def _do(job: Job, store: Store, device: str | None) -> None:
    try:
        graph = _graph(job.group.dataset) if job.group.measure != "complexity" else None
    except (ValueError, OSError) as error:
        Console(stderr=True).print(f"left out, no data: {job.group}: {str(error).splitlines()[0]}", highlight=False)
        return
    splits = {} if graph is None else _splits(job.group, graph, job.seeds)
    blank = {seed: _blank(job.group, graph, splits.get(seed), seed) for seed in job.seeds}
    have = store.keys()
    missing = [seed for seed in job.seeds if blank[seed].key not in have]
    for seeds in _stretches(missing):
        store.add(_runs(job.group, graph, splits, [blank[seed] for seed in seeds], device))


def _stretches(seeds: Sequence[int]) -> list[list[int]]:
    """Seeds in runs without a gap, as they are trained together.

    >>> _stretches([0, 1, 4])
    [[0, 1], [4]]
    """
    stretches: list[list[int]] = []
    for seed in seeds:
        if stretches and seed == stretches[-1][-1] + 1:
            stretches[-1].append(seed)
        else:
            stretches.append([seed])
    return stretches


def _runs(
    group: Group, graph: Graph | None, splits: dict[int, Split], blank: Sequence[Run], device: str | None
) -> list[Run]:
    """The runs, measured. Where one fails for lack of memory or diverges, the others are tried without it."""
    import torch

    from dfnets.training import DivergedError

    began = time.perf_counter()
    reason, splits_up = "", False
    try:
        if group.measure is not None:
            done = [replace(blank[0], measures=measures.measure(group, graph, blank[0].seed, splits, device))]
        else:
            assert graph is not None
            done = _trained(group, graph, [splits[run.seed] for run in blank], blank, device)
    except Exception as error:  # whatever a model does wrong, the study goes on and says so
        reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        splits_up = len(blank) > 1 and (isinstance(error, DivergedError | MemoryError) or "memory" in reason.lower())
    # Out of the handler, whose traceback holds what the failed training held.
    if splits_up:
        torch.cuda.empty_cache()
        half = len(blank) // 2
        return [run for part in (blank[:half], blank[half:]) for run in _runs(group, graph, splits, part, device)]
    if reason:
        done = [replace(run, status="failed", reason=reason) for run in blank]
    share = (time.perf_counter() - began) / len(blank)
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return [replace(run, seconds=round(share, 3), together=len(blank), finished=now) for run in done]


def _trained(
    group: Group, graph: Graph, splits: Sequence[Split], blank: Sequence[Run], device: str | None
) -> list[Run]:
    import torch

    from dfnets.training import fit

    place = "cpu" if group.model in ON_CPU else device
    on_gpu = _on_gpu(place)
    if on_gpu:
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
        replicas=len(blank),
        seed=blank[0].seed,
        preset=group.preset_name,
        device=place,
        progress=False,
        **group.settings,
    )
    history = result.history
    final, oracle = result.accuracy("final").values, result.accuracy("oracle").values
    chosen = all(len(split.validation) for split in splits)
    runs = []
    for r, run in enumerate(blank):
        numbers: dict[str, Any] = {"final": float(final[r]), "oracle": float(oracle[r])}
        if chosen:
            numbers["validation"] = float(result.accuracy("validation").values[r])
            numbers["validation_accuracy"] = float(np.nanmax(history.validation[:, r]))
        numbers["epochs"] = int(history.epochs[history.last()[r]])
        numbers["memory"] = torch.cuda.max_memory_allocated() if on_gpu else None
        runs.append(replace(run, **numbers))
    return runs


def _blank(group: Group, graph: Graph | None, split: Split | None, seed: int) -> Run:
    return Run(
        code=group.code,
        dataset=group.dataset,
        data="" if graph is None else _fingerprint(group.dataset),
        protocol=group.protocol_name,
        split="" if split is None else split.fingerprint,
        model=group.model,
        config=group.config,
        seed=seed,
        machine=_machine(),
        versions=_versions(),
        settings=group.all_settings(),
    )


def _splits(group: Group, graph: Graph, seeds: Sequence[int]) -> dict[int, Split]:
    """The split of each seed: draw s for seed s, or the only one that there is."""
    if group.protocol in graph.splits:
        made = datasets.splits.make(graph, group.protocol, **group.options)
    elif not group.trains:
        return {}
    else:
        made = datasets.splits.make(graph, group.protocol, draws=max(seeds) + 1, seed=0, **group.options)
    return {seed: made[seed % len(made)] for seed in seeds}


@lru_cache(maxsize=2)
def _graph(name: str) -> Graph:
    return datasets.load(name)


@lru_cache
def _fingerprint(name: str) -> str:
    return datasets.splits.fingerprint(_graph(name))


@lru_cache
def _machine() -> str:
    import torch

    names = [torch.cuda.get_device_name()] if torch.cuda.is_available() else []
    return ", ".join([*names, f"{_processor()}, {os.cpu_count()} cores", platform.system()])


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


@lru_cache
def _versions() -> dict[str, str]:
    import scipy
    import torch

    return {
        "dfnets": dfnets.__version__,
        "commit": code.revision(),
        "Python": platform.python_version(),
        "torch": torch.__version__,
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
    }


def _name(job: Job) -> str:
    group = job.group
    identity = (group.code, group.dataset, group.protocol_name, group.model, group.config, job.seeds[0])
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:24]


def _workers(device: str | None) -> int:
    return min(6 if _on_gpu(device) else 4, os.cpu_count() or 1)


def _on_gpu(device: str | None) -> bool:
    import torch

    return device != "cpu" and torch.cuda.is_available()


def _together(
    jobs: Sequence[Job], path: str, device: str | None, deadline: float | None, count: int, move: Callable[[], None]
) -> None:
    # Spawned, not forked: a forked process inherits the locks of torch's threads, but not the threads.
    context = multiprocessing.get_context("spawn")
    options = {"threads": max(1, (os.cpu_count() or 1) // count), "parent": os.getpid()}
    processes = [
        context.Process(target=work, args=(jobs, path, device, deadline), kwargs=options) for _ in range(count)
    ]
    for process in processes:
        process.start()
    while any(process.is_alive() for process in processes):
        move()
        processes[0].join(PAUSE)
        time.sleep(0 if processes[0].is_alive() else PAUSE)
    move()
    failed = [process.exitcode for process in processes if process.exitcode]
    if failed:
        raise OSError(
            f"{len(failed)} of {count} workers ended early (exit code {failed[0]}, see above): what was finished is "
            "stored; start again to go on"
        )


@contextmanager
def _bar(jobs: Sequence[Job], store: Store, console: Console) -> Iterator[Callable[[], None]]:
    """A function that moves a bar as long as the expected time of all jobs to what is in the store."""
    cost = {_loose(job.group, seed): job.group.cost for job in jobs for seed in job.seeds}
    columns = (
        TextColumn("{task.fields[done]} of {task.fields[all]} runs"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=sum(cost.values()), done=0, all=len(cost))

        spoken = time.monotonic()

        def move() -> None:
            nonlocal spoken
            there = store.identities() & cost.keys()
            progress.update(task, completed=sum(cost[run] for run in there), done=len(there))
            if not console.is_terminal and time.monotonic() - spoken > SPEAK:
                spoken = time.monotonic()
                console.print(f"{len(there)} of {len(cost)} runs", highlight=False)

        move()
        yield move


def _loose(group: Group, seed: int) -> tuple[Any, ...]:
    """What a run is known by without its data at hand."""
    return (group.code, group.dataset, group.protocol_name, group.model, group.config, seed)

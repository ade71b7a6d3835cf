"""Jobs: some seeds of a group, taken by one process at a time.

A job is claimed by a lock that the system releases when its holder ends, however it ends; its runs enter the store in
one transaction when they are done. So a study may be killed at any moment and started again, and several processes,
of one command or of several, may work on it at the same time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from dfnets import checksums
from dfnets.store import Store
from dfnets.studies.planning.group import Group
from dfnets.studies.running import code_version, training

# Seconds between two looks at the jobs that other processes hold.
PAUSE = 0.5


@dataclass(frozen=True)
class Job:
    """Some seeds of a group."""

    group: Group
    seeds: tuple[int, ...]

    @property
    def cost(self) -> float:
        """An estimate of its time."""
        return self.group.cost * len(self.seeds)

    @property
    def lock_name(self) -> str:
        """The name of the file whose lock claims the job."""
        return checksums.of_bytes(repr(run_identity(self.group, self.seeds[0])).encode())[:24]


def run_identity(group: Group, seed: int) -> tuple[Any, ...]:
    """What identifies a run without its data at hand, as in :meth:`dfnets.store.Store.identities`."""
    version = code_version.of_group(group)
    return (version, group.dataset, group.protocol_name, group.model, group.config, seed)


def jobs_of(groups: Iterable[Group], *, memory_factor: int = 1) -> list[Job]:
    """The jobs of groups, cheap ones first, every run in one of them; models that do not exist are left out.

    Args:
        memory_factor: how many times as many replicas as usual fit into memory.
    """
    jobs, seen = [], set()
    for group in groups:
        if not group.registered:
            continue
        new = [seed for seed in range(group.seeds) if run_identity(group, seed) not in seen]
        seen |= {run_identity(group, seed) for seed in new}
        size = group.replicas_at_once if group.measure else memory_factor * group.replicas_at_once
        jobs += [Job(group, tuple(new[i : i + size])) for i in range(0, len(new), size)]
    return sorted(jobs, key=lambda job: job.cost)


def work(
    jobs: Sequence[Job],
    path: str,
    device: str | None,
    deadline: float | None,
    *,
    threads: int | None = None,
    parent: int | None = None,
    after_job: Callable[[], None] = lambda: None,
) -> None:
    """Takes jobs that nobody else has until all are done; waits for those that others hold, in case their holder ends.

    Args:
        path: of the store.
        deadline: start nothing after this time of the clock.
        threads: of torch; None leaves them as they are.
        parent: stop when this process is no longer the parent.
        after_job: called after each job, and from time to time while waiting.
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
                    with FileLock(claims / f"{job.lock_name}.lock", timeout=0):
                        complete(job, store, device)
                except Timeout:
                    held.append(job)
                after_job()
            waiting = held
            if waiting:
                time.sleep(PAUSE)


def complete(job: Job, store: Store, device: str | None) -> None:
    """Trains or measures what of a job is not in the store yet."""
    group = job.group
    try:
        graph = training.load_graph(group.dataset) if group.measure != "complexity" else None
    except (ValueError, OSError) as error:
        Console(stderr=True).print(f"left out, no data: {group}: {str(error).splitlines()[0]}", markup=False)
        return
    splits = {} if graph is None else training.splits_by_seed(group, graph, job.seeds)
    empty = training.empty_runs(group, graph, splits, job.seeds)
    stored = store.keys()
    missing = [seed for seed in job.seeds if empty[seed].key not in stored]
    for seeds in consecutive(missing):
        store.add(training.finish_runs(group, graph, splits, [empty[seed] for seed in seeds], device))


def consecutive(seeds: Sequence[int]) -> list[list[int]]:
    """Seeds in stretches without a gap, which can be trained together.

    >>> consecutive([0, 1, 4])
    [[0, 1], [4]]
    """
    stretches: list[list[int]] = []
    for seed in seeds:
        if stretches and seed == stretches[-1][-1] + 1:
            stretches[-1].append(seed)
        else:
            stretches.append([seed])
    return stretches

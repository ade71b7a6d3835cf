"""Running groups: worker processes, and a bar that shows how far they are."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from dfnets.store import Store
from dfnets.studies.planning.group import Group
from dfnets.studies.running.jobs import PAUSE, Job, jobs_of, run_identity, work
from dfnets.studies.running.training import on_gpu
from dfnets.workers import started

# Seconds between two lines of progress where there is no terminal for a bar.
LINE_EVERY = 30.0


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
    """Runs what of the groups is not in the store yet, and returns when all of it is there.

    Args:
        workers: processes; None takes as many as there are cores, up to 4 (6 where they share a GPU).
        device: ``"cpu"`` or ``"cuda"``; None is a CUDA device where there is one.
        minutes: start no job after that time.
        retry: run again also what diverged. What failed for another reason, such as a device without memory, is always
            run again.
        console: where to report progress.
    """
    check_options(workers=workers, device=device, minutes=minutes)
    console = Console(stderr=True) if console is None else console
    jobs = jobs_of(groups, memory_factor=4 if on_gpu(device) else 1)
    missing = sorted({group.model for group in groups if not group.registered})
    if missing:
        console.print(f"not registered, left out: {', '.join(missing)}", highlight=False)
    deadline = None if minutes is None else time.time() + 60 * minutes
    count = min(_default_workers(device) if workers is None else workers, len(jobs))
    with Store(store) as opened, _progress_bar(jobs, opened, console) as update:
        opened.forget_failures(diverged=retry)
        if count <= 1:
            work(jobs, str(store), device, deadline, after_job=update)
        else:
            _work_in_processes(jobs, str(store), device, deadline, count, update)


def check_options(*, workers: int | None, device: str | None, minutes: float | None) -> None:
    """Raises before the first run where an option cannot be meant: otherwise every run would fail, one by one."""
    from dfnets.training.devices import choose_device

    choose_device(device)
    if workers is not None and workers < 1:
        raise ValueError(f"workers={workers}: at least 1 process is needed")
    if minutes is not None and not (minutes >= 0 and math.isfinite(minutes)):
        raise ValueError(f"minutes={minutes}: give a number, 0 or more, or leave it out to run everything")


def _default_workers(device: str | None) -> int:
    return min(6 if on_gpu(device) else 4, os.cpu_count() or 1)


def _work_in_processes(
    jobs: Sequence[Job], path: str, device: str | None, deadline: float | None, count: int, update: Callable[[], None]
) -> None:
    threads = max(1, (os.cpu_count() or 1) // count)
    with started(count, work, jobs, path, device, deadline, threads=threads, parent=os.getpid()) as processes:
        while any(process.is_alive() for process in processes):
            update()
            processes[0].join(PAUSE)
            time.sleep(0 if processes[0].is_alive() else PAUSE)
    update()
    failed = [process.exitcode for process in processes if process.exitcode]
    if failed:
        raise OSError(
            f"{len(failed)} of {count} workers ended early (exit code {failed[0]}, see above): what was finished is "
            "stored; start the same command again to continue"
        )


@contextmanager
def _progress_bar(jobs: Sequence[Job], store: Store, console: Console) -> Iterator[Callable[[], None]]:
    """A function that moves a bar, as long as the expected time of all jobs, to what is in the store."""
    cost = {run_identity(job.group, seed): job.group.cost for job in jobs for seed in job.seeds}
    columns = (
        TextColumn("{task.fields[done]} of {task.fields[all]} runs"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=sum(cost.values()), done=0, all=len(cost))
        last_line = time.monotonic()

        def update() -> None:
            nonlocal last_line
            stored = store.identities() & cost.keys()
            progress.update(task, completed=sum(cost[run] for run in stored), done=len(stored))
            if not console.is_terminal and time.monotonic() - last_line > LINE_EVERY:
                last_line = time.monotonic()
                console.print(f"{len(stored)} of {len(cost)} runs", highlight=False)

        update()
        yield update

"""Threads that help with a kernel, and that nobody waits for unless they have taken a piece of the work.

A parallel loop of OpenMP ends when its last thread has woken up and found out that there is nothing left; on a machine
that does other work too, that takes milliseconds. Here the work is a list of pieces. The thread that calls takes pieces
from the start, helpers join in when they wake up, and the call returns when every piece is done: a helper that comes
too late finds nothing to take, and has cost nothing but its wake-up.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from typing import Any

import numpy as np

# Nanoseconds of work, as the caller estimates it, below which one thread is faster: a helper takes 30 to 100
# microseconds to wake up, and more on a busy machine.
WORTH_WAKING = 120_000
# And in a piece: few enough to cost nothing, enough of them for a thread that is held up to leave the rest to others.
PIECE = 20_000

_jobs: SimpleQueue[tuple[Callable[..., Any], tuple[Any, ...]]] = SimpleQueue()
_helpers: list[threading.Thread] = []
_starting = threading.Lock()


def run(kernel: Callable[..., Any], *arguments: Any, nanoseconds: float, steps: int = 1) -> None:
    """kernel(*arguments, counters, pieces) by as many threads as the work pays for, which must not hold the GIL.

    The kernel takes so many steps one after the other, each of about ``nanoseconds`` and cut into so many pieces.
    """
    threads = threads_for(nanoseconds)
    if threads == 1:
        kernel(*arguments, np.zeros(9, dtype=np.int64), 1)
        return
    pieces = int(min(nanoseconds // PIECE, 64 * threads))
    # What is taken and what is done stand in cache lines of their own.
    counters = np.zeros(9, dtype=np.int64)
    call = (*arguments, counters, pieces)
    _start(threads - 1)
    for _ in range(threads - 1):
        _jobs.put((kernel, call))
    kernel(*call)
    while counters[8] < pieces * steps:
        time.sleep(0)


def share(task: Callable[[int], object], numbers: Iterable[int]) -> None:
    """task(number) for all of them, by as many threads as there are; each takes the next one until none is left."""
    todo = list(numbers)
    taken, done = itertools.count(), threading.Semaphore(0)
    errors: list[BaseException] = []

    def work() -> None:
        while (place := next(taken)) < len(todo):
            try:
                task(todo[place])
            except BaseException as error:
                errors.append(error)
            done.release()

    helpers = min(count(), len(todo)) - 1
    _start(helpers)
    for _ in range(helpers):
        _jobs.put((work, ()))
    work()
    for _ in todo:
        done.acquire()
    if errors:
        raise errors[0]


def threads_for(nanoseconds: float) -> int:
    """How many threads so much work pays for."""
    return 1 if not worth_waking(nanoseconds) else min(count(), int(nanoseconds // (WORTH_WAKING // 2)))


def worth_waking(nanoseconds: float) -> bool:
    """Whether so much work is enough for a second thread, if there is one."""
    return nanoseconds >= WORTH_WAKING


def count() -> int:
    """Threads that may be used: what Numba was told, and torch where it is there; each machine core at most once."""
    import numba

    torch = sys.modules.get("torch")
    if torch is None:
        return numba.get_num_threads()
    allowed = torch.get_num_threads()
    threads = numba.get_num_threads()
    if torch.get_num_threads() != allowed:
        # Numba starts its threads when it is first asked, and sets those of the OpenMP library that torch uses too.
        torch.set_num_threads(allowed)
    return min(threads, allowed)


def _start(wanted: int) -> None:
    if len(_helpers) >= wanted:
        return
    with _starting:
        while len(_helpers) < wanted:
            helper = threading.Thread(target=_help, name=f"dfnets-{len(_helpers)}", daemon=True)
            helper.start()
            _helpers.append(helper)


def _help() -> None:
    while True:
        kernel, call = _jobs.get()
        kernel(*call)
        # The signals of a call must not live until the next one.
        del kernel, call


def _forget() -> None:
    """In a forked child there are no helpers, and locks may be held by threads that do not exist there."""
    global _jobs, _starting
    _jobs, _starting = SimpleQueue(), threading.Lock()
    _helpers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)

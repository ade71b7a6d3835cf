"""Worker processes that end when they should: with their parent, however it ends, and without noise."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from typing import Any


@contextmanager
def started(count: int, target: Callable[..., object], *arguments: Any, **options: Any) -> Iterator[list[BaseProcess]]:
    """``count`` processes that run ``target``; what is alive of them when the block ends is ended.

    A worker does not outlive its parent: it watches it, and ends within moments even of a kill that the parent could
    not catch. Ctrl-C is the parent's to handle; workers ignore it, so that one line is printed and not one per worker.
    """
    # Spawned, not forked: a forked process inherits the locks of torch's threads, but not the threads.
    context = multiprocessing.get_context("spawn")
    processes: list[BaseProcess] = [
        context.Process(target=_begin, args=(target, arguments, options), daemon=True) for _ in range(count)
    ]
    try:
        for process in processes:
            process.start()
        yield processes
    finally:
        for process in processes:
            if process.is_alive():
                process.terminate()
        for process in processes:
            if process.pid is not None:
                process.join()


def _begin(target: Callable[..., object], arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        target(*arguments, **options)
    except Exception as error:
        if os.environ.get("DFNETS_TRACEBACK"):
            traceback.print_exc()
        print(f"worker: {type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)

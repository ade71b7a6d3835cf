"""One thread or all of them: whichever makes the steps of a training shorter, found out by its first steps.

A step on a small graph is hundreds of operations of a few microseconds. Waking a second thread for some of them may
take longer than all of the work, above all on a virtual machine or beside other programs, and how long it takes cannot
be known beforehand. The numbers do not depend on it, as no bit depends on the number of threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

import torch

Result = TypeVar("Result")

# Steps that are not timed, since kernels are compiled and memory is asked for in them; and those timed of either kind.
WARM, TIMED = 2, 3


class ThreadChoice:
    """Times the first calls of a step, some with all threads and some with one, and keeps to the faster.

    As a context it leaves the number of threads as it was found. The shortest of a few times counts, since other
    programs only make a step longer.

    Args:
        device: where the steps run; elsewhere than on a CPU nothing is tried.

    >>> with ThreadChoice(torch.device("cpu")) as threads:
    ...     threads.timed(lambda: "a step")
    'a step'
    """

    def __init__(self, device: torch.device) -> None:
        self._all = torch.get_num_threads()
        self._trying = device.type == "cpu" and self._all > 1
        self._seconds: dict[int, list[float]] = {self._all: [], 1: []}
        self._calls = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        torch.set_num_threads(self._all)

    def timed(self, step: Callable[[], Result]) -> Result:
        """What the step gives; while there is something to find out, its time is taken."""
        if not self._trying:
            return step()
        began = time.perf_counter()
        result = step()
        self._calls += 1
        if self._calls > WARM:
            self._record(time.perf_counter() - began)
        return result

    def _record(self, seconds: float) -> None:
        with_all, with_one = self._seconds[self._all], self._seconds[1]
        if len(with_all) < TIMED:
            with_all.append(seconds)
            torch.set_num_threads(1 if len(with_all) == TIMED else self._all)
            return
        with_one.append(seconds)
        slower = seconds > max(with_all)
        if slower or len(with_one) == TIMED:
            # A long step that one thread makes longer is not tried again.
            torch.set_num_threads(self._all if slower or min(with_all) <= min(with_one) else 1)
            self._trying = False

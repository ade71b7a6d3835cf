"""Time and memory of calls: repetitions of all contenders interleaved, so that a busy moment hits them all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

Call = Callable[[], Any]


# How many times the time of the fastest a contender may take to be timed in every round; others are timed three times.
SLOW = 20


def medians(calls: Mapping[str, Call], device: str, *, budget: float = 2.0, most: int = 31) -> dict[str, float]:
    """Median seconds of each call, in rounds of all of them, for about ``budget`` seconds and 3 rounds at least.

    Before each, a pause lets the threads of the library before it fall asleep (they spin on the cores for a while after
    their work), and an untimed call fills the caches; one of half a second needs no such run-up.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()  # compiles, and touches the memory
    once = {name: seconds(call, device) for name, call in calls.items()}
    slow = {name for name, spent in once.items() if spent > min(0.5, SLOW * min(once.values()))}
    began = time.perf_counter()
    for done in range(most):
        if done >= 3 and time.perf_counter() - began > budget:
            break
        for name, call in calls.items():
            if done >= 3 and name in slow:
                continue
            if device == "cpu":
                time.sleep(0.02)
            if name not in slow:
                call()
            times[name].append(seconds(call, device))
    return {name: statistics.median(values) for name, values in times.items()}


def seconds(call: Call, device: str) -> float:
    """One call, the release of its result included; on a GPU the mean of ten in a row, by the device's own clock.

    Ten, because a chain keeps a GPU's queue filled: the cost of a launch then hides behind the work before it.
    """
    if device == "cpu":
        began = time.perf_counter()
        call()
        return time.perf_counter() - began
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(10):
        call()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) / 1e4


def peak(call: Call, device: str) -> int | None:
    """The most bytes that a call holds beyond what is held before it; None where the system does not tell."""
    if device != "cpu":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        call()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before
    status, clear = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not clear.exists():
        return None
    call()  # what a library sets up once and keeps is not the call's
    clear.write_text("5")  # resets the high-water mark of this process
    before = _kilobytes(status, "VmRSS")
    call()
    return 1024 * max(0, _kilobytes(status, "VmHWM") - before)


def copy_bandwidth(device: str) -> float:
    """Bytes a second, read and written, of a copy that no cache holds."""
    size = 1 << (30 if device != "cpu" else 27)
    source, target = torch.ones(size), torch.zeros(size)
    source, target = source.to(device), target.to(device)
    return 8 * size / medians({"copy": lambda: target.copy_(source)}, device)["copy"]


def _kilobytes(status: Path, field: str) -> int:
    for line in status.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise KeyError(field)

"""Time and memory of calls: repetitions of all contenders interleaved, so that a busy moment hits them all alike."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

Call = Callable[[], Any]


# How many times the time of the fastest a contender may take to be timed more than once.
SLOW = 10
# Seconds that calls in a row are timed for on a CPU, after half as long untimed: one alone may take 10 microseconds.
STRETCH = 2e-3
# Seconds of a call that needs no running up, and is called no more often than it must be.
LONG = 0.05
# Rounds at least, and how closely a ratio is to be known: half the width of an interval about its median.
LEAST, CLOSE = 5, 0.03


def medians(calls: Mapping[str, Call], device: str, *, budget: float = 2.0, most: int = 31) -> dict[str, float]:
    """The median seconds of each call; see :func:`compare`."""
    return compare(calls, device, budget=budget, most=most)[0]


def compare(
    calls: Mapping[str, Call], device: str, *, budget: float = 2.0, most: int = 31
) -> tuple[dict[str, float], float]:
    """Median seconds of each call, in rounds of all of them, and how closely the ratio that matters is known.

    That is the ratio of the fastest other call and the first call, in the same round. Rounds end when it is known to
    within ``CLOSE``, or after ``budget`` seconds and 3 rounds. Each time, a pause lets the threads of the library
    before fall asleep (they spin on the cores for a while after their work), untimed calls bring caches and clocks up,
    and calls in a row are timed, as in a chain. What takes ``SLOW`` times as long as the fastest is timed once.
    """
    once = {name: _first(call, device) for name, call in calls.items()}
    limit = SLOW * min(once.values())
    timed = [name for place, name in enumerate(calls) if place == 0 or once[name] <= limit]
    times = {name: [] if name in timed else [spent] for name, spent in once.items()}
    began, within = time.perf_counter(), math.inf
    for done in range(1, most + 1):
        for name in timed:
            if device == "cpu":
                time.sleep(0.02)
                count = min(50, math.ceil(STRETCH / once[name]))
                for _ in range(max(1, count // 2) if once[name] < LONG else 0):
                    calls[name]()
                times[name].append(_in_a_row(calls[name], count))
            else:
                calls[name]()
                times[name].append(seconds(calls[name], device))
        within = _closeness([times[name] for name in timed])
        if (done >= LEAST and within < CLOSE) or (done >= 3 and time.perf_counter() - began > budget):
            break
    return {name: statistics.median(values) for name, values in times.items()}, within


def _first(call: Call, device: str) -> float:
    """Seconds of a first call; where it was quick, the least of four: it may have set things up, or been held up."""
    spent = seconds(call, device)
    return spent if spent > LONG else min(spent, *(seconds(call, device) for _ in range(3)))


def _in_a_row(call: Call, count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - began) / count


def _closeness(times: Sequence[Sequence[float]]) -> float:
    """Half the width of a 95% interval about the median of log(fastest other / first), or of log(first) alone."""
    ours, *others = times
    series = [[math.log(o / t) for o, t in zip(other, ours, strict=True)] for other in others] or [
        [math.log(t) for t in ours]
    ]
    ratios = min(series, key=statistics.median)
    if len(ratios) < 3:
        return math.inf
    low, _, high = statistics.quantiles(ratios, n=4)
    return 1.57 * (high - low) / math.sqrt(len(ratios))


def seconds(call: Call, device: str) -> float:
    """One call, the release of its result included; on a GPU the mean of ten in a row, by the device's own clock.

    Ten, because a chain keeps a GPU's queue filled: the cost of a launch then hides behind the work before it.
    """
    if device == "cpu":
        return _in_a_row(call, 1)
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

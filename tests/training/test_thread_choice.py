"""One thread or all: the faster is kept, the caller's number comes back, and Numba does not change it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
import torch

from dfnets.training import thread_choice
from dfnets.training.thread_choice import TIMED, WARM, ThreadChoice


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """A clock that stands still but for what a step takes."""
    now = [0.0]
    monkeypatch.setattr(thread_choice.time, "perf_counter", lambda: now[0])

    def take(seconds: float) -> None:
        now[0] += seconds

    return take


@pytest.mark.parametrize(("with_one", "kept"), [(1.0, 1), (3.0, 2)])
def test_the_faster_number_of_threads_is_kept(clock, with_one: float, kept: int) -> None:
    used = []

    def step() -> None:
        used.append(torch.get_num_threads())
        clock(2.0 if used[-1] == 2 else with_one)

    with ThreadChoice(torch.device("cpu")) as threads:
        for _ in range(WARM + 2 * TIMED + 4):
            threads.timed(step)
        assert torch.get_num_threads() == kept
    assert used[: WARM + TIMED] == [2] * (WARM + TIMED)
    assert used[-4:] == [kept] * 4
    assert used.count(1) == (TIMED + 4 if kept == 1 else 1), "a longer step must not be tried again"
    assert torch.get_num_threads() == 2


def test_an_error_leaves_the_number_of_threads_as_it_was(clock) -> None:
    def step() -> None:
        if torch.get_num_threads() == 1:
            raise ArithmeticError
        clock(1.0)

    def training() -> None:
        with ThreadChoice(torch.device("cpu")) as threads:
            for _ in range(20):
                threads.timed(step)

    with pytest.raises(ArithmeticError):
        training()
    assert torch.get_num_threads() == 2


def test_numba_does_not_change_the_threads_of_torch() -> None:
    """In a process of its own, because Numba sets the threads of OpenMP only once, when it starts."""
    code = """
import torch
torch.set_num_threads(1)
import numpy as np, dfnets
from dfnets.engine import threads
assert threads.count() == 1
dfnets.builders.sensor(50)
print(torch.get_num_threads())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"

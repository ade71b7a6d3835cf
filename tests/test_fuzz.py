"""A short seeded part of the random trials; ``make fuzz`` makes all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(sys.platform != "linux", reason="the trials limit processes as Linux does")
@pytest.mark.parametrize(
    "arguments", [("files", "--scale", "0.01"), ("commands", "--scale", "0.03")], ids=["files", "commands"]
)
def test_no_promise_is_broken(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fuzz", *arguments, "--seed", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=3000,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "trials" in done.stdout

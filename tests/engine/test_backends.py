"""Which back end is taken, and what is imported for it."""

from __future__ import annotations

import subprocess
import sys

from dfnets import engine

ALONE = """
import sys
import numpy as np

sys.modules["{missing}"] = None  # as if it were not installed
from dfnets import Graph, Shift, engine
shift = Shift(Graph(np.array([[0.0, 1.0], [1.0, 0.0]])), centre=0.0)
assert np.allclose(shift @ np.array([1.0, -1.0]), [1.0, -1.0])
assert np.allclose(engine.horner(shift, np.ones(2), None, [1.0, 1.0], None), 1)
print(*engine.available(), *(name for name in ("torch", "numba") if sys.modules.get(name)))
"""


def alone(missing: str) -> str:
    code = ALONE.replace("{missing}", missing)
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_arrays_need_no_torch():
    assert alone("torch") == "cpu reference numba"


def test_without_numba_scipy_steps_in():
    assert alone("numba") == "reference"


def test_the_reference_is_everywhere_and_the_last_choice():
    for device in ("cpu", "cuda", "mps"):
        assert engine.available(device)[-1] == "reference"

"""Compiling where nothing can be kept."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from numba.core import caching

from dfnets.compiled import njit


def square(x: float) -> float:
    return x * x


def test_it_keeps_what_it_compiles() -> None:
    assert njit(square, cache=True).stats.cache_path
    assert njit(cache=True)(square)(3.0) == 9.0


def test_a_read_only_installation_without_a_home_still_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba itself refuses to compile there."""
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    compiled = njit(square, cache=True)
    assert compiled.stats.cache_path is None
    assert compiled(3.0) == 9.0


@pytest.mark.skipif(sys.platform != "linux", reason="no such user elsewhere")
def test_a_user_whom_the_system_does_not_know_gets_an_error_in_words() -> None:
    code = "from dfnets.datasets import cache; import pwd\npwd.getpwuid = lambda _: (_ for _ in ()).throw(KeyError())\n"
    code += "try: print(cache.folder())\nexcept OSError as error: print(error)"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True
    )
    assert done.stdout.startswith("this user has no home folder to keep datasets in: set XDG_CACHE_HOME")

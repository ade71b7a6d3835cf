"""Where a run comes from: the machine and the versions that are stored with it."""

from __future__ import annotations

import os
import platform
from functools import lru_cache
from pathlib import Path

import numpy as np

import dfnets
from dfnets.studies.running import code_version


@lru_cache
def machine() -> str:
    """The GPU if there is one, the processor with its number of cores, and the operating system."""
    import torch

    names = [torch.cuda.get_device_name()] if torch.cuda.is_available() else []
    return ", ".join([*names, f"{_processor()}, {os.cpu_count()} cores", platform.system()])


@lru_cache
def versions() -> dict[str, str]:
    """The commit, and the versions of Python and of the libraries that compute."""
    import scipy
    import torch

    return {
        "dfnets": dfnets.__version__,
        "commit": code_version.commit(),
        "Python": platform.python_version(),
        "torch": torch.__version__,
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()

"""Starting several processes for a test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def torchrun(processes: int, *arguments: str, folder: Path | None = None, status: int = 0) -> str:
    """Runs a script with its arguments, or ``-m`` and a module, by so many processes of one thread: what they printed.

    ``--standalone`` takes a free port itself.
    """
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, *arguments], env=environment, cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == status, done.stderr[-8000:]
    return done.stdout if status == 0 else done.stderr

"""``python -m fuzz [PART ...] [--seed N] [--scale X]``: random trials, and one line about each kind of them.

It ends with status 1 when a promise was broken, and says which trial broke it; the same seed repeats it.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from importlib.util import find_spec

# One thread: a child of a process that has computed with several can wait for threads that it does not have.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

PARTS = tuple(name for name in ("files", "commands", "kills", "filters") if find_spec(f"fuzz.{name}"))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[], help="all of them by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full number of trials")
    options = parser.parse_args()
    start, failures = time.monotonic(), 0
    for name in options.parts or PARTS:
        for report in importlib.import_module(f"fuzz.{name}").run(options.seed, options.scale):
            print(report.line(), flush=True)
            for failure in report.failures[:20]:
                print(f"    {failure}", flush=True)
            failures += len(report.failures)
    print(f"{failures} failures, seed {options.seed}, {time.monotonic() - start:.0f} s")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

"""Mutation testing: one small wrong at a time in the source, and whether a test notices.

``python -m fuzz.mutants [certificates] [statistics] [splits] [search] [--list]`` copies the repository's source and
tests, applies each mutation there, runs the tests named with it, and lists the mutants that survive. Status 1 if there
are any.

A list is a tuple of :class:`fuzz.mutant.Mutant`; other lists join ``LISTS`` by name.
"""

from __future__ import annotations

import argparse
import importlib
import os
import resource
import shutil
import sys
import tempfile
from pathlib import Path

from fuzz.harness import forked
from fuzz.mutant import Mutant
from fuzz.mutated_certificates import CERTIFICATES
from fuzz.mutated_splits import SEARCH, SPLITS
from fuzz.mutated_statistics import STATISTICS

ROOT = Path(__file__).parents[1]
MOST_SECONDS = 600
"""Of computing for the tests of one mutant: what has made them endless is noticed too."""
LISTS = {"certificates": CERTIFICATES, "statistics": STATISTICS, "splits": SPLITS, "search": SEARCH}


def survives(mutant: Mutant, folder: Path) -> bool:
    """Whether the tests still pass with the mutant in the copy of the source in ``folder``."""
    path = folder / "src" / "dfnets" / mutant.file
    original, times = path.read_text(), path.stat()
    if original.count(mutant.before) != 1:
        raise ValueError(
            f"{mutant.name!r}: {mutant.before!r} is {original.count(mutant.before)} times in {mutant.file}"
        )
    path.write_text(original.replace(mutant.before, mutant.after))
    try:
        return passes(mutant.tests, folder)
    finally:
        path.write_text(original)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # its compiled form is valid again


def passes(tests: str, folder: Path) -> bool:
    """Whether tests pass in the copy: in a child of this process, which has loaded the other packages already."""

    def act() -> None:
        import pytest

        os.chdir(folder)
        os.environ["PYTHONPATH"] = str(folder / "src")
        os.environ["DFNETS_DATA"] = str(ROOT.parent / "shared/data")
        sys.path[:0] = [str(folder / "src"), str(folder)]
        for name in [name for name in sys.modules if name.split(".")[0] == "fuzz"]:
            del sys.modules[name]  # the copy's own is meant
        sys.dont_write_bytecode = True
        sys.exit(int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *tests.split()])))

    return forked(act, limits={resource.RLIMIT_CPU: MOST_SECONDS}, kill_after=60 * MOST_SECONDS).status == 0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz.mutants", description=__doc__)
    parser.add_argument("lists", nargs="*", choices=[[], *LISTS], default=[], help="all of them by default")
    parser.add_argument("--list", action="store_true", help="only name the mutants")
    options = parser.parse_args()
    mutants = [mutant for name in options.lists or LISTS for mutant in LISTS[name]]
    survivors = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if not options.list:
            for part in ("src", "tests", "fuzz", "pyproject.toml"):
                copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
                copy(ROOT / part, folder / part)  # type: ignore[operator]
            os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")  # as dfnets does before it loads torch
            for name in ("torch", "scipy.stats", "scipy.sparse.linalg", "pandas", "hypothesis", "optuna", "numba"):
                importlib.import_module(name)
            for tests in dict.fromkeys(mutant.tests for mutant in mutants):
                if not passes(tests, folder):
                    sys.exit(f"{tests} fails without any mutant")
        for mutant in mutants:
            lives = not options.list and survives(mutant, folder)
            survivors += [mutant.name] if lives else []
            verdict = "listed" if options.list else "SURVIVES" if lives else "killed"
            print(f"{verdict:9s} {mutant.file:24s} {mutant.name}", flush=True)
    print(f"{len(mutants)} mutants, {len(survivors)} survive")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()

"""Mutation testing: one small wrong at a time in the source, and whether a test notices.

``python -m fuzz.mutants [certificates] [--list]`` copies the repository's source and tests, applies each mutation
there, runs the tests named with it, and lists the mutants that survive. Status 1 if there are any.

A list is a tuple of :class:`Mutant`; other lists join ``LISTS`` by name.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Mutant:
    """One change of the source that a test must notice.

    Attributes:
        name: what is wrong then.
        file: under src/dfnets.
        before, after: the text to replace, which occurs exactly once, and what replaces it.
        tests: what pytest is given.
    """

    name: str
    file: str
    before: str
    after: str
    tests: str


CERTIFICATES = (
    Mutant(
        "constant of the Lanczos bound removed",
        "spectrum.py",
        "np.log(1.648 * np.sqrt(n) / failure)",
        "np.log(np.sqrt(n) / failure)",
        "tests/test_spectrum.py",
    ),
    Mutant(
        "Lanczos filter: the error of the polynomial once, not twice",
        "filters/lanczos.py",
        "return 2 * (float(np.abs(found.coefficients[steps:]).sum()) + found.error)",
        "return 1 * (float(np.abs(found.coefficients[steps:]).sum()) + found.error)",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "float32 rounding of Clenshaw set to 0",
        "filters/base.py",
        "return rounding.of_clenshaw(",
        "return 0 * rounding.of_clenshaw(",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "rounding of the recursion set to 0",
        "filters/feedback.py",
        "return (2 * once + (again + 2) * (r.gain + r.distance)) / (1 - r.contraction)",
        "return 0.0",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "rounding of conjugate gradients set to 0",
        "filters/feedback.py",
        "return 2 * (once + (again + 2) * r.gain) / r.weakest",
        "return 0.0",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "a row of the shift counted as one entry",
        "filters/rounding.py",
        "return (shift.longest_row + 8) *",
        "return 9 *",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "float32 output not rounded",
        "filters/plan.py",
        "last = unit(dtype) * f.gain(shift.interval) if dtype != kind else 0.0",
        "last = 0.0",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "curvature of a cell left out",
        "filters/bounds.py",
        "* radius + curvature * (radius**2 / 2)",
        "* radius + 0 * curvature * (radius**2 / 2)",
        "tests/filters/test_bounds.py",
    ),
    Mutant(
        "slope of a cell left out",
        "filters/bounds.py",
        "drift = np.abs(top_slope - h * bottom_slope) * radius",
        "drift = 0 * np.abs(top_slope - h * bottom_slope) * radius",
        "tests/filters/test_bounds.py",
    ),
    Mutant(
        "zeros inside an ellipse not counted",
        "filters/bounds.py",
        "return largest if _turns(kept) == 0 else np.inf",
        "return largest",
        "tests/filters/test_bounds.py",
    ),
    Mutant(
        "aliasing left out of an expansion",
        "filters/expansion.py",
        "if tail is not None and 2 * tail(count) <= 0.02 * tolerance:",
        "if tail is not None:",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "heat's tail for half the time",
        "responses.py",
        "return ellipse_tail(rho, time * (half * (rho - 1) ** 2 / rho / 2 - interval[0]))",
        "return ellipse_tail(rho, time / 2 * (half * (rho - 1) ** 2 / rho / 2 - interval[0]))",
        "tests/filters/test_expansion.py",
    ),
    Mutant(
        "the bound on |P| not enforced on the stored coefficients",
        "filters/designing.py",
        "        psi = psi * (gamma / reached * (1 - shrink))",
        "        break",
        "tests/filters/test_designing.py",
    ),
    Mutant(
        "work is never refused",
        "filters/plan.py",
        "    if needed > max_products:",
        "    if needed > 10**18:",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "stop ripple instead of pass ripple",
        "filters/certificate.py",
        "(float(ripple[1]), float(ripple[0])) if target.ideal",
        "(float(ripple[0]), float(ripple[1])) if target.ideal",
        "tests/filters/test_certificate.py",
    ),
    Mutant(
        "frame bounds of the target, not of the filters",
        "filters/frames.py",
        "low, high = range_of(self._squares(interval))",
        "low, high = 1.0, 1.0",
        "tests/filters/test_frames.py",
    ),
)
LISTS = {"certificates": CERTIFICATES}


def survives(mutant: Mutant, folder: Path) -> bool:
    """Whether the tests still pass with the mutant in the copy of the source in ``folder``."""
    path = folder / "src" / "dfnets" / mutant.file
    original = path.read_text()
    if original.count(mutant.before) != 1:
        raise ValueError(
            f"{mutant.name!r}: {mutant.before!r} is {original.count(mutant.before)} times in {mutant.file}"
        )
    path.write_text(original.replace(mutant.before, mutant.after))
    try:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *mutant.tests.split()]
        environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "DFNETS_DATA": str(ROOT.parent / "shared/data")}
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False).returncode == 0
    finally:
        path.write_text(original)


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
        for mutant in mutants:
            lives = not options.list and survives(mutant, folder)
            survivors += [mutant.name] if lives else []
            verdict = "listed" if options.list else "SURVIVES" if lives else "killed"
            print(f"{verdict:9s} {mutant.file:24s} {mutant.name}", flush=True)
    print(f"{len(mutants)} mutants, {len(survivors)} survive")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()

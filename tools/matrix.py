"""``python -m tools.matrix``: other machines, as far as this one can stand for them.

Each cell runs ``tests/test_machines.py`` (design, apply and training against stored values; replicas and threads to the
bit) in a process whose environment, user or packages are changed, and the table says how it went. A cell that cannot be
had here is said to be so, with the reason. ``--only TEXT`` takes the cells whose name has that text; ``--python PATH``
names interpreters that have the dependencies and pytest, beside those that are found by themselves.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ["tests/test_machines.py"]
SECONDS = 3600
OLDEST_TORCH = "torch 2.6.0, its type hints"


@dataclass(frozen=True)
class Cell:
    """One kind of machine.

    Attributes:
        environment: variables that are set; None takes one away.
        before: words before the command, such as a change of user.
        missing: why it cannot be had here; empty when it can.
        command: what is run instead of the tests; words of it in error lines say what failed.
    """

    name: str
    environment: dict[str, str | None] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    python: str = sys.executable
    missing: str = ""
    command: tuple[str, ...] = ()


def cells(folder: Path, pythons: Sequence[str] = (), only: str = "") -> Iterator[Cell]:
    """All kinds of machines whose names have a text; ``folder`` is for copies and packages."""
    yield Cell("as it is")
    yield from instruction_sets()
    yield from threads()
    yield from places(folder)
    yield from versions(folder)
    yield from interpreters(pythons)
    if only in OLDEST_TORCH:  # its wheel is large
        yield oldest_torch(folder)


def instruction_sets() -> Iterator[Cell]:
    """Kernels that torch, MKL, OpenBLAS and Numba choose on other CPUs."""
    for value in ("default", "avx2"):
        yield Cell(f"ATEN_CPU_CAPABILITY={value}", {"ATEN_CPU_CAPABILITY": value})
    for value in ("OFF", "AUTO", "COMPATIBLE", "AVX2,STRICT", "AVX512,STRICT"):
        yield Cell(f"MKL_CBWR={value}", {"MKL_CBWR": value})
    for value in ("SSE4_2", "AVX2"):
        yield Cell(f"MKL_ENABLE_INSTRUCTIONS={value}", {"MKL_ENABLE_INSTRUCTIONS": value})
    for value in ("Haswell", "Zen", "SkylakeX"):
        yield Cell(f"OPENBLAS_CORETYPE={value}", {"OPENBLAS_CORETYPE": value})
    for value in ("generic", "znver3"):
        yield Cell(f"NUMBA_CPU_NAME={value}", {"NUMBA_CPU_NAME": value})


def threads() -> Iterator[Cell]:
    """One, two and four threads, whatever the number of cores."""
    for count in ("1", "2", "4"):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
        yield Cell(f"{count} threads", dict.fromkeys(names, count))


def places(folder: Path) -> Iterator[Cell]:
    """No data at hand, no network, no home, a package that cannot be written, another user."""
    yield Cell("without data", {"DFNETS_DATA": None, "XDG_CACHE_HOME": str(folder / "empty")})
    unshare = ("unshare", "--net") if _works("unshare", "--net", "true") else ()
    yield Cell("without a network", before=unshare, missing="" if unshare else "unshare --net needs root")
    yield Cell("without HOME", {"HOME": None})
    copy = folder / "read-only"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["chmod", "-R", "a-w", str(copy)], check=True)
    # Root may write everywhere and every user may not read everywhere: the capabilities are set to undo both.
    user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    user += ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    missing = "" if _works(*user, "true") else "setpriv needs root"
    bare = {"HOME": None, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": None}
    yield Cell("read-only package, no home, not root", bare, user, missing=missing)


def versions(folder: Path) -> Iterator[Cell]:
    """The oldest NumPy and SciPy of the ranges, over the installed packages."""
    overlay = folder / "oldest"
    wanted = ["numpy==2.0.*", "scipy==1.13.*"]
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--target",
        overlay,
    ]
    done = subprocess.run([*pip, *wanted], capture_output=True, text=True, check=False)
    reason = done.stderr.strip().rsplit("\n", 1)[-1][:100] if done.returncode else ""
    path = os.pathsep.join([str(overlay), str(ROOT / "src")])
    yield Cell("NumPy 2.0, SciPy 1.13", {"PYTHONPATH": path}, missing=reason)


def interpreters(given: Sequence[str]) -> Iterator[Cell]:
    """Other Pythons, where they have the packages that the tests need."""
    for version in ("3.11", "3.12", "3.13"):
        code = f"import sys, torch, numba, pytest, hypothesis; sys.exit(sys.version_info[:2] != {_numbers(version)})"
        found = [*given, shutil.which(f"python{version}") or "", _of_pyenv(version) or "", sys.executable]
        usable = [path for path in found if path and _works(path, "-c", code)]
        reason = "" if usable else f"no Python {version} with torch, numba and pytest: name one with --python"
        yield Cell(f"Python {version}", python=usable[0] if usable else "", missing=reason)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def oldest_torch(folder: Path) -> Cell:
    """The type hints of the oldest torch of the range: no name, method or argument is used that it does not have.

    Its wheel is unpacked and not installed, so that nothing can take it for the torch in use.
    """
    place, wheel = folder / "torch", folder / "wheel"
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "-d", str(wheel)]
    version = OLDEST_TORCH.split(",")[0].replace(" ", "==")
    done = subprocess.run([*pip, version], capture_output=True, text=True, check=False)
    if done.returncode:
        return Cell(OLDEST_TORCH, missing=done.stderr.strip().rsplit("\n", 1)[-1][:100])
    with zipfile.ZipFile(next(wheel.iterdir())) as archive:
        archive.extractall(place, [name for name in archive.namelist() if name.endswith((".py", ".pyi", "py.typed"))])
    mypy = ("mypy", "--no-warn-unused-ignores", "--cache-dir", str(folder / "mypy"))
    paths = os.pathsep.join([str(ROOT / "src"), str(place)])
    return Cell(OLDEST_TORCH, {"MYPYPATH": paths}, command=mypy)


def _of_pyenv(version: str) -> str | None:
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(found[-1]) if found else None


def _works(*words: str) -> bool:
    try:
        return subprocess.run(words, capture_output=True, check=False, timeout=120).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def run(cell: Cell) -> tuple[str, str]:
    """How a cell went, in a word, and the last line of its tests."""
    if cell.missing:
        return "not here", cell.missing
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for name, value in cell.environment.items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    tests = ("pytest", "-q", "-p", "no:cacheprovider", "--tb=line", *TESTS)
    words = [*cell.before, cell.python, "-m", *(cell.command or tests)]
    try:
        done = subprocess.run(
            words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return "FAILED", f"not done within {SECONDS} s"
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR", "E ", "src/dfnets"))]
    # mypy also names what it thinks is wrong in the other package; that is not ours to judge.
    if done.returncode > 1 or (failed if cell.command else done.returncode):
        return "FAILED", (failed or lines or [done.stderr.strip()[-200:]])[-1][:160]
    return "passed", ""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.matrix", description=__doc__)
    parser.add_argument("--only", default="", help="cells whose name has this text")
    parser.add_argument("--python", action="append", default=[], help="another interpreter; may be repeated")
    options = parser.parse_args()
    failures = 0
    print("| machine | result | seconds | remark |\n|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="dfnets-matrix-") as place:
        Path(place).chmod(0o755)
        for cell in cells(Path(place), options.python, options.only):
            if options.only in cell.name:
                start = time.monotonic()
                result, remark = run(cell)
                failures += result == "FAILED"
                print(f"| {cell.name} | {result} | {time.monotonic() - start:.0f} | {remark} |", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

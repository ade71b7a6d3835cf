"""The shape of the package: imports that point downwards, names that mean one thing, files one can read at once."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest

import dfnets

ROOT = Path(dfnets.__file__).parent
# From the top to the bottom. A room imports from its own floor and those below, at module level never from one above.
FLOORS = (("cli",), ("studio", "report"), ("studies",), ("training",), ("models",), ("nn",), ("engine", "filters"))
FLOORS += (("shift",), ("graph",))
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
STUDY_ROOMS = ("showing", "analysing", "running", "planning")
MAX_LINES, MAX_FUNCTION_LINES = 300, 50
# A docstring with these words gives the reason for a long file or function.
REASON = "Long because"
# Where every public name has a docstring of its own, or of its base class.
DOCUMENTED = ("cli", "report", "studies")


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(("dfnets", *(parts[:-1] if parts[-1] == "__init__" else parts))), path


NAMES = [name for name, _ in modules()]
PATHS = dict(modules())


def tree_of(name: str) -> ast.Module:
    return ast.parse(PATHS[name].read_text(encoding="utf-8"))


def imported_at_module_level(name: str) -> Iterator[str]:
    """What is imported when the module is; not inside functions, nor for type checkers only."""
    waiting: list[ast.stmt] = list(tree_of(name).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If | ast.Try):
            checking = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            waiting += [*([] if checking else node.body), *node.orelse]
        elif isinstance(node, ast.With | ast.ClassDef):
            waiting += node.body


@pytest.mark.parametrize("name", NAMES)
def test_imports_point_downwards(name: str) -> None:
    own = name.split(".")[1:3]
    for target in imported_at_module_level(name):
        other = target.split(".")
        if other[0] != "dfnets" or len(other) < 2:
            continue
        if own and own[0] in FLOOR and other[1] in FLOOR:
            assert FLOOR[other[1]] >= FLOOR[own[0]], f"{name} imports {target}, which is above it"
        if own[:1] == other[1:2] == ["studies"] and len(own) > 1 and own[1] in STUDY_ROOMS and other[2] in STUDY_ROOMS:
            assert STUDY_ROOMS.index(other[2]) >= STUDY_ROOMS.index(own[1]), f"{name} imports {target}"


def output_of(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_filters_need_numpy_and_scipy_only() -> None:
    names = ("torch", "pandas", "matplotlib", "sklearn")
    assert output_of(f"import sys, dfnets.filters; print([n for n in {names} if n in sys.modules])") == "[]"


def test_packages_are_attributes_in_a_fresh_interpreter() -> None:
    names = ("training", "filters", "search", "plots", "datasets", "models", "nn", "engine", "studies", "responses")
    for name in names:
        assert name in dir(dfnets)
    assert (
        output_of(f"import dfnets; print(all(getattr(dfnets, n).__name__ == 'dfnets.' + n for n in {names}))") == "True"
    )


def test_the_package_is_a_command_and_knows_its_version() -> None:
    done = subprocess.run([sys.executable, "-m", "dfnets", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"dfnets {dfnets.__version__}"


def test_no_module_is_shadowed_by_something_of_its_name() -> None:
    shadowed = []
    for name, path in PATHS.items():
        if path.name == "__init__.py":
            package = importlib.import_module(name)
            values = {
                found.name: getattr(package, found.name, None) for found in pkgutil.iter_modules(package.__path__)
            }
            shadowed += [
                f"{name}.{own}" for own, value in values.items() if not (value is None or inspect.ismodule(value))
            ]
    assert shadowed == []


def explains(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return REASON in (ast.get_docstring(node) or "")


@pytest.mark.parametrize("name", NAMES)
def test_files_and_functions_are_short_or_say_why_not(name: str) -> None:
    tree, lines = tree_of(name), len(PATHS[name].read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_LINES or explains(tree), f"{name} has {lines} lines"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            # The statements; what comes before them are the arguments and their documentation.
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = (node.end_lineno or node.lineno) - body[0].lineno + 1 if body else 0
            assert length <= MAX_FUNCTION_LINES or explains(node), f"{name}.{node.name} has {length} lines"


@pytest.mark.parametrize("name", [n for n in NAMES if n.count(".") < 2 or n.split(".")[1] in DOCUMENTED])
def test_everything_public_has_a_docstring(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__, f"{name} has no docstring"
    for title, value in vars(module).items():
        if title.startswith("_") or getattr(value, "__module__", None) != name:
            continue
        if inspect.isfunction(value) or inspect.isclass(value):
            assert inspect.getdoc(value), f"{name}.{title} has no docstring"
        if inspect.isclass(value):
            for own, part in vars(value).items():
                # A method that means what its base class says need not say it again.
                if not own.startswith("_") and isinstance(part, FunctionType | property | classmethod | staticmethod):
                    assert inspect.getdoc(getattr(value, own)), f"{name}.{title}.{own} has no docstring"

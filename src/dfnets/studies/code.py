"""The version of the code that a run's numbers depend on: a digest of the modules that it imports.

Comments and docstrings do not count, and a model's runs depend on that model's module and what it imports: neither a
word in a report nor a new baseline makes earlier runs worthless.
"""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import dfnets

ROOT = Path(dfnets.__file__).parent
# Lists of what there is, of which a run takes one: a model has its module, a dataset its fingerprint. And drawing.
LISTS = {"dfnets", "dfnets.models", "dfnets.models.registry", "dfnets.datasets", "dfnets.plots"}


@cache
def of_model(model: str) -> str:
    """The version of a training of a model."""
    from dfnets import models

    return version(("dfnets.training.fit", models.get(model).__module__))


@cache
def version(modules: tuple[str, ...]) -> str:
    """16 hexadecimal digits of ``dfnets.__version__`` and the code of modules with all that they import from here."""
    state = hashlib.sha256(dfnets.__version__.encode())
    for name in sorted(_closure(modules)):
        state.update(f"\n{name}\n{_code(_text(name))}".encode())
    return state.hexdigest()[:16]


@cache
def revision() -> str:
    """The commit of the working tree, with ``+`` when it has changes; empty where there is no repository."""
    try:
        text = [
            subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout.strip()
            for words in (["rev-parse", "--short=12", "HEAD"], ["status", "--porcelain", "--untracked-files=no", "."])
        ]
    except (OSError, subprocess.CalledProcessError):
        return ""
    return text[0] + ("+" if text[1] else "")


def _closure(modules: Iterable[str]) -> set[str]:
    waiting, found = list(modules), set()
    while waiting:
        name = waiting.pop()
        if name not in found and name not in LISTS:
            found.add(name)
            waiting += [module for module in _imports(_text(name)) if _is_module(module)]
    return found


@cache
def _imports(text: str) -> tuple[str, ...]:
    """The modules of this package that a module may import, wherever in its code."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # What is imported from a package may be a module of it, or a name that the package has from elsewhere.
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isascii():
            # A module that is imported by its name, as the engine's back ends are.
            found += [node.value] if node.value.replace(".", "").isidentifier() else []
    return tuple(module for module in found if module.startswith("dfnets."))


def _is_module(name: str) -> bool:
    return _file(name).exists()


def _text(name: str) -> str:
    return _file(name).read_text(encoding="utf-8")


def _file(name: str) -> Path:
    if not name.startswith("dfnets."):  # a model from elsewhere, which is imported already
        return Path(str(sys.modules[name].__file__))
    path = ROOT.joinpath(*name.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _code(text: str) -> str:
    """The text of a module without comments on lines of their own, docstrings and empty lines."""
    dropped: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            first = node.body[0]
            dropped |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines = enumerate(text.splitlines(), start=1)
    return "\n".join(
        line.rstrip()
        for number, line in lines
        if number not in dropped and line.strip() and not line.lstrip().startswith("#")
    )

"""Docstrings as they are written here, made into the Markdown that the reference pages are made of.

A docstring is read in the source far more often than on a page, so it has bare doctests, ``::`` before a formula,
``sources, targets: the ends`` for two arguments at once, and references such as ``:class:`Graph```. Here the first are
fenced, the second becomes a colon, each argument gets its own entry, and a reference becomes a link, or plain code
where no page has such an entry.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^(?P<indent> *)>>> .*(?:\n(?P=indent)\S.*)*", re.MULTILINE)
ARGUMENTS = re.compile(r"^    (?P<names>\w+(?:, \w+)+): (?P<text>.*(?:\n {5,}\S.*)*)$", re.MULTILINE)
REFERENCE = re.compile(r":(?:attr|class|data|func|meth|mod):`(?P<name>[\w.]+)`")
# Functions that are exported under the name of the module they are in; a reader of the source finds the module.
SHADOWED = {
    "dfnets.design": "dfnets.filters.designing.design",
    "dfnets.fit": "dfnets.training.fitting.fit",
    "dfnets.models.presets": "dfnets.models.registry.presets",
}


class MarkdownDocstrings(griffe.Extension):
    """Rewrites every docstring of a package once it is loaded."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        self._rewrite(pkg)

    def _rewrite(self, thing: griffe.Object) -> None:
        if thing.docstring is not None:
            thing.docstring.value = markdown(thing.docstring.value, thing)
        for member in thing.members.values():
            if not member.is_alias:
                self._rewrite(member)


def markdown(text: str, thing: griffe.Object) -> str:
    """The docstring of ``thing`` in Markdown."""
    text = EXAMPLE.sub(_fenced, text)
    text = ARGUMENTS.sub(_one_each, text)
    text = re.sub(r"::$", ":", text, flags=re.MULTILINE)
    return REFERENCE.sub(lambda found: _link(found["name"], thing), text)


def _fenced(found: re.Match[str]) -> str:
    indent = found["indent"]
    return f"{indent}```pycon\n{found[0]}\n{indent}```"


def _one_each(found: re.Match[str]) -> str:
    return "\n".join(f"    {name}: {found['text']}" for name in found["names"].split(", "))


def _link(name: str, thing: griffe.Object) -> str:
    first, dot, rest = name.partition(".")
    try:
        path = thing.resolve(first) + dot + rest
    except griffe.NameResolutionError:
        path = name
    path = SHADOWED.get(path, path)
    return f'<autoref optional identifier="{path}"><code>{name}</code></autoref>'

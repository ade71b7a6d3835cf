"""What the documentation shows works: tutorials run from top to bottom, and every command line parses."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from dfnets.cli import app

ROOT = Path(__file__).parents[2]
OTHERS = [ROOT / "docs" / "contributing.md", ROOT / "docs" / "scale.md"]
TUTORIALS = [*sorted((ROOT / "docs" / "tutorials").glob("*.md")), *OTHERS]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"^(?P<indent> *)(?P<mark><!-- not run: [^\n]* -->\n *)?```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A fenced block, and the line that its text begins at.

    A comment ``<!-- not run: reason -->`` on the line above it keeps it from being run.
    """

    language: str
    text: str
    line: int
    run: bool


def blocks(page: Path) -> list[Block]:
    content = page.read_text()
    return [
        Block(
            found["language"],
            dedent(found["text"]),
            content.count("\n", 0, found.start("text")) + 1,
            run=not found["mark"],
        )
        for found in FENCE.finditer(content)
    ]


def command_lines(text: str) -> list[list[str]]:
    """The words after ``dfnets`` of each line that calls it."""
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("dfnets ")]


COMMANDS = [
    pytest.param(words, id=f"{page.relative_to(ROOT)}: {' '.join(words)}")
    for page in PAGES
    for block in blocks(page)
    if block.language != "python"
    for words in command_lines(block.text)
]


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_line_parses(words: list[str]) -> None:
    command: Any = typer.main.get_command(app)
    context = command.context_class(command, info_name="dfnets")
    while hasattr(command, "commands"):
        name, *words = words
        assert name in command.commands, f"there is no command {name!r}"
        command = command.commands[name]
        context = command.context_class(command, info_name=name, parent=context)
    values, _, _ = command.make_parser(context).parse_args(words)
    for parameter in command.params:
        value, _ = parameter.consume_value(context, values)
        assert value is not None or not parameter.required, f"{parameter.name} is missing"


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_runs_from_top_to_bottom(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python blocks share one namespace, and commands run in the folder that the Python blocks write to."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "tutorial"}
    for block in filter(lambda block: block.run, blocks(page)):
        if block.language == "python":
            # Blank lines before it, so that a traceback names the line of the page.
            code = compile("\n" * (block.line - 1) + block.text, str(page), "exec", dont_inherit=True)
            exec(code, namespace)
        elif block.language == "sh":
            for words in command_lines(block.text):
                done = CliRunner().invoke(app, words)
                assert done.exit_code == 0, f"dfnets {' '.join(words)}: {done.output}{done.exception!r}"

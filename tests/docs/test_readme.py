"""The README's first lines of code print what stands under them, and its pictures are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_first_example_prints_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(
        r"```python\n(?P<code>.*?)```\n\n```text\n(?P<shown>.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    assert found is not None
    exec(compile(found["code"], "README.md", "exec", dont_inherit=True), {})
    assert capsys.readouterr().out == found["shown"]


def test_pictures_and_pages_are_there() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)", (ROOT / "README.md").read_text()):
        assert (ROOT / target).exists(), target

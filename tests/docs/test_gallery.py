"""The gallery: every example runs as it is and leaves a figure, and says what it is about."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from matplotlib.figure import Figure

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "gallery").glob("*.py"))


def test_there_are_ten_and_more() -> None:
    assert len(EXAMPLES) >= 10


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_leaves_a_figure(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = path.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(source)) or ""
    assert len(docstring.splitlines()) >= 3
    # Training and t-SNE are shortened here; the build of the site runs them whole.
    for whole, short in (("epochs=150", "epochs=2"), ("epochs=100", "epochs=2"), ("[::2]", "[::20]")):
        source = source.replace(whole, short)
    names: dict = {"__name__": "example"}
    exec(compile(source, str(path), "exec", dont_inherit=True), names)
    assert isinstance(names["figure"], Figure)
    assert names["figure"].axes
    assert capsys.readouterr().out

"""`dfnets partition`: what it writes can be read part by part, and it says how many edges are cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dfnets.cli import app
from dfnets.distributed import PartitionFolder


def test_it_writes_the_parts_and_says_what_is_between_them(tmp_path: Path) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(9)))
    done = CliRunner().invoke(app, ["partition", str(edges), str(tmp_path / "parts"), "--parts", "2"])
    assert done.exit_code == 0, done.output
    assert "of 9 edges run between parts" in done.output
    written = PartitionFolder(tmp_path / "parts")
    assert sorted([*written.nodes(0), *written.nodes(1)]) == list(range(10))


@pytest.mark.parametrize("options", [["--parts", "0"], ["--method", "guess"]])
def test_bad_options_are_refused(tmp_path: Path, options: list[str]) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\n0,1\n")
    with pytest.raises(ValueError, match=options[1]):
        CliRunner().invoke(app, ["partition", str(edges), str(tmp_path / "parts"), *options], catch_exceptions=False)
    assert not (tmp_path / "parts").exists()

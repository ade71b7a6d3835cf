"""What commands print."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from dfnets.cli.common import console, show


@pytest.mark.parametrize("width", [60, 100])
def test_a_table_fits_and_says_what_is_left_out(capsys, monkeypatch, width):
    monkeypatch.setattr(console, "_width", width)
    frame = pandas.DataFrame(np.random.default_rng(0).random((50, 40)), columns=[f"p(class {k})" for k in range(40)])
    frame.insert(0, "id", [f"[bold]node{k}\x1b[31m" for k in range(50)])
    show(frame)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    assert "\x1b" not in "".join(lines)
    assert "[bold]node0" in lines[3]
    columns = lines[1].count("p(class")
    assert 2 <= columns < 10
    assert lines[-1] == f"and 30 more rows and {40 - columns} more columns"


def test_a_small_table_is_shown_whole(capsys):
    show(pandas.DataFrame({"id": [3, 4], "label": ["a", "b"], "probability": [0.5, 1.0]}))
    out = capsys.readouterr().out
    assert "0.500" in out
    assert "more" not in out

"""Whatever goes wrong ends in one line, and nothing that a file says reaches the terminal as a command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zlib
from pathlib import Path

import pandas
import pyarrow
import pytest
from pydantic import BaseModel, ValidationError
from rich.console import Console

from dfnets.cli import errors
from dfnets.cli.common import check_outputs, say, without_formulas
from dfnets.terminal import cell, plain

MAIN = "import sys; from dfnets.cli import main; main()"


def guarded(error: BaseException, capsys) -> tuple[int, str]:
    def command() -> None:
        raise error

    with pytest.raises(SystemExit) as stop:
        errors.guarded(command)
    return int(stop.value.code or 0), capsys.readouterr().err


class Settings(BaseModel):
    units: int


def validation_error() -> ValidationError:
    try:
        Settings(units="many")
    except ValidationError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("gamma=2 [must] be less"), "error: gamma=2 [must] be less\n"),
        (FileNotFoundError(2, "No such file", "x.csv"), "error: [Errno 2] No such file: 'x.csv'\n"),
        (zlib.error("Error -3"), "error: an archive cannot be read: Error -3\n"),
        (pyarrow.ArrowNotImplementedError("lists\nand more"), "error: a table cannot be read: lists\n"),
        (MemoryError(), "error: not enough memory\n"),
        (validation_error(), "error: units='many': Input should be a valid integer"),
        (ValueError("\x1b[2J[/bold]"), "error: \\x1b[2J[/bold]\n"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_bad_input_is_one_line(error: BaseException, line: str, capsys) -> None:
    status, said = guarded(error, capsys)
    assert status == 1
    assert said.startswith(line)
    assert said.count("\n") == 1


def test_a_defect_is_called_one(capsys, monkeypatch) -> None:
    status, said = guarded(KeyError("few"), capsys)
    assert (status, said.count("\n")) == (errors.DEFECT, 1)
    assert said.startswith("internal error: KeyError: 'few' (a defect of dfnets: DFNETS_TRACEBACK=1")
    monkeypatch.setenv("DFNETS_TRACEBACK", "1")
    assert "Traceback" in guarded(KeyError("few"), capsys)[1]


def test_ctrl_c_is_one_line() -> None:
    code = "import os, signal, typer; from dfnets.cli import errors\napp = typer.Typer()\n@app.command()\ndef work():\n"
    code += "    os.kill(os.getpid(), signal.SIGINT)\n    import time; time.sleep(600)\nerrors.guarded(app)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGINT, "", "stopped\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
def test_a_full_device_and_a_terminal_of_few_letters() -> None:
    design = [sys.executable, "-c", MAIN, "design", "--response", "heat"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(design, stdout=full, stderr=subprocess.PIPE, text=True, timeout=600)
    assert done.returncode == 1
    assert done.stderr == "error: [Errno 28] No space left on device\n"
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert subprocess.run(design, env=env, stdout=subprocess.PIPE, timeout=600).returncode == 0


def test_terminal_commands_in_texts_are_printed_not_obeyed(capsys) -> None:
    nasty = "[red]a\x1b]0;title\x07[/] \u202e:smile:\ttab"
    expected = "[red]a\\x1b]0;title\\x07[/] \\u202e:smile:\ttab"
    assert plain(nasty) == expected
    say(nasty, to=Console(width=200))
    assert capsys.readouterr().out.rstrip("\n").expandtabs() == expected.expandtabs()
    assert cell(nasty).plain == expected


def test_formulas_are_escaped_when_asked() -> None:
    frame = pandas.DataFrame({"id": ["=1+1", "a", "-2"], "p(=x)": [0.5, 0.25, 0.25], "@b": [1, 2, 3]})
    safe = without_formulas(frame)
    assert list(safe.columns) == ["id", "p(=x)", "'@b"]
    assert safe["id"].tolist() == ["'=1+1", "a", "'-2"]
    assert safe["p(=x)"].tolist() == [0.5, 0.25, 0.25]


def test_outputs_are_checked_together(tmp_path) -> None:
    check_outputs(None, tmp_path / "a", force=False)
    with pytest.raises(ValueError, match="is named for two results"):
        check_outputs(tmp_path / "a.png", figure=tmp_path / "a.png", force=True)
    with pytest.raises(ValueError, match=r"a\.doc: a figure cannot be written as 'doc'; its name ends in \..*png"):
        check_outputs(figure=tmp_path / "a.doc", force=False)

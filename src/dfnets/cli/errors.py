"""The one place where an exception becomes a line for a person."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

from rich.console import Console

from dfnets.terminal import plain

STOPPED = 130
"""The exit status of a command that was stopped with Ctrl-C, as shells have it."""
DEFECT = 70
"""The exit status when this package is at fault, as BSD's sysexits has it; bad input ends in 1, a bad option in 2."""
# What says that a file or an argument is bad. Of the libraries that read files some have exceptions of their own that
# descend from Exception; they are known by name here, so that no library is imported to catch what it did not raise.
_BAD_INPUT = (ValueError, OSError, ArithmeticError, MemoryError, ImportError, EOFError)
_FOREIGN = {
    "safetensors_rust.SafetensorError": "a file of weights cannot be read",
    "safetensors._safetensors_rust.SafetensorError": "a file of weights cannot be read",
    "pyarrow.lib.ArrowException": "a table cannot be read",
    "_csv.Error": "a table cannot be read",
    "zipfile.BadZipFile": "an archive cannot be read",
    "zlib.error": "an archive cannot be read",
    "xml.parsers.expat.ExpatError": "an XML file cannot be read",
    "_pickle.UnpicklingError": "a dataset file cannot be read",
    "sqlite3.Error": "a database cannot be used",
    "sqlalchemy.exc.SQLAlchemyError": "a database cannot be used",
    "optuna.exceptions.OptunaError": "the search failed",
    "torch.OutOfMemoryError": "not enough memory on the device: use fewer replicas, or --device cpu",
    "torch.AcceleratorError": "the device failed",
}


def guarded(command: Callable[[], object]) -> None:
    """Runs the command line; whatever goes wrong ends in one line on standard error, not in a traceback.

    ``DFNETS_TRACEBACK=1`` shows the traceback as well, for a report of a defect.
    """
    _survive_any_terminal()
    try:
        try:
            command()
        finally:
            sys.stdout.flush()  # here an error can still be told; when the interpreter ends it is too late
    except KeyboardInterrupt:
        _end("stopped", STOPPED)
    except SystemExit as stop:
        # The parser of the command line turns Ctrl-C into this status and says nothing.
        if stop.code == STOPPED:
            _end("stopped", STOPPED)
        raise
    except BrokenPipeError:
        _silence()
        sys.exit(1)
    except Exception as error:
        if os.environ.get("DFNETS_TRACEBACK"):
            traceback.print_exc()
        message = explain(error)
        if message is None:
            kind = f"{type(error).__name__}: {error}"
            advice = "a defect of dfnets: DFNETS_TRACEBACK=1 shows where, please report it"
            _end(f"internal error: {kind} ({advice})", DEFECT)
        _end(f"error: {message}", 1)


def explain(error: Exception) -> str | None:
    """What to tell a person about an exception; None when it is a defect of the package."""
    if type(error).__module__.startswith("pydantic"):
        return _validation(error)
    if isinstance(error, UnicodeDecodeError):
        return f"a file is not text in UTF-8: {error}"
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "allocate memory" in str(error)):
        return f"not enough memory{f': {error}' if str(error) else ''}"
    if isinstance(error, _BAD_INPUT):
        return str(error) or type(error).__name__
    for kind in type(error).__mro__:
        if reason := _FOREIGN.get(f"{kind.__module__}.{kind.__name__}"):
            first = str(error).strip().partition("\n")[0]
            return f"{reason}: {first}"
    return None


def _validation(error: Exception) -> str:
    wrong = error.errors() if hasattr(error, "errors") else []
    return "; ".join(f"{'.'.join(map(str, one['loc']))}={one.get('input')!r}: {one['msg']}" for one in wrong) or str(
        error
    )


def _end(message: str, status: int) -> NoReturn:
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _silence()
    console = Console(stderr=True)
    start, colon, rest = message.partition(": ")
    if colon:
        console.print(f"[bold red]{start}:[/] ", end="", highlight=False)
    console.print(plain(rest if colon else start), markup=False, soft_wrap=True, highlight=False, emoji=False)
    sys.exit(status)


def _silence() -> None:
    """Standard output leads nowhere from now on: its reader has gone, or its device is full."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115


def _survive_any_terminal() -> None:
    """A character that the terminal's encoding lacks is printed as an escape; it never ends the command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")

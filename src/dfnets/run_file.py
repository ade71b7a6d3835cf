"""Runs as one small file that can be committed: what a store holds, line by line, compressed."""

from __future__ import annotations

import base64
import gzip
import json
import os
import zlib
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from dfnets.atomic import replacing
from dfnets.store import Run, canonical

# The first line of the file, by which it is known.
HEADER = {"format": "dfnets runs", "version": 1}


def write_runs(runs: Iterable[Run], path: str | os.PathLike[str]) -> None:
    """Writes runs as gzip-compressed lines of JSON, in an order that does not depend on when they were made."""
    lines = [canonical(HEADER), *(canonical(_fields(run)) for run in sorted(runs, key=lambda run: run.key))]
    with replacing(Path(path)) as temporary:
        # Without the time, so that the same runs are the same bytes.
        temporary.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


def read_runs(path: str | os.PathLike[str]) -> list[Run]:
    """The runs that :func:`write_runs` wrote."""
    try:
        header, *lines = gzip.decompress(Path(path).read_bytes()).decode().splitlines()
        if json.loads(header) != HEADER:
            raise ValueError(f"it begins with {header[:40]!r}")
        return [_run(json.loads(line)) for line in lines]
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path} is not a file of runs, or it is damaged ({error}): fetch it again, or do without it"
        ) from None


def _fields(run: Run) -> dict[str, Any]:
    """Without what is as it is by default: most runs have no reason and no measures."""
    values = {field.name: (getattr(run, field.name), field.default) for field in fields(Run)}
    named = {name: value for name, (value, default) in values.items() if value != default and value != {}}
    return {**named, **({"correct": base64.b64encode(run.correct).decode()} if run.correct else {})}


def _run(values: dict[str, Any]) -> Run:
    run = Run(**{**values, "correct": base64.b64decode(values.get("correct", ""), validate=True)})
    wrong = [name for name in ("seed", "tested") if not isinstance(asdict(run)[name], int)]
    if wrong:
        raise ValueError(f"{wrong[0]} is {getattr(run, wrong[0])!r}, not a whole number")
    return run

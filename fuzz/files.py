"""Mutated files of every format that the package reads: each is read, or refused in words."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from dfnets.cli.errors import explain
from fuzz import archives, stored, tables
from fuzz.format import Format
from fuzz.harness import Report, batch


def run(seed: int, scale: float) -> Iterator[Report]:
    """One report for each format."""
    with tempfile.TemporaryDirectory(prefix="dfnets-fuzz-") as place:
        folder = Path(place)
        for one in chain(tables.formats(), archives.formats(), stored.formats(folder)):
            rng = random.Random(f"{seed} {one.name}")
            report = Report(f"files: {one.name}")
            work = folder / "work"
            count = max(1, round(one.count * scale))
            # The first is whole, and must be read: of a format that refuses everything nothing would be learnt.
            trials = [_trial(one, None, work)] + [_trial(one, random.Random(rng.random()), work) for _ in range(count)]
            batch(trials, report, folder)
            yield report


def _trial(one: Format, rng: random.Random | None, work: Path) -> Callable[[], str | None]:
    def trial() -> str | None:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        for name, content in (one.whole if rng is None else one.make(rng)).items():
            (work / name).write_bytes(content)
        try:
            one.read(work)
        except Exception as error:
            message = explain(error)
            if message is None:
                raise
            if "memory" in message:
                return f"a file of {sum(file.stat().st_size for file in work.iterdir())} bytes: {message}"
            if rng is None:
                return f"a whole file is refused: {message}"
            return "refused" if message.strip() else f"{type(error).__name__} without a word"
        return None

    return trial

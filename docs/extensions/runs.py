"""Code that the site runs while it is built: its output and its figures, kept until the code changes."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CACHE = ROOT / "build" / "docs"
# A fast check of the site may leave the runs out; pages then show code without its output.
RUN = os.environ.get("DOCS_RUN", "1") != "0"


def script(path: Path) -> dict[str, Any]:
    """What a script prints, and the file that its ``figure`` was drawn to; None for both where it is not run."""
    source = path.read_text(encoding="utf-8")
    kept = CACHE / f"{path.stem}-{_digest(source)}"
    if not kept.with_suffix(".json").exists():
        if not RUN:
            return {"output": None, "picture": None}
        CACHE.mkdir(parents=True, exist_ok=True)
        saving = f"\nfigure.savefig({str(kept.with_suffix('.png'))!r}, dpi=110)\n"
        done = subprocess.run(
            [sys.executable, "-c", source + saving], capture_output=True, text=True, cwd=ROOT, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{path} failed:\n{done.stderr}")
        kept.with_suffix(".json").write_text(json.dumps({"output": done.stdout}))
    picture = kept.with_suffix(".png")
    return {**json.loads(kept.with_suffix(".json").read_text()), "picture": picture}


def blocks(name: str, codes: list[tuple[str, str]]) -> list[str]:
    """What each block of a page prints, run in order in one folder; a block is its language and its text."""
    kept = CACHE / f"{name}-{_digest(json.dumps(codes))}.json"
    if not kept.exists():
        if not RUN:
            return ["" for _ in codes]
        CACHE.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(_run_all(codes)))
    return json.loads(kept.read_text())


def _run_all(codes: list[tuple[str, str]]) -> list[str]:
    from typer.testing import CliRunner

    from dfnets.cli import app

    outputs, names, before = [], {"__name__": "page"}, Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for language, text in codes:
                said = io.StringIO()
                if language == "python":
                    with contextlib.redirect_stdout(said):
                        exec(compile(text, "page", "exec", dont_inherit=True), names)
                else:
                    for words in command_lines(text):
                        done = CliRunner().invoke(app, words)
                        if done.exit_code:
                            raise RuntimeError(f"dfnets {' '.join(words)}: {done.output}{done.exception!r}")
                        said.write(done.stdout)
                outputs.append(said.getvalue().replace(folder + os.sep, ""))
        finally:
            os.chdir(before)
    return outputs


def command_lines(text: str) -> list[list[str]]:
    """The words after ``dfnets`` of each line of a shell that calls it."""
    import shlex

    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("dfnets ")]


def _digest(text: str) -> str:
    """Of the code and of the package's version: another version may print something else."""
    import dfnets

    return sha256(f"{dfnets.__version__}\n{text}".encode()).hexdigest()[:16]

"""A studio that runs, started by the command as a person would start it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def address(tmp_path_factory) -> Iterator[str]:
    """Where the studio is served, with a graph of three nodes of one's own beside those that it brings."""
    folder: Path = tmp_path_factory.mktemp("own")
    (folder / "edges.csv").write_text("source,target\na,b\nb,c\nc,d\nd,a\n")
    (folder / "signal.csv").write_text("id,value\nd,4\nc,3\nb,2\na,1\n")
    (folder / "places.csv").write_text("id,x,y\na,0,0\nb,0,1\nc,1,1\nd,1,0\n")
    arguments = ["studio", "--no-browser", "--edges", folder / "edges.csv", "--signal", folder / "signal.csv"]
    arguments += ["--coordinates", folder / "places.csv"]
    command = [sys.executable, "-c", "from dfnets.cli import main; main()", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    first = process.stdout.readline()
    yield first.removeprefix("studio: ").strip()
    process.send_signal(signal.SIGINT)
    process.wait(600)


@pytest.fixture
def ask(address):
    """Status and JSON of a request: with a body by POST, without by GET."""

    def asked(path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address + path, data, {"Content-Type": "application/json", **headers})
        try:
            with urllib.request.urlopen(request, timeout=600) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            content = error.read()
            return error.code, json.loads(content) if content.startswith(b"{") else content.decode()

    return asked

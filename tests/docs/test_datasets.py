"""What the page about datasets shows is what the command prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "datasets.md"


def test_the_check_prints_what_the_page_shows(tmp_path: Path) -> None:
    lines, shown = re.search(r"```sh\n(printf.*?)```\s+```text\n(.*?)```", PAGE.read_text(), re.DOTALL).groups()
    run = "dfnets() { " + f'"{sys.executable}" -c "from dfnets.cli import main; main()" "$@"; }}\n'
    done = subprocess.run(["bash", "-ec", run + lines], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown

"""A headless browser that draws a page."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

needed = pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium on this machine to draw the page")


def drawn(page: Path, profile: Path) -> tuple[str, str]:
    """The page as it is after its scripts have run, and what the browser logged."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    flags += ["--disable-sync", "--disable-component-update", f"--user-data-dir={profile}"]
    flags += ["--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom", page.as_uri()]
    done = subprocess.run(["chromium", *flags], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, done.stderr

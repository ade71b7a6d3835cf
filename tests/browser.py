"""A headless browser: it draws a page, and can be driven as a person would."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-sync", "--disable-component-update"]

needed = pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium on this machine to draw the page")
driver_needed = pytest.mark.skipif(
    shutil.which("chromium") is None or shutil.which("chromedriver") is None,
    reason="no chromium and chromedriver on this machine to drive the page",
)


def drawn(page: Path, profile: Path) -> tuple[str, str]:
    """The page as it is after its scripts have run, and what the browser logged."""
    flags = [*FLAGS, f"--user-data-dir={profile}"]
    flags += ["--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom", page.as_uri()]
    done = subprocess.run(["chromium", *flags], capture_output=True, text=True, timeout=600, check=True)
    return done.stdout, done.stderr


@contextmanager
def driven(width: int = 1400, height: int = 1000, *, dark: bool = False) -> Iterator[Any]:
    """A browser window of that size, with a log of every request that it makes."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in [*FLAGS, "--disable-dev-shm-usage", f"--window-size={width},{height}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    service = webdriver.ChromeService(str(shutil.which("chromedriver")))
    driver = webdriver.Chrome(options=options, service=service)
    driver.set_script_timeout(600)  # axe takes a second on an idle machine, and a minute beside other work
    try:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        yield driver
    finally:
        driver.quit()


def requests(driver: Any) -> list[str]:
    """The address of every request since the last call."""
    messages = (json.loads(entry["message"])["message"] for entry in driver.get_log("performance"))
    return [
        message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"
    ]


def accessibility(driver: Any) -> list[str]:
    """What axe finds serious or critical on the page, one line per rule."""
    import axe_core_python

    driver.execute_script((Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    return [
        f"{rule['id']}: {rule['help']}: {[node['html'][:120] for node in rule['nodes'][:5]]}"
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
    ]

"""How long a drag in the studio takes, from the pointer's move to the curve on the screen, in a real browser.

    python -m benchmarks.studio

Needs the studio's packages, Selenium, Chromium and its driver. Each graph that the studio brings is tried; the figure
is the median over the moves of one drag of the cut-off, as the page itself measures it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time

from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

READY = "return document.body.dataset.done !== undefined && !document.body.classList.contains('preview')"


def main() -> None:
    command = [sys.executable, "-c", "from dfnets.cli import main; main()", "studio", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().removeprefix("studio: ").strip()
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        driver.get(address)
        WebDriverWait(driver, 60).until(lambda d: d.execute_script(READY))
        for name in [
            option.get_attribute("value") for option in driver.find_elements(By.CSS_SELECTOR, "#scene option")
        ]:
            Select(driver.find_element(By.ID, "scene")).select_by_value(name)
            time.sleep(3)
            _drag(driver)
            note = driver.find_element(By.ID, "scene-note").text.split(";")[0]
            print(f"{name} ({note}): {driver.find_element(By.ID, 'timing').text}")
    finally:
        driver.quit()
        server.terminate()


def _drag(driver: webdriver.Chrome) -> None:
    """One drag of the cut-off to the right and back, in about a hundred moves."""
    knob = driver.find_elements(By.CSS_SELECTOR, '[data-handle="cut"] circle')[-1]
    actions = ActionChains(driver, duration=20).move_to_element(knob).click_and_hold()
    for step in [4] * 50 + [-4] * 50:
        actions.move_by_offset(step, 0)
    actions.release().perform()
    time.sleep(2)


if __name__ == "__main__":
    main()

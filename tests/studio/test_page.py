"""The studio in a real browser: what a person drags, sees and copies."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import browser
import numpy as np
import pytest

pytestmark = browser.driver_needed


def ready(driver, after: int = 0) -> int:
    """Wait until the chosen design of the newest settings is shown; its number."""
    from selenium.webdriver.support.ui import WebDriverWait

    done = "return +document.body.dataset.done > arguments[0] && !document.body.classList.contains('preview')"
    WebDriverWait(driver, 600).until(lambda d: d.execute_script(done, after))
    return int(driver.execute_script("return document.body.dataset.done"))


def drag(driver, handle: str, dx: int, dy: int = 0, steps: int = 12) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    knob = driver.find_elements(By.CSS_SELECTOR, f'[data-handle="{handle}"] circle')[-1]
    actions = ActionChains(driver, duration=20).move_to_element(knob).click_and_hold()
    for _ in range(steps):
        actions.move_by_offset(dx // steps, dy // steps)
    actions.perform()


def let_go(driver) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(driver).release().perform()


def curve(driver) -> str:
    return driver.execute_script("return document.getElementById('realised').getAttribute('d')")


def text(driver, name: str) -> str:
    return driver.execute_script("return document.getElementById(arguments[0]).textContent", name)


def shown_coefficients(driver) -> tuple[list[float], list[float]]:
    found = re.findall(r"(?:psi|phi) = \[(.*?)\]", text(driver, "coefficients"))
    psi, phi = ([float(value) for value in values.split(", ")] for values in found)
    return psi, phi


def test_drag_see_copy_run(address) -> None:
    """Drag the cut-off, see the curve move, copy the code, run it: the same coefficients. No request leaves."""
    with browser.driven() as driver:
        driver.get(address)
        first = ready(driver)
        before, code = curve(driver), text(driver, "python")
        drag(driver, "cut", 120)
        cut = float(driver.execute_script("return document.getElementById('cut').value"))
        assert cut > 0.5
        let_go(driver)
        ready(driver, first)
        assert curve(driver) != before
        assert text(driver, "python") != code
        driver.execute_cdp_cmd(
            "Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
        )
        driver.execute_script("document.querySelector('[data-copy=python]').click()")
        copied = driver.execute_async_script("navigator.clipboard.readText().then(arguments[arguments.length - 1])")
        names: dict = {}
        exec(copied, names)
        psi, phi = shown_coefficients(driver)
        np.testing.assert_array_equal(names["f"].psi, psi)
        np.testing.assert_array_equal(names["f"].phi, phi)
        assert names["f"].target.parameters == {"cut": cut}
        assert "Certified stable" in text(driver, "badge")
        own = f"http://{urlsplit(address).netloc}/"
        assert all(url.startswith((own, "data:", "blob:")) for url in browser.requests(driver))
        assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_the_keyboard_does_what_the_pointer_does(address) -> None:
    from selenium.webdriver.common.keys import Keys

    with browser.driven(dark=True) as driver:
        driver.get(address)
        first = ready(driver)
        driver.execute_script("document.querySelector('[data-handle=cut]').focus()")
        driver.switch_to.active_element.send_keys(Keys.PAGE_UP)
        second = ready(driver, first)
        # The handle was drawn afresh, and still has the focus.
        driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
        ready(driver, second)
        assert "low_pass(0.41)" in text(driver, "python")


def test_a_target_drawn_by_hand(address) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    with browser.driven() as driver:
        driver.get(address)
        first = ready(driver)
        Select(driver.find_element(By.ID, "response")).select_by_value("interpolated")
        second = ready(driver, first)
        drag(driver, "gain-12", 0, -84)
        let_go(driver)
        ready(driver, second)
        names: dict = {}
        exec(text(driver, "python"), names)
        assert names["f"].target.parameters["gains"][12] > 0.2
        np.testing.assert_array_equal(names["f"].psi, shown_coefficients(driver)[0])


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_it_fits_and_axe_finds_nothing_serious(address, width: int, dark: bool) -> None:
    with browser.driven(width, dark=dark) as driver:
        driver.get(address)
        ready(driver)
        assert driver.execute_script("return document.documentElement.scrollWidth - innerWidth") <= 0
        assert browser.accessibility(driver) == []

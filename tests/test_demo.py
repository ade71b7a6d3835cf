"""The demo, shortened."""

from __future__ import annotations

import base64
import io
import re

import browser
import numpy as np
import pytest

from dfnets import datasets, demo
from dfnets.demo import images


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return demo.run(tmp_path_factory.mktemp("demo"), replicas=2, epochs=8)


def test_it_compares_and_writes_a_page(made) -> None:
    accuracies, path = made
    assert set(accuracies) == {"DFNetPlus", "label propagation", "logistic regression"}
    assert all(len(values) == 2 and (np.asarray(values) > 5).all() for values in accuracies.values())
    # Both need no graph network to be far above chance, so a wrong split or label would show.
    assert accuracies["label propagation"].mean() > 85
    assert accuracies["logistic regression"].mean() > 70
    content = path.read_text(encoding="utf-8")
    headings = re.findall(r"<h2>(.*?)</h2>", content)[1:]
    assert headings[0] == "A filter with a certificate"
    assert {"The images in their graph", "The labelled few", "What was missed", "Accuracy"} <= set(headings)
    assert "is proved to converge on this graph" in content
    assert "chosen on validation images, never on test images" in content
    assert content.count("<title>digit ") == 1797
    assert content.count('class="given"') == 50
    assert "http://" not in content.replace("http://www.w3.org", "")
    assert path.stat().st_size < 6_000_000


def test_an_image_is_the_pixels_of_its_node() -> None:
    from PIL import Image

    graph = datasets.load("digits")
    address = images.encoded(np.asarray(graph.features[:1]))[0]
    picture = Image.open(io.BytesIO(base64.b64decode(address.split(",")[1])))
    np.testing.assert_allclose(np.asarray(picture).ravel() / 255 * 16, graph.features[0], atol=0.1)


@browser.driver_needed
def test_pointing_at_an_image_shows_it(made) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    with browser.driven() as driver:
        driver.get(made[1].as_uri())
        picture = driver.find_elements(By.CSS_SELECTOR, ".digits image")[-1]
        driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", picture)
        ActionChains(driver).move_to_element(picture).perform()
        look = driver.find_element(By.CSS_SELECTOR, ".look")
        assert re.search(r"digit \d, predicted \d", look.text)
        assert look.find_element(By.TAG_NAME, "img").get_attribute("src").startswith("data:image/png")


def test_hyper_parameters_are_chosen_on_validation_nodes() -> None:
    graph = datasets.load("digits")
    draw = datasets.splits.make(graph, "random", draws=1, per_class=5, validation_per_class=10)[0]

    def method(graph, draw, value: float) -> np.ndarray:
        """Right on the validation nodes for value 1 only, right on the test nodes for value 2 only."""
        guess = np.full(graph.num_nodes, -1)
        nodes = draw.validation if value == 1 else draw.test
        guess[nodes] = graph.labels[nodes]
        return guess

    assert demo._chosen_on_validation(method, (1.0, 2.0), graph, [draw]) == [0.0]

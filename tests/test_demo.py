"""The demo, shortened."""

from __future__ import annotations

import numpy as np

from dfnets import demo


def test_it_compares_and_writes_a_page(tmp_path) -> None:
    accuracies, path = demo.run(tmp_path, replicas=2, epochs=3)
    assert set(accuracies) == {"DFNet", "label propagation", "MLP"}
    assert all(len(values) == 2 and (np.asarray(values) > 5).all() for values in accuracies.values())
    # Both need no graph network to be far above chance, so a wrong split or label would show.
    assert accuracies["label propagation"].mean() > 85
    assert accuracies["MLP"].mean() > 70
    content = path.read_text(encoding="utf-8")
    for heading in ("Accuracy", "Learning", "The filter", "What is confused with what", "The images in two dimensions"):
        assert f"<h2>{heading}</h2>" in content
    assert content.count('class="figure"') == 5
    assert "chosen on validation images, never on test images" in content


def test_hyper_parameters_are_chosen_on_validation_nodes() -> None:
    from dfnets import datasets

    graph = datasets.load("digits")
    draw = datasets.splits.make(graph, "random", draws=1, per_class=5, validation_per_class=10)[0]

    def method(graph, draw, value: float) -> np.ndarray:
        """Right on the validation nodes for value 1 only, right on the test nodes for value 2 only."""
        guess = np.full(graph.num_nodes, -1)
        nodes = draw.validation if value == 1 else draw.test
        guess[nodes] = graph.labels[nodes]
        return guess

    assert demo._chosen_on_validation(method, (1.0, 2.0), graph, [draw]) == [0.0]

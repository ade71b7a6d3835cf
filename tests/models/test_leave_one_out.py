"""The closed form against a loop that leaves each node out and fits again."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import Ridge

from dfnets.models.leave_one_out import RIDGES, leave_one_out_errors


def test_equals_refitting_without_each_node() -> None:
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(12, 5)), np.arange(12) % 3
    gram = features @ features.T
    centred = features - features.mean(axis=0)
    scale = np.linalg.eigvalsh(centred @ centred.T).mean()
    targets = np.eye(3)[labels]
    errors = []
    for ridge in RIDGES:
        squares: list[float] = []
        for i in range(12):
            kept = np.arange(12) != i
            # The centre stays that of all nodes, as in the closed form; the intercept is refitted.
            model = Ridge(alpha=ridge * scale).fit(centred[kept], targets[kept])
            squares.append(((model.predict(centred[[i]]) - targets[i]) ** 2).sum())
        errors.append(squares)
    np.testing.assert_allclose(leave_one_out_errors(gram, labels), min(errors, key=np.mean), rtol=1e-6)


def test_features_that_tell_the_classes_apart_have_a_small_error() -> None:
    labels = np.repeat([0, 1], 10)
    clear = np.where(labels[:, None] == labels, 1.0, 0.0) + 0.01 * np.eye(20)
    noise = np.random.default_rng(1).normal(size=(20, 4))
    assert leave_one_out_errors(clear, labels).mean() < 0.05 < leave_one_out_errors(noise @ noise.T, labels).mean()


def test_without_features_the_shares_among_the_others_are_guessed() -> None:
    labels = np.array([0, 1, 0, 1, 1])
    targets = np.eye(2)[labels]
    expected = [((np.delete(targets, i, axis=0).mean(axis=0) - targets[i]) ** 2).sum() for i in range(5)]
    np.testing.assert_allclose(leave_one_out_errors(np.zeros((5, 5)), labels), expected)

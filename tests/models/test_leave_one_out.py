"""The closed form against a loop that leaves each node out and fits again."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import Ridge

from dfnets.models.leave_one_out import RIDGES, leave_one_out_error


def test_equals_refitting_without_each_node() -> None:
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(12, 5)), np.arange(12) % 3
    gram = features @ features.T
    centred = features - features.mean(axis=0)
    scale = np.linalg.eigvalsh(centred @ centred.T).mean()
    targets = np.eye(3)[labels]
    errors = []
    for ridge in RIDGES:
        squares = []
        for i in range(12):
            kept = np.arange(12) != i
            # The centre stays that of all nodes, as in the closed form; the intercept is refitted.
            model = Ridge(alpha=ridge * scale).fit(centred[kept], targets[kept])
            squares.append(((model.predict(centred[[i]]) - targets[i]) ** 2).sum())
        errors.append(np.mean(squares))
    np.testing.assert_allclose(leave_one_out_error(gram, labels), min(errors), rtol=1e-6)


def test_features_that_tell_the_classes_apart_have_a_small_error() -> None:
    labels = np.repeat([0, 1], 10)
    clear = np.where(labels[:, None] == labels, 1.0, 0.0) + 0.01 * np.eye(20)
    noise = np.random.default_rng(1).normal(size=(20, 4))
    assert leave_one_out_error(clear, labels) < 0.05 < leave_one_out_error(noise @ noise.T, labels)


def test_features_without_information_do_not_fail() -> None:
    assert np.isfinite(leave_one_out_error(np.zeros((4, 4)), np.array([0, 1, 0, 1])))

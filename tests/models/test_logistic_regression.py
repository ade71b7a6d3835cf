"""Logistic regression, plain and filtered, against scikit-learn on features filtered by dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from communities import communities
from dfnets.training.fit import make_trainer
from sklearn.linear_model import LogisticRegression as Oracle

from dfnets import Shift, models
from dfnets.nn.filter_bank import restart_filter
from dfnets.training.objective import Nodes

NONE = np.zeros(0, dtype=np.int64)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("low", "high"), [((1.0,), ()), ((0.2,), ()), ((1.0, 0.3), (0.4,))])
def test_it_is_the_minimum_that_scikit_learn_finds(
    low: tuple[float, ...], high: tuple[float, ...], sparse: bool
) -> None:
    graph, truth = communities(2, n=80, features=60, separation=0.4)
    graph = graph.with_(features=sp.csr_array(graph.features) if sparse else graph.features, labels=truth)
    train = np.arange(30)
    config = models.config("logistic", low=low, high=high, l2=0.5, features="none")
    trainer, _ = make_trainer("logistic", config, graph, [Nodes(train, NONE, NONE)], [0], "cpu")
    with torch.no_grad():
        found = torch.softmax(trainer.model(trainer.inputs)[:, 0].double(), dim=-1).numpy()
    values, vectors = np.linalg.eigh(Shift(graph, centre=0.0).tocsr().toarray())
    filters = [restart_filter(a) for a in low] + [restart_filter(a, high=True) for a in high]
    x = graph.features.toarray() if sparse else graph.features
    dense = np.hstack([(vectors * f.response(values)) @ vectors.T @ x for f in filters])
    oracle = Oracle(C=2.0, max_iter=5000, tol=1e-8).fit(dense[train], truth[train])

    def objective(p: np.ndarray, weights: np.ndarray) -> float:
        return float(-np.log(p[train, truth[train]]).sum() + 0.25 * np.square(weights).sum())

    own = objective(found, trainer.model.kernel.numpy())
    assert own == pytest.approx(objective(oracle.predict_proba(dense), oracle.coef_), rel=2e-3)
    # Near the minimum the objective is flat: probabilities agree less closely than it does.
    np.testing.assert_allclose(found, oracle.predict_proba(dense), atol=0.02)


def test_some_nodes_get_the_logits_that_all_get() -> None:
    graph, truth = communities(2, n=80)
    config = models.config("logistic", low=(0.2,), features="none")
    trainer, _ = make_trainer(
        "logistic", config, graph.with_(labels=truth), [Nodes(np.arange(30), NONE, NONE)], [0], "cpu"
    )
    with torch.no_grad():
        every = trainer.model(trainer.inputs)
        some = trainer.model.logits_at(trainer.inputs, np.array([3, 70]))
    torch.testing.assert_close(some, every[[3, 70]], atol=1e-4, rtol=1e-4)

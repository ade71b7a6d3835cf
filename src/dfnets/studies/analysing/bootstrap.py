"""Intervals that let test nodes vary too: a bootstrap over nodes and seeds.

Ten seeds on one split say how much luck is in the initial weights, but all of them are tested on the same nodes; had
other nodes been labelled, every one of the ten would have moved together. Here both are drawn again with replacement.
Where all runs have the same test nodes, seeds and nodes are drawn independently and crossed (Owen's pigeonhole
bootstrap, 2007, which errs on the wide side); where every run has a draw of its own, draws are drawn, and nodes within
each. The interval is mean ± 1.96 standard errors of the bootstrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dfnets.studies.analysing.statistics import LEVEL, Estimate

SAMPLES = 2000


def estimate(values: Sequence[np.ndarray], *, same_nodes: bool, samples: int = SAMPLES, seed: int = 0) -> Estimate:
    """The mean over runs of each run's mean over its test nodes, with both drawn again.

    Args:
        values: one array per run, a value per test node: a percentage, or the difference of two.
        same_nodes: whether all runs have the same test nodes, in the same order.
        samples: of the bootstrap.
    """
    from scipy.stats import norm

    means = np.array([float(own.mean()) for own in values])
    drawn = (_crossed if same_nodes else _nested)(values, samples, seed)
    centre, error = float(means.mean()), float(drawn.std(ddof=1))
    half = float(norm.ppf((1 + LEVEL) / 2)) * error
    p = float(2 * norm.sf(abs(centre) / error)) if error else float(centre == 0)
    std = float(means.std(ddof=1)) if len(means) > 1 else float("nan")
    varies = "test nodes and seeds" if same_nodes else "draws and their test nodes"
    return Estimate(centre, std, centre - half, centre + half, len(means), p, varies)


def _crossed(values: Sequence[np.ndarray], samples: int, seed: int) -> np.ndarray:
    """(samples,) means with runs and nodes drawn independently: sum_sn w_s v_sn w_n with multinomial weights."""
    table = np.stack(values).astype(np.float64)
    runs, nodes = table.shape
    weights = np.random.default_rng((seed, 1)).multinomial(runs, np.full(runs, 1 / runs), size=samples) / runs
    return np.einsum("bn,bn->b", weights @ table, _node_weights(nodes, samples, seed))


@lru_cache(maxsize=4)
def _node_weights(nodes: int, samples: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng((seed, 2))
    return rng.multinomial(nodes, np.full(nodes, 1 / nodes), size=samples) / nodes


def _nested(values: Sequence[np.ndarray], samples: int, seed: int) -> np.ndarray:
    """(samples,) means with runs drawn, and nodes within each of them.

    A node has one of few values, so the number of times that each is drawn is multinomial, and no node need be drawn.
    """
    rng = np.random.default_rng((seed, 3))
    levels = np.unique(np.concatenate(values))
    shares = np.stack([np.mean(own[:, None] == levels, axis=0) for own in values])
    sizes = np.array([len(own) for own in values])
    which = rng.integers(len(values), size=(samples, len(values)))
    counts = rng.multinomial(sizes[which], shares[which])
    return ((counts @ levels) / sizes[which]).mean(axis=1)

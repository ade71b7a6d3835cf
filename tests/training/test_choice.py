"""Choices by held-out nodes: by more than chance, and scored where they were not made."""

from __future__ import annotations

import numpy as np

from dfnets.training.choice import Candidate, choose, cross_fitted

H, CLASSES = 120, 3
LABELS = np.arange(H) % CLASSES


def candidate(name: str, *shares: float, seed: int = 0, sure: float = 0.8) -> Candidate:
    """Versions that are right on these shares of the nodes, chosen at random."""
    rng = np.random.default_rng(seed)
    versions = []
    for share in shares:
        right = rng.permutation(H) < share * H
        guess = np.where(right, LABELS, (LABELS + 1) % CLASSES)
        versions.append(np.where(np.eye(CLASSES)[guess] == 1, sure, (1 - sure) / (CLASSES - 1)))
    return Candidate(name, list(range(len(shares))), np.stack(versions), LABELS)


EVERY = np.arange(H)


def test_the_best_version_is_taken() -> None:
    assert choose([candidate("net", 0.4, 0.8, 0.6)], EVERY).version == 1


def test_overconfidence_alone_does_not_decide() -> None:
    """0.8 right at 99.9 % confidence beats 0.6 right at 70 %: the temperature is fitted before losses are compared."""
    bold, shy = candidate("net", 0.8, sure=0.999), candidate("net", 0.6, sure=0.7)
    both = Candidate("net", [0, 1], np.concatenate([bold.probabilities, shy.probabilities]), LABELS)
    assert choose([both], EVERY).version == 0


def test_the_first_stays_unless_another_is_better_by_more_than_chance() -> None:
    net, simple = candidate("net", 0.70), candidate("simple", 0.72, seed=1)
    assert choose([net, simple], EVERY).candidate == 0
    better = candidate("simple", 0.9, seed=1)
    choice = choose([net, better], EVERY)
    assert choice.candidate == 1
    assert "right on 108 of 120 held-out nodes, net on 84" in choice.why


def test_equally_good_models_are_rarely_exchanged() -> None:
    """The sign test at 10 %: of 200 pairs that differ by chance only, at most about one in ten is exchanged."""
    taken = [
        choose([candidate("net", 0.7, seed=2 * s), candidate("simple", 0.7, seed=2 * s + 1)], EVERY).candidate
        for s in range(200)
    ]
    # All have exactly 84 right, so none may be.
    assert sum(taken) == 0
    rng = np.random.default_rng(0)
    noisy = []
    for s in range(200):
        net, simple = (candidate("net", rng.binomial(H, 0.7) / H, seed=seed) for seed in (1000 + s, 5000 + s))
        noisy.append(choose([net, simple], EVERY).candidate)
    assert 0 < np.mean(noisy) < 0.15


def test_cross_fitting_has_no_optimism_of_selection() -> None:
    """Forty versions that all guess: the best of them looks better than guessing, the cross-fitted score does not."""
    rng = np.random.default_rng(0)
    optimistic, honest = [], []
    for _ in range(30):
        p = rng.dirichlet([1, 1, 1], (40, H))
        guesses = Candidate("net", list(range(40)), p, LABELS)
        groups = rng.integers(0, 5, H)
        best = choose([guesses], EVERY).version
        optimistic.append(guesses.correct[best].mean())
        honest.append((cross_fitted([guesses], groups).argmax(axis=1) == LABELS).mean())
    assert np.mean(optimistic) > 0.37
    assert abs(np.mean(honest) - 1 / 3) < 0.025


def test_a_node_is_scored_by_what_the_other_groups_choose() -> None:
    """Version 0 is right on group 0 only, version 1 on group 1 only: each group is scored by the wrong one."""
    groups = np.repeat([0, 1], H // 2)
    rows = [
        np.where((groups == g)[:, None], np.eye(CLASSES)[LABELS], np.eye(CLASSES)[(LABELS + 1) % 3]) for g in (0, 1)
    ]
    pair = Candidate("net", [0, 1], np.stack(rows), LABELS)
    assert not (cross_fitted([pair], groups).argmax(axis=1) == LABELS).any()

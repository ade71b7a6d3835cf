"""Choices by held-out nodes: the shares that make them most likely, and scored where they were not made."""

from __future__ import annotations

import numpy as np

from dfnets.training.choice import Candidate, choose, cross_fitted, mixture_shares

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
    choice = choose([candidate("net", 0.4, 0.8, 0.6)], EVERY)
    assert [(part.version, part.share) for part in choice.parts] == [(1, 1.0)]
    assert choice.why == "asked for"


def test_overconfidence_alone_does_not_decide() -> None:
    """0.8 right at 99.9 % confidence beats 0.6 right at 70 %: the temperature is fitted before losses are compared."""
    bold, shy = candidate("net", 0.8, sure=0.999), candidate("net", 0.6, sure=0.7)
    both = Candidate("net", [0, 1], np.concatenate([bold.probabilities, shy.probabilities]), LABELS)
    assert choose([both], EVERY).parts[0].version == 0


def test_shares_maximise_the_likelihood_of_the_true_classes() -> None:
    """Against a search over all pairs of shares."""
    rng = np.random.default_rng(0)
    likely = rng.random((2, 50))
    prior = np.array([3.0, 1.0])
    first = np.linspace(0.001, 0.999, 9981)
    shares = np.stack([first, 1 - first])
    goals = np.log(np.einsum("mw,mi->wi", shares, likely)).sum(axis=1) + prior @ np.log(shares)
    np.testing.assert_allclose(mixture_shares(likely, prior)[0], first[goals.argmax()], atol=2e-4)


def test_with_few_nodes_the_first_predicts_and_with_many_the_better_one() -> None:
    net, simple = candidate("net", 0.6), candidate("simple", 0.9, seed=1)
    few = choose([net, simple], EVERY[:4])
    assert few.parts[0].candidate == 0
    assert few.parts[0].share > 0.65
    many = choose([net, simple], EVERY)
    assert many.parts[0].candidate == 1
    assert many.why.startswith(f"simple {100 * many.parts[0].share:.0f} %, net ")
    assert "120 held-out nodes" in many.why


def test_a_model_that_adds_nothing_is_left_out() -> None:
    """It is sure and wrong wherever the first is right, so its share is its prior's one node among 130."""
    net = candidate("net", 1.0, sure=0.95)
    wrong = candidate("simple", 0.0, sure=0.95)
    choice = choose([net, wrong], EVERY)
    assert [(part.candidate, part.share) for part in choice.parts] == [(0, 1.0)]
    assert choice.why == "120 held-out nodes give no other model a say"


def test_models_that_are_right_on_different_nodes_are_averaged() -> None:
    """Each is sure and right on its half, unsure elsewhere: together they are right on all."""
    half = EVERY < H // 2
    rows = [
        np.where((half == own)[:, None], 0.9 * np.eye(CLASSES)[LABELS] + 0.1 / 3, [[0.32, 0.36, 0.32]])
        for own in (True, False)
    ]
    pair = [Candidate(name, [0], row[None], LABELS) for name, row in zip("ab", rows, strict=True)]
    choice = choose(pair, EVERY)
    assert len(choice.parts) == 2
    assert (choice.at(pair, EVERY).argmax(axis=1) == LABELS).all()
    assert (pair[0].at(0, choice.parts[0].temperature, EVERY).argmax(axis=1) == LABELS).mean() < 0.8


def test_cross_fitting_has_no_optimism_of_selection() -> None:
    """Forty versions that all guess: the best of them looks better than guessing, the cross-fitted score does not."""
    rng = np.random.default_rng(0)
    optimistic, honest = [], []
    for _ in range(30):
        p = rng.dirichlet([1, 1, 1], (40, H))
        guesses = Candidate("net", list(range(40)), p, LABELS)
        groups = rng.integers(0, 5, H)
        best = choose([guesses], EVERY).parts[0].version
        optimistic.append((guesses.probabilities[best].argmax(axis=1) == LABELS).mean())
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

"""A short, seeded part of the random trials; ``make fuzz`` runs all of them."""

from __future__ import annotations

from fuzz import filters, mutants


def test_no_bound_is_broken_in_a_few_hundred_trials() -> None:
    applied = filters.run_applications(seed=2026, count=150)
    assert not applied.failures
    assert applied.refused < 0.6 * applied.trials
    assert not filters.run_designs(seed=2026, count=25).failures


def test_every_mutant_still_applies_to_the_source() -> None:
    for found in (mutant for listed in mutants.LISTS.values() for mutant in listed):
        text = (mutants.ROOT / "src" / "dfnets" / found.file).read_text()
        assert text.count(found.before) == 1, found.name
        assert (mutants.ROOT / found.tests.split()[0]).exists(), found.name

"""The measurement of a filter's convergence, for every filter of the study."""

from __future__ import annotations

import pytest

from dfnets import builders
from dfnets.studies.planning import Plan
from dfnets.studies.planning.group import Group
from dfnets.studies.running.measures import stability

CASES = {group.config: group for group in Plan().studies["stability"].groups()}


@pytest.mark.parametrize("group", CASES.values(), ids=list(CASES))
def test_the_recursion_converges_within_its_bound(group: Group) -> None:
    """Close to gamma = 1 rounding alone exceeds a tolerance of 1e-12, which must not end the measurement."""
    found = stability.measure(builders.sensor(300, seed=0), **group.settings)
    for bound, needed in zip(found["bound"], found["iterations"], strict=True):
        assert (bound is None and needed is None) or needed <= bound
    assert (found["iterations"][-1] is not None) == (found["contraction"] < 1)

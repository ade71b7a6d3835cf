"""What the page is told of a filter, against the filter itself."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_graph

import dfnets
from dfnets.studio import describe


def test_no_value_is_given_where_the_response_crosses_a_pole() -> None:
    f = dfnets.FeedbackLoopedFilter([-2.0], [1.0], 0.0)  # 1 - P = 1 - 2 f: a pole at 1/2
    shown = describe.curves(f)
    gap = shown["response"].index(None)
    assert shown["frequency"][gap] <= 0.5 <= shown["frequency"][gap + 1]
    assert shown["certificate"]["pole_inside"]
    assert shown["predicted"] == []


def test_the_measured_error_stays_below_the_predicted_one() -> None:
    f = dfnets.design(dfnets.responses.low_pass(0.5), gamma=0.8, method="refit")
    shift = dfnets.Shift(random_graph(60, 4, 0))
    x = np.random.default_rng(0).standard_normal(60)
    measured = np.array(describe.measured(f, shift, x))
    predicted = np.array(describe.curves(f)["predicted"])
    assert (measured <= predicted + 1e-6).all()
    # The first is the distance of the signal itself from the filtered one.
    exact = np.linalg.norm(x - f.apply(shift, x, tol=1e-12)) / np.linalg.norm(x)
    assert measured[0] == pytest.approx(exact, abs=1e-9)


def test_costs_are_those_of_the_filter() -> None:
    f = dfnets.design(dfnets.responses.low_pass(0.5), method="refit")
    shift = dfnets.Shift(random_graph(60, 4, 0))
    shown = describe.costs(f, shift)
    assert shown["chebyshev"] == f.apply(shift, np.ones(60), details=True, method="chebyshev").products
    assert set(shown) == {"recursion", "cg", "chebyshev"}

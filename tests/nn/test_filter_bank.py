"""A bank of filters against dense eigendecomposition, and its gradient against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conftest import random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from dfnets import Graph
from dfnets.nn.filter_bank import FilterBank, restart_filter
from dfnets.shift import Shift

FILTERS = [restart_filter(0.1), restart_filter(0.4), restart_filter(1.0), restart_filter(0.3, high=True)]


def dense(shift: Shift, k: int) -> np.ndarray:
    """h_k(L^), by the eigenvectors of L^."""
    matrix = shift.recentred(0.0) @ np.eye(shift.num_nodes)
    values, vectors = np.linalg.eigh(matrix)
    return vectors @ np.diag(FILTERS[k].response(values)) @ vectors.T


@given(seed=st.integers(0, 10_000), places=st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True))
@settings(max_examples=20, deadline=None)
def test_the_sum_of_the_responses(seed: int, places: list[int]) -> None:
    shift = Shift(random_graph(15, 3.0, seed))
    bank = FilterBank(FILTERS, shift, tol=1e-9).subset(places)
    signals = torch.as_tensor(np.random.default_rng(seed).normal(size=(len(places), 15, 3)))
    expected = sum(dense(shift, k) @ signals[i].numpy() for i, k in enumerate(places))
    np.testing.assert_allclose(bank(signals).numpy(), expected, atol=1e-8)
    outputs = bank.apply_each(signals[0])
    for i, k in enumerate(places):
        np.testing.assert_allclose(outputs[i].numpy(), dense(shift, k) @ signals[0].numpy(), atol=1e-8)


def test_some_of_the_filters_take_as_many_products_as_they_need() -> None:
    shift = Shift(random_graph(15, 3.0, 0))
    bank = FilterBank(FILTERS, shift)
    bank(torch.zeros(4, 15, 1))  # coefficients that are at hand already are cut, too
    assert bank.subset([2]).products == 0
    for k in (0, 1, 3):
        alone = FilterBank([FILTERS[k]], shift)
        part = bank.subset([k])
        np.testing.assert_array_equal(part.coefficients, alone.coefficients)
        signals = torch.randn(1, 15, 2)
        torch.testing.assert_close(part(signals), alone(signals))


def test_gradient() -> None:
    bank = FilterBank(FILTERS, Shift(random_graph(12, 3.0, 1)), tol=1e-6)
    signals = torch.randn(4, 12, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(bank, signals)


def test_the_tolerance_holds_and_a_wider_one_takes_fewer_products() -> None:
    shift = Shift(random_graph(40, 4.0, 2))
    x = torch.as_tensor(np.random.default_rng(0).normal(size=(1, 40, 5)))
    products = []
    for tol in (1e-2, 1e-4, 1e-6):
        bank = FilterBank(FILTERS[:1], shift, tol=tol)
        error = np.linalg.norm(bank(x).numpy() - dense(shift, 0) @ x[0].numpy(), axis=0)
        assert (error <= tol * np.linalg.norm(x[0].numpy(), axis=0)).all()
        products.append(bank.products)
    assert products == sorted(products)
    assert products[0] < products[-1]


def test_the_input_is_left_alone() -> None:
    bank = FilterBank(FILTERS, Shift(random_graph(10, 3.0, 3)))
    signals = torch.randn(4, 10, 2)
    before = signals.clone()
    bank(signals)
    bank.apply_each(signals[0])
    assert torch.equal(signals, before)


def test_a_graph_without_edges_passes_low_frequencies_whole() -> None:
    shift = Shift(Graph(np.zeros((4, 4))))
    x = torch.randn(1, 4, 2)
    torch.testing.assert_close(FilterBank([restart_filter(0.2)], shift)(x), x[0])


@pytest.mark.parametrize("alpha", [0.05, 0.3, 1.0])
def test_a_restart_filter_is_personalised_pagerank(alpha: float) -> None:
    low, high = restart_filter(alpha), restart_filter(alpha, high=True)
    f = np.linspace(0, 2, 9)
    np.testing.assert_allclose(low.response(f), alpha / (alpha + (1 - alpha) * f))
    np.testing.assert_allclose(high.response(f), low.response(2 - f))
    assert low.certificate().contraction == pytest.approx(1 - alpha)

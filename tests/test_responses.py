"""Responses: their values, their bands, their names in files."""

from __future__ import annotations

import numpy as np
import pytest

from dfnets import responses

GRID = np.linspace(0, 2, 101)


def test_steps() -> None:
    np.testing.assert_array_equal(responses.high_pass(1.0)(GRID), GRID >= 1)
    np.testing.assert_array_equal(responses.low_pass(1.0)(GRID) + responses.high_pass(1.0)(GRID), 1)
    np.testing.assert_array_equal(responses.band_pass(0.5, 1.5)(GRID), (GRID >= 0.5) & (GRID < 1.5))


def test_smooth_ones() -> None:
    np.testing.assert_allclose(responses.heat(2.0)(GRID), np.exp(-2 * GRID))
    # The fixed point of x <- (1 - a) (I - L^) x + a x0, frequency by frequency.
    np.testing.assert_allclose(responses.pagerank(0.2)(GRID) * (1 - 0.8 * (1 - GRID)), 0.2)


def test_interpolated_between_its_points_and_level_outside_them() -> None:
    drawn = responses.interpolated([0.5, 1.0, 1.5], [1.0, 3.0, 0.0])
    np.testing.assert_allclose(drawn([0.0, 0.5, 0.75, 1.25, 1.5, 2.0]), [1, 1, 2, 1.5, 0, 0])
    again = responses.make("interpolated", {"frequencies": [0.5, 1.0, 1.5], "gains": [1, 3, 0]})
    assert again == drawn
    assert str(drawn) == "interpolated(frequencies=3 values, gains=3 values)"


@pytest.mark.parametrize(
    ("frequencies", "gains", "word"),
    [
        ([0, 1], [1], "lengths 2 and 1"),
        ([1, 1], [0, 1], "increase"),
        ([0, 3], [0, 1], "3"),
        ([0, 1], [0, np.inf], "finite"),
    ],
)
def test_points_that_are_no_response_are_refused(frequencies, gains, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        responses.interpolated(frequencies, gains)


def test_the_papers_cut_off() -> None:
    # lambda_cut = .5 on L~ with lmax 2, eta 0: frequency 1.5 of L^
    assert responses.cut_off(0.0) == 1.5
    assert responses.cut_off(0.5, lmax=1.6) == pytest.approx(0.8 + 0.4 - 0.5)


def test_bands() -> None:
    assert responses.low_pass(0.5).bands((0.0, 2.0), 0.1) == [(0.0, 0.4), (0.6, 2.0)]
    assert responses.band_pass(0.5, 0.6).bands((0.0, 2.0), 0.1) == [(0.0, 0.4), (0.7, 2.0)]
    assert responses.low_pass(0.05).bands((0.0, 2.0), 0.1) == [(0.15000000000000002, 2.0)]
    assert responses.low_pass(1.9).bands((0.0, 1.5), 0.1) == [(0.0, 1.5)]
    assert responses.heat(1.0).bands((0.0, 2.0), 0.1) == [(0.0, 2.0)]


@pytest.mark.parametrize(
    "response",
    [
        responses.high_pass(0.3),
        responses.low_pass(1.3),
        responses.band_pass(0.1, 0.2),
        responses.heat(4.0),
        responses.pagerank(0.5),
    ],
)
def test_a_name_and_parameters_make_it_again(response: responses.Response) -> None:
    again = responses.make(response.name, response.parameters)
    assert again == response
    np.testing.assert_array_equal(again(GRID), response(GRID))
    assert response.name in str(response)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: responses.high_pass(2.5), "cut=2.5 is not a frequency"),
        (lambda: responses.low_pass(-0.1), "cut=-0.1"),
        (lambda: responses.band_pass(1.0, 0.5), "low=1 must be less than high=0.5"),
        (lambda: responses.heat(-1.0), "time=-1"),
        (lambda: responses.heat(np.inf), "time=inf"),
        (lambda: responses.pagerank(0.0), "restart=0"),
        (lambda: responses.cut_off(2.0), "eta=2"),
        (lambda: responses.make("magic", {}), "'magic' is not one of band_pass, heat"),
        (lambda: responses.make("heat", {"cut": 1.0}), "'heat' does not take"),
        (lambda: responses.custom(lambda f: f * 1j)(GRID), "finite real number"),
    ],
)
def test_bad_arguments_are_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()

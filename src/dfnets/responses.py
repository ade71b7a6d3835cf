"""What is wanted of a filter: a gain for each frequency of L^ in [0, 2].

Every response is a callable on arrays of frequencies. Those made here also know where they jump, which lets a design
leave a transition band out and a certificate speak of ripple, and can be written to a file.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Function = Callable[[np.ndarray], Any]


@dataclass(frozen=True)
class Response:
    """A wanted gain h(frequency).

    Attributes:
        name: the function of this module that made it, or ``"custom"``.
        parameters: that function's arguments.
        jumps: the frequencies at which the gain jumps, in increasing order; between them it is 1 or 0 if ``ideal``.
        ideal: whether the gain is a perfect step, so that pass band and stop band mean something.
    """

    name: str
    parameters: Mapping[str, Any]
    function: Function = field(repr=False, compare=False)
    jumps: tuple[float, ...] = ()
    ideal: bool = False

    def __call__(self, frequency: Any) -> np.ndarray:
        frequency = np.asarray(frequency, dtype=np.float64)
        gain = np.broadcast_to(np.asarray(self.function(frequency)), frequency.shape)
        if np.iscomplexobj(gain) or not np.isfinite(gain).all():
            where = frequency if np.iscomplexobj(gain) else frequency[~np.isfinite(gain)]
            at = np.ravel(where)[0]
            raise ValueError(f"response {self.name!r} is not a finite real number at frequency {at:g}")
        return gain.astype(np.float64)

    def __str__(self) -> str:
        parts = (f"{key}={_short(value)}" for key, value in self.parameters.items())
        return f"{self.name}({', '.join(parts)})"

    def bands(self, interval: tuple[float, float], transition: float) -> list[tuple[float, float]]:
        """The parts of the interval that are further than ``transition`` from every jump."""
        low, high = interval
        edges = [low]
        for jump in self.jumps:
            edges += [min(max(jump - transition, low), high), max(min(jump + transition, high), low)]
        edges.append(high)
        pairs = list(zip(edges[0::2], edges[1::2], strict=True))
        return [pair for pair in pairs if pair[0] < pair[1]] or ([interval] if low == high else [])


def high_pass(cut: float) -> Response:
    """1 for frequencies from ``cut`` on, 0 below: the paper's ideal filter with cut-off frequency.

    >>> high_pass(0.5)([0.4, 0.5, 1.0])
    array([0., 1., 1.])
    """
    return Response("high_pass", {"cut": _in_range(cut, "cut")}, lambda f: f >= cut, (float(cut),), ideal=True)


def low_pass(cut: float) -> Response:
    """1 for frequencies below ``cut``, 0 from there on: 1 - high_pass."""
    return Response("low_pass", {"cut": _in_range(cut, "cut")}, lambda f: f < cut, (float(cut),), ideal=True)


def band_pass(low: float, high: float) -> Response:
    """1 for low <= frequency < high, 0 elsewhere."""
    if not _in_range(low, "low") < _in_range(high, "high"):
        raise ValueError(f"low={low:g} must be less than high={high:g}")
    jumps = (float(low), float(high))
    return Response("band_pass", {"low": low, "high": high}, lambda f: (f >= low) & (f < high), jumps, ideal=True)


def heat(time: float) -> Response:
    """exp(-time frequency): what is left of a signal after it has diffused for that time."""
    if not 0 <= time < np.inf:
        raise ValueError(f"time={time:g} must be finite and not negative")
    return Response("heat", {"time": float(time)}, lambda f: np.exp(-time * f))


def pagerank(restart: float) -> Response:
    """a / (a + (1 - a) frequency): personalised PageRank with restart probability a, a I (I - (1 - a)(I - L^))^-1.

    It is a feedback-looped filter of order one.
    """
    if not 0 < restart <= 1:
        raise ValueError(f"restart={restart:g} must be a probability above 0, at most 1")
    return Response("pagerank", {"restart": float(restart)}, lambda f: restart / (restart + (1 - restart) * f))


def interpolated(frequencies: Sequence[float], gains: Sequence[float]) -> Response:
    """Straight lines between the points (frequency, gain), level before the first and after the last.

    This is how a response that was drawn by hand is written down; unlike :func:`custom` it can be saved to a file.

    Args:
        frequencies: at least two, increasing, in [0, 2].
        gains: one finite number per frequency.

    >>> interpolated([0.5, 1.5], [1, 0])([0, 1, 2])
    array([1. , 0.5, 0. ])
    """
    at, gain = tuple(map(float, frequencies)), tuple(map(float, gains))
    if len(at) != len(gain) or len(at) < 2:
        raise ValueError(f"frequencies and gains have lengths {len(at)} and {len(gain)}: give two or more of each")
    if any(b <= a for a, b in itertools.pairwise(_in_range(value, "frequencies") for value in at)):
        raise ValueError(f"frequencies={list(at)} must increase from one to the next")
    if not np.isfinite(gain).all():
        raise ValueError(f"gains={list(gain)} must be finite numbers")
    parameters = {"frequencies": at, "gains": gain}
    return Response("interpolated", parameters, lambda f: np.interp(f, at, gain))


def custom(function: Function, name: str = "custom") -> Response:
    """Any callable on arrays of frequencies as a response; it cannot be written to a file."""
    return Response(name, {}, function)


def cut_off(eta: float, lmax: float = 2.0) -> float:
    """The paper's cut-off technique as a frequency of L^.

    The paper cuts at lambda_cut = max(L~) / 2 - eta, where L~ = L^ - (lmax / 2) I and so max(L~) = lmax / 2. As a
    frequency of L^ that is lmax / 2 + lmax / 4 - eta.

    >>> cut_off(eta=0.25)
    1.25
    """
    if not 0 <= eta <= 1:
        raise ValueError(f"eta={eta:g} must be in [0, 1]")
    return 0.75 * _in_range(lmax, "lmax") - eta


MAKERS: Mapping[str, Callable[..., Response]] = {
    maker.__name__: maker for maker in (high_pass, low_pass, band_pass, heat, pagerank, interpolated)
}


def make(name: str, parameters: Mapping[str, Any]) -> Response:
    """The response that ``name(**parameters)`` of this module gives; for files and command lines."""
    maker = MAKERS.get(name.replace("-", "_"))
    if maker is None:
        raise ValueError(f"response {name!r} is not one of {', '.join(sorted(MAKERS))}")
    try:
        return maker(**parameters)
    except TypeError as error:
        raise ValueError(f"response {name!r} does not take {dict(parameters)}: {error}") from None


def as_response(response: Response | Function) -> Response:
    if isinstance(response, Response):
        return response
    if callable(response):
        return custom(response, getattr(response, "__name__", "custom"))
    raise TypeError(f"response={response!r} is neither a Response nor a callable of the frequency")


def _short(value: Any) -> str:
    return f"{len(value)} values" if isinstance(value, tuple) else f"{value:g}"


def _in_range(value: float, name: str) -> float:
    if not 0 <= value <= 2:
        raise ValueError(f"{name}={value:g} is not a frequency of L^: it must be in [0, 2]")
    return float(value)
